"""After the schedule: links that have become idle are taken out, and scores are improved by moves."""
