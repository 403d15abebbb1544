"""The coverage of cases of PyTorch."""
