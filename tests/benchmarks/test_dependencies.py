"""The list of dependencies is complete, and each has a licence."""

from __future__ import annotations

import dependencies
import pytest
from packaging.utils import canonicalize_name


@pytest.mark.slow
def test_each_package_that_is_needed_is_pinned_and_no_other() -> None:
    """With each extra."""
    assert dependencies.needed().keys() == {canonicalize_name(name) for name in dependencies.pinned()}
    assert set(dependencies.needed().values()) == {dependencies.ALONE, "cluster", "test"}


def test_each_package_names_its_licence() -> None:
    assert [name for name, version in dependencies.pinned().items() if not dependencies.licence_of(name, version)] == []
    assert dependencies.licence_of("torch", "0.1") == ""
    assert dependencies.licence_of("no-such-package", "1") == ""


@pytest.mark.parametrize(
    ("licence", "begins"),
    [
        ("MIT", ""),
        ("Apache-2.0 AND BSD-3-Clause", ""),
        ("MPL-2.0", "who distributes changed files"),
        ("GNU Library or Lesser General Public License (LGPL)", "who distributes it must publish changes"),
        ("LGPL-3.0-or-later", "who distributes it must publish changes"),
        ("GPL-3.0", "who distributes a program with it"),
        ("GNU Affero General Public License v3 (AGPLv3)", "who distributes a program with it"),
        ("GNU General Public License", "who distributes a program with it"),
        ("Other/Proprietary License", "it may be distributed only"),
    ],
)
def test_what_licences_ask(licence: str, begins: str) -> None:
    condition = dependencies.condition_of(licence)
    assert condition.startswith(begins)
    assert bool(condition) == bool(begins)


def test_nothing_forbids_to_distribute_difftvm() -> None:
    conditions = {dependencies.condition_of(dependencies.licence_of(*each)) for each in dependencies.pinned().items()}
    assert not any(condition.startswith(("who distributes a program", "it may be")) for condition in conditions)
