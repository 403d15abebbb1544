"""Other releases of TVM beside the host's: installed, remembered, checked."""
