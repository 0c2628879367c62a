"""From data to a learned network: the one place that wires table, counting, criterion and search together."""
