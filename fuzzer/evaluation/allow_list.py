"""What a sweep says of the list of samples that TVM's own tests run."""

from __future__ import annotations

import msgspec


class AllowList(msgspec.Struct):
    """Prefixes of names select tests. An operator is a row of the sweep without its version.

    where     the test of TVM that has the list
    selected  the tests that the list selects
    failing   those of them that are not right here
    lacking   prefixes for the list: each selects tests that are all right, and that the list does not select
    ready     the operators of these tests
    others    the tests that are right and that no such prefix selects, because it would select others too
    outside   all tests that are right and that the list does not select
    """

    where: str
    selected: list[str]
    failing: list[str]
    lacking: list[str]
    ready: list[str]
    others: list[str]
    outside: list[str] = []
