"""One module for each way to import into Relax. `code` of a row of `oracles.importers` names it; its function `read` is
called with what `fuzzer.lanes.relax.importing.Read` describes."""
