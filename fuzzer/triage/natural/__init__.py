"""Cases that people write: among those that show a failure, one with usual dtypes, ranks, sizes and attributes."""
