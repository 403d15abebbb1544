"""The page: data, style and script in one file that loads nothing, and may run no script but its own."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

import jinja2
import msgspec
from markupsafe import Markup

from fuzzer.dashboard.data import Data


def html(data: Data) -> str:
    environment = jinja2.Environment(autoescape=True, loader=jinja2.PackageLoader("fuzzer", "templates"))
    style, script = _file("dashboard.css"), _file("dashboard.js")
    return environment.get_template("dashboard.html").render(
        data=data,
        style=Markup(style),
        script=Markup(script),
        json=Markup(embedded(data)),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def embedded(data: Data) -> str:
    """JSON that cannot end the element that it stands in, whatever a message says: `<` is written otherwise."""
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")


def _file(name: str) -> str:
    return (files("fuzzer") / "templates" / name).read_text()


def _hash(text: str) -> str:
    """As Content-Security-Policy takes it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
