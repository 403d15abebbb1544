"""What campaigns draw of PyTorch."""
