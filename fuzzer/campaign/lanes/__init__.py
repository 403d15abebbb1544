"""Which lanes compile a case, and what lanes have cost and shown."""
