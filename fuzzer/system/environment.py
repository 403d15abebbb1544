"""The exception for something that the machine lacks."""

from __future__ import annotations


class EnvironmentMissing(Exception):
    """A program, a package or a device that difftvm needs is missing or does not start. The message names it."""
