"""Rules found in identifiers, false rules in noise, and how long it takes."""
