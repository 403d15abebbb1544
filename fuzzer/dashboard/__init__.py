"""A campaign as one self-contained page: findings, curves, support, costs. Opens from a file, needs no network."""
