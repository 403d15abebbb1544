"""All hostile files that are made by hand."""

from __future__ import annotations

from hostile.contents import other_contents, something_else_in_its_place
from hostile.fields import fields, lines
from hostile.folders import folders
from hostile.models import models
from hostile.row import Row
from hostile.stores import indices, tensors


def rows() -> list[Row]:
    found = [
        *something_else_in_its_place(),
        *other_contents(),
        *fields(),
        *lines(),
        *tensors(),
        *indices(),
        *folders(),
        *models(),
    ]
    names = [row.name for row in found]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return found
