"""The parts of GitHub's answers that difftvm reads. Each has a type and bounds; what is not named here is not read.

The bounds are wider than GitHub's own: a title has 256 characters there, a text 65,536, and a label 50.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Meta, Struct
from requests.utils import parse_header_links

from fuzzer.filing.bounded_http import Answer, BadAnswer, Server
from fuzzer.filing.url_form import Url

PAGE = 100
"""The number of issues or comments that are asked for at once."""

Number = Annotated[int, Meta(ge=1, lt=1 << 53)]
Title = Annotated[str, Meta(max_length=1024)]
Text = Annotated[str, Meta(max_length=1 << 18)]
LabelName = Annotated[str, Meta(max_length=100)]
Reason = Annotated[str, Meta(pattern=r"\A[a-z_]{0,40}\Z")]

T = TypeVar("T")


class Created(Struct, frozen=True):
    """An issue that was made."""

    number: Number
    html_url: Url


class Comment(Struct, frozen=True):
    html_url: Url
    body: Text | None = None


class PullRequest(Struct, frozen=True):
    """Its presence says that an issue is a pull request."""


class ListedIssue(Struct, frozen=True):
    number: Number
    title: Title
    html_url: Url
    state: Literal["open", "closed"]
    body: Text | None = None
    pull_request: PullRequest | None = None


class Found(Struct, frozen=True):
    """What a search found."""

    incomplete_results: bool
    items: Annotated[list[ListedIssue], Meta(max_length=PAGE)]


class Label(Struct, frozen=True):
    name: LabelName | None = None


class IssueState(Struct, frozen=True):
    """GitHub's description of its interface allows a label to be a string."""

    number: Number
    state: Literal["open", "closed"]
    labels: Annotated[list[Label | LabelName], Meta(max_length=PAGE)]
    state_reason: Reason | None = None

    @property
    def label_names(self) -> tuple[str, ...]:
        names = (label.name if isinstance(label, Label) else label for label in self.labels)
        return tuple(sorted(name for name in names if name))


Issues = Annotated[list[ListedIssue], Meta(max_length=PAGE)]
Comments = Annotated[list[Comment], Meta(max_length=PAGE)]


class _Error(Struct, frozen=True):
    message: str


def decoded(answer: Answer, form: type[T]) -> T:
    """Raise `BadAnswer` if the body does not have this form."""
    try:
        return msgspec.json.decode(answer.body, type=form)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"its answer is not as GitHub describes it: {error}") from None


def message(answer: Answer) -> str:
    """What an answer says about an error."""
    try:
        return decoded(answer, _Error).message
    except BadAnswer:
        return "no explanation"


def next_page(answer: Answer, server: Server) -> dict[str, str] | None:
    """The part of a query that asks for the next page of a list; None after the last. GitHub gives the address of the
    next page. Only its query is used, so that a request can go nowhere else. Raise `BadAnswer`."""
    links = parse_header_links(answer.headers.get("Link", ""))
    following = next((link["url"] for link in links if link.get("rel") == "next"), None)
    if following is None:
        return None
    try:
        if not server.is_at(following):
            raise BadAnswer("the next page of its list is at another server")
        found = parse_qs(urlsplit(following).query, max_num_fields=20)
    except ValueError as error:
        raise BadAnswer(f"the address of the next page is none: {error}") from None
    query = {name: values[0] for name, values in found.items() if name in ("page", "after")}
    if not query or any(len(value) > 1000 for value in query.values()):
        raise BadAnswer("the address of the next page of its list names no page")
    return query


def count(answer: Answer, header: str) -> float | None:
    """A header that is a number of seconds; None if it is absent or anything else."""
    text = answer.headers.get(header, "")
    return float(text) if re.fullmatch(r"[0-9]{1,12}", text) else None


def etag(answer: Answer) -> str:
    """The name of this version of an answer; "" if there is none that could be sent back."""
    text = answer.headers.get("ETag", "")
    return text if is_etag(text) else ""


def is_etag(text: str) -> bool:
    return re.fullmatch(r'(W/)?"[!#-~]{1,200}"', text) is not None
