"""Which case and which lanes come next; the store."""
