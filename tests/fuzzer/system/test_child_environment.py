"""Which environment variables children inherit."""

from __future__ import annotations

import pytest

from fuzzer.system.child_environment import USER, inherited


@pytest.mark.parametrize("name", ["PATH", "HOME", "LC_ALL", "CUDA_VISIBLE_DEVICES", "TVM_NUM_THREADS", "LD_PRELOAD"])
def test_inherited(name: str) -> None:
    assert inherited({name: "value"}) == {name: "value"}


@pytest.mark.parametrize(
    "name", ["SSH_AUTH_SOCK", "DATABASE_URL", "https_proxy", "MY_FLAG", "DIFFTVM_GITHUB_TOKEN", "CONDA_TOKEN"]
)
def test_not_inherited(name: str) -> None:
    assert inherited({name: "value"}) == {}


def test_the_user_may_name_more_but_no_secrets() -> None:
    environment = {USER: "MY_FLAG, OTHER,MY_TOKEN", "MY_FLAG": "1", "OTHER": "2", "MY_TOKEN": "3", "FOURTH": "4"}
    assert inherited(environment) == {USER: environment[USER], "MY_FLAG": "1", "OTHER": "2"}
