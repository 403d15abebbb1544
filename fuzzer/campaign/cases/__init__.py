"""Which case comes next: guidance, shares of the dialects, cases around a model."""
