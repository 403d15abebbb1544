"""GitHub's REST interface as its OpenAPI description has it (version 2022-11-28), as models that githubkit made.

githubkit hooks into how Python finds modules and distributions, so that others see each distribution three times: the
hooks go as soon as the models are loaded.
"""

from __future__ import annotations

import sys

_before = list(sys.meta_path)
try:
    import githubkit_schemas.v2022_11_28.models as _models

    BasicError = _models.BasicError
    Issue = _models.Issue
    IssueComment = _models.IssueComment
    NewComment = _models.ReposOwnerRepoIssuesIssueNumberCommentsPostBody
    NewIssue = _models.ReposOwnerRepoIssuesPostBody
    SearchResult = _models.SearchIssuesGetResponse200
    ValidationError = _models.ValidationError
finally:
    sys.meta_path[:] = _before
