"""What is at the top of the repository: a file that was left there by chance is not kept."""

from __future__ import annotations

import os
import subprocess

import pytest
from source_file import ROOT

FOLDERS = {".ci", "benchmarks", "corpus", "crashes", "difftvm", "docs", "fuzzer", "generators", "oracles", "tests"}
PAGES = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"}
INSTALLATION = {".gitignore", "Makefile", "constraints.txt", "hashes-torch.txt", "hashes.txt", "pyproject.toml"}


@pytest.mark.programs("git")
def test_what_is_at_the_top_is_known() -> None:
    words = ["git", "-C", str(ROOT), "ls-files"]
    tracked = subprocess.run(words, env=os.environ, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {name.partition("/")[0] for name in tracked} == FOLDERS | PAGES | INSTALLATION
