"""The families of PyTorch."""
