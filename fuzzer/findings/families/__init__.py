"""Families of findings: those that one fix would mend."""
