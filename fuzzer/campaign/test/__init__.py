"""One test: its tiers, its lanes, what the oracles say."""
