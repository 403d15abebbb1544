"""Toolchains beside the host: other releases of TVM, how they are installed, found and checked."""
