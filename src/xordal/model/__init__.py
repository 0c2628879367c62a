"""A learned graph and counts make a distribution."""
