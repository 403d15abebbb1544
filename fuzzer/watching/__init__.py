"""Watching a campaign: one snapshot at it, told as a screen, as lines, as files for scripts, as Prometheus' metrics."""
