"""The gallery: small tables that hide something, and the story of each."""
