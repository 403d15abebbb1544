"""What users call from Python: checks of a model, a pass or a backend, the plugin of pytest, and strategies."""
