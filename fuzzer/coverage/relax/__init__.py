"""Which operators of Relax are drawn."""
