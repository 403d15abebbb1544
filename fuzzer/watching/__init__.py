"""Watching a campaign: snapshots of it, shown on a screen, as lines, in files for scripts, and as Prometheus
metrics."""
