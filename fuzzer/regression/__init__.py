"""`fuzz corpus keep` and `run`: few cases that show much, and what has changed since they were recorded."""
