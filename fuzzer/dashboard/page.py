"""The dashboard as one HTML file with data, style and script. It loads nothing, and its policy allows no other
script."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

import msgspec
from markupsafe import Markup

from fuzzer.dashboard.data import DashboardData
from fuzzer.report.html_pages import environment, shown


def html(data: DashboardData) -> str:
    style, script = _file("dashboard.css"), _file("dashboard.js")
    return (
        environment()
        .get_template("dashboard.html")
        .render(
            data=data,
            style=Markup(style),
            script=Markup(script),
            json=Markup(embedded(data)),
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )


def embedded(data: DashboardData) -> str:
    """JSON with `<` escaped, so that no text in it can end the <script> element."""
    return msgspec.json.encode(shown(msgspec.to_builtins(data))).decode().replace("<", "\\u003c")


def _file(name: str) -> str:
    return (files("fuzzer") / "templates" / name).read_text()


def _hash(text: str) -> str:
    """The hash of a text in the form of Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
