"""Snapshots of a campaign, shown on a screen, as lines, in files for scripts, and as Prometheus metrics."""
