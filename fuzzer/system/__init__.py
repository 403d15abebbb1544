"""Files that are written whole or not at all, the terminal, processes, GPUs, exit codes."""
