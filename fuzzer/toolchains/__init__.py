"""Other releases of TVM, and bare environments: how they are installed, found and checked."""
