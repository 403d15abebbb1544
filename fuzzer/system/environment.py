"""What the machine lacks."""

from __future__ import annotations


class EnvironmentMissing(Exception):
    """The toolchain does not start; the message says what its interpreter printed."""
