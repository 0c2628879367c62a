"""The theory of pseudo-independence (section 2 of the paper)."""
