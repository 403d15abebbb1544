"""The templates of HTML pages. All that they show is escaped, and control characters and changes of the writing
direction are visible: a text of a finding must not look like another one."""

from __future__ import annotations

import jinja2

from fuzzer.system.terminal import printable


def environment() -> jinja2.Environment:
    loader = jinja2.PackageLoader("fuzzer", "templates")
    return jinja2.Environment(autoescape=True, loader=loader, finalize=shown)


def shown(value: object) -> object:
    """A value, or a document of JSON types, with its texts as a page may show them."""
    match value:
        case str() as text:
            return printable(text)
        case dict() as entries:
            return {shown(name): shown(entry) for name, entry in entries.items()}
        case list() | tuple() as items:
            return [shown(item) for item in items]
        case other:
            return other
