"""What users call from Python: to register and to fuzz a pass of their own."""
