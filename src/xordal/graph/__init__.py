"""Chordal graphs on int bitmasks. No data here."""
