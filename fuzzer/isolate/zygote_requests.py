"""What a supervisor asks of a zygote, and the exit status of a child in which difftvm's own code failed."""

FORK = b"fork "
"""How the request for a child that runs lanes begins. The path of its own folder follows."""

SCRIPT = b"script "
"""How the request for a child that runs a Python file begins. The path of the file follows, whose folder is its own."""

MAX_BYTES = 1 << 13

OWN_FAILURE = 70
"""The exit status of a child that could not do what was requested, as EX_SOFTWARE of sysexits.h."""
