"""Where graph, entropy and decision meet: the multi-link lookahead search."""
