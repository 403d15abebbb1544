"""Campaigns on many machines."""
