"""A saved finding: read, replay, merge."""
