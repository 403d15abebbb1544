"""What a supervisor asks of a zygote, and the exit status of a child in which difftvm's own code failed."""

FORK = b"fork"
"""The request for a child that runs lanes."""

SCRIPT = b"script "
"""How the request for a child that runs a Python file begins. The path follows."""

MAX_BYTES = 1 << 13

OWN_FAILURE = 70
"""The exit status of a child that could not do what was requested, as EX_SOFTWARE of sysexits.h."""
