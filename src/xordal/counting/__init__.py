"""Counts and entropies of variable sets: the only place that scales with rows."""
