"""Learned networks in other shapes: one file per format."""
