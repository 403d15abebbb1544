"""Zygotes, children, workers of GPUs, their limits and their protocol."""
