"""The folder of a campaign on disk: index, rows, lock, counters, free space."""
