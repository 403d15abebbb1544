"""Which environment variables other processes inherit."""

from __future__ import annotations

import site
from pathlib import Path

import pytest

from fuzzer.system.child_environment import SOMEBODY, USER, anonymous, inherited
from fuzzer.system.telemetry import OFF

OF_THE_USER = {"HOME": "/home/jo", "USER": "jo", "LOGNAME": "jo", "PWD": "/home/jo/x", "XDG_CACHE_HOME": "/home/jo/c"}


@pytest.fixture(autouse=True)
def _no_packages_in_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(site, "getuserbase", lambda: str(tmp_path))


@pytest.mark.parametrize("name", ["PATH", "HOME", "LC_ALL", "CUDA_VISIBLE_DEVICES", "TVM_NUM_THREADS", "LD_PRELOAD"])
def test_inherited(name: str) -> None:
    assert inherited({name: "value"}) == {name: "value", **OFF}


@pytest.mark.parametrize(
    "name", ["SSH_AUTH_SOCK", "DATABASE_URL", "https_proxy", "MY_FLAG", "DIFFTVM_GITHUB_TOKEN", "CONDA_TOKEN"]
)
def test_not_inherited(name: str) -> None:
    assert inherited({name: "value"}) == OFF


def test_the_user_cannot_switch_telemetry_on() -> None:
    assert inherited({"ORT_DISABLE_TELEMETRY": "0"}) == OFF


def test_a_password_in_a_url_is_not_inherited() -> None:
    environment = {"TORCH_MIRROR": "https://me:canary@x", "TORCH_HOME": "https://x"}
    assert inherited(environment) == {"TORCH_HOME": "https://x", **OFF}


def test_the_user_may_name_more_but_no_secrets() -> None:
    environment = {USER: "MY_FLAG, OTHER,MY_TOKEN", "MY_FLAG": "1", "OTHER": "2", "MY_TOKEN": "3", "FOURTH": "4"}
    assert inherited(environment) == {USER: environment[USER], "MY_FLAG": "1", "OTHER": "2", **OFF}


def test_a_lane_does_not_learn_who_the_user_is() -> None:
    somebody = {"HOME": "/scratch/home", "USER": SOMEBODY, "LOGNAME": SOMEBODY}
    assert anonymous(Path("/scratch/home"), {**OF_THE_USER, "LANG": "C"}) == {**somebody, "LANG": "C", **OFF}


def test_the_user_may_give_the_home_folder_to_lanes() -> None:
    chosen = {USER: "HOME XDG_CACHE_HOME"}
    kept = {"HOME": "/home/jo", "XDG_CACHE_HOME": "/home/jo/c", "USER": SOMEBODY, "LOGNAME": SOMEBODY}
    assert anonymous(Path("/scratch/home"), {**OF_THE_USER, **chosen}) == {**chosen, **kept, **OFF}


def test_lists_of_folders_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert anonymous(environment={"PATH": "bin::/usr/bin"})["PATH"] == f"{tmp_path}/bin:/usr/bin"


def test_packages_in_the_home_folder_are_found(tmp_path: Path) -> None:
    assert "PYTHONUSERBASE" not in anonymous(environment={})
    (tmp_path / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    assert anonymous(environment={})["PYTHONUSERBASE"] == str(tmp_path)
    assert anonymous(environment={"PYTHONUSERBASE": "/mine"})["PYTHONUSERBASE"] == "/mine"
