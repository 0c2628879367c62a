"""From a gain to a decision."""
