"""Confirm, reduce (`reducers`), blame (`blame`), name."""
