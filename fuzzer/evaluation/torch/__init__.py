"""The sweep through PyTorch's samples."""
