"""Verbs that get all their options as one record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Record = TypeVar("Record")


def with_options(record: type[Record]) -> Callable[[Callable[[Record], None]], Callable[..., None]]:
    """Let typer call a function of one record, a dataclass. The fields of the record are the options of the verb, in
    their order: typer reads their annotations and defaults."""
    signature = inspect.signature(record, eval_str=True)

    def decorate(verb: Callable[[Record], None]) -> Callable[..., None]:
        @wraps(verb)
        def command(*values: Any, **options: Any) -> None:
            verb(record(*values, **options))

        command.__signature__ = signature  # type: ignore[attr-defined]
        command.__annotations__ = {name: option.annotation for name, option in signature.parameters.items()}
        return command

    return decorate
