"""Tables where they already are: the rows of a query, counted by the database where they repeat."""
