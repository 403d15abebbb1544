"""The server of these tests speaks GitHub's REST interface: each answer is held against the models that githubkit makes
from GitHub's published OpenAPI description, version 2022-11-28."""

from __future__ import annotations

import time
from typing import Any

import description as described
import pytest
from desk import REPO, Place
from github_server import TOKEN, Answer, Fault, GitHubServer
from pydantic import BaseModel, TypeAdapter

ISSUES, ISSUE, COMMENTS = "/repos/O/R/issues", "/repos/O/R/issues/N", "/repos/O/R/issues/N/comments"

MODELS: dict[tuple[str, str, int], Any] = {
    ("GET", ISSUES, 200): list[described.Issue],
    ("POST", ISSUES, 201): described.Issue,
    ("GET", ISSUE, 200): described.Issue,
    ("GET", COMMENTS, 200): list[described.IssueComment],
    ("POST", COMMENTS, 201): described.IssueComment,
    ("GET", "/search/issues", 200): described.SearchResult,
    ("POST", ISSUES, 403): described.BasicError,
    ("POST", ISSUES, 410): described.BasicError,
    ("POST", ISSUES, 422): described.ValidationError,
    ("GET", ISSUE, 404): described.BasicError,
}
"""The schema of each answer. GitHub's API description has none for 429 and 5xx; only its prose describes them."""


def fields(model: Any) -> set[str]:
    if hasattr(model, "__args__"):
        return fields(model.__args__[0])
    assert issubclass(model, BaseModel)
    return {info.alias or name for name, info in model.model_fields.items()}


def judged(answer: Answer) -> None:
    """The answer is one of the model's, and has no field that the model does not know."""
    model = MODELS[answer.method, answer.route, answer.status]
    TypeAdapter(model).validate_python(answer.body)
    for item in answer.body if isinstance(answer.body, list) else [answer.body]:
        assert set(item) <= fields(model)


def test_its_answers_are_those_of_the_description(place: Place, server: GitHubServer) -> None:
    tracker = place.tracker()
    assert server.issues(REPO) == []
    tracker.create("a title", "a body")
    server.label(REPO, 1, "needs-triage")
    server.index()
    tracker.search("title", "title")
    tracker.changed_since(0.0)
    tracker.comment(1, "a comment")
    tracker.find_comment(1, "nothing", 0.0)
    tracker.status(1, "")
    tracker.status(2, "")
    for fault in (Fault.SECONDARY_LIMIT, Fault.GONE, Fault.INVALID, Fault.PRIMARY_LIMIT):
        server.faults["POST"] = [fault]
        tracker.create("another", "body")
    answered = {(a.method, a.route, a.status) for a in server.answers}
    assert answered == set(MODELS)
    for answer in server.answers:
        judged(answer)


def test_a_wrong_answer_would_be_detected() -> None:
    with pytest.raises(ValueError, match="state"):
        judged(Answer("GET", ISSUE, 200, {"number": "x"}))


def test_what_is_sent_is_what_the_description_takes(place: Place, server: GitHubServer) -> None:
    tracker = place.tracker()
    tracker.create("a title", "a body")
    tracker.comment(1, "a comment")
    issue, comment = server.sent
    assert set(issue) <= fields(described.NewIssue)
    described.NewIssue.model_validate(issue)
    assert set(comment) <= fields(described.NewComment)
    described.NewComment.model_validate(comment)


def test_writing_needs_the_token(place: Place, server: GitHubServer) -> None:
    place.tracker("wrong").create("a", "b")
    place.tracker(None).create("a", "b")
    assert [a.status for a in server.answers] == [401, 401]
    assert server.issues(REPO) == []
    assert TOKEN not in str(server.answers)


def test_the_search_lags_and_the_list_does_not(place: Place, server: GitHubServer) -> None:
    tracker = place.tracker()
    tracker.create("a title", "a body")
    assert tracker.search("title", "title") == []
    assert [i.number for i in tracker.changed_since(time.time() - 60)] == [1]
    server.index()
    assert [i.number for i in tracker.search("title", "title")] == [1]
