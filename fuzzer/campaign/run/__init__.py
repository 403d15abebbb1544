"""The loop over tests and triage, its start, its signals; `fuzz merge`."""
