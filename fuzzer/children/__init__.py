"""The programs that children and workers run."""
