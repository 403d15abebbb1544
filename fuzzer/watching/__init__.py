"""Watching a campaign: one glance at it, told as a screen, as lines, as files for scripts, as Prometheus' metrics."""
