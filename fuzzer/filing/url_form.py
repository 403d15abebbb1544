"""The form of the address of an issue or a comment: nothing else becomes a link."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

_URL = r"https?://[!-~]{1,2000}"

Url = Annotated[str, Meta(pattern=rf"\A{_URL}\Z")]
UrlOrNone = Annotated[str, Meta(pattern=rf"\A({_URL})?\Z")]
"""It is "" while there is none."""
