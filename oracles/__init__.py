"""The oracles: what counts as wrong. Each oracle is one rule; `oracles.judge` applies them all."""
