"""How files become cases of PyTorch."""
