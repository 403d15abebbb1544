"""`--around` and `--configurations` of `fuzz run`: what a campaign is aimed at."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from pathlib import Path

from fuzzer.campaign import configuration_file
from fuzzer.campaign.configuration_file import Listed
from fuzzer.seeds.around import Around, import_around
from fuzzer.seeds.module import MODULE, export_module
from fuzzer.system.terminal import say
from generators.graph import Invalid
from generators.table import DIALECTS


def require_no_other_aim(around: str | None, ops: str, cluster: str | None) -> None:
    """Raise `Invalid` where an option contradicts `--around`."""
    if around and ops != "*":
        raise Invalid("--around draws the operators of the model, so it excludes --ops")
    if around and cluster:
        raise Invalid("--cluster excludes --around: nodes do not have the pieces of the model")


def model_around(around: str | None, campaign: Path, dialects: Collection[str] = DIALECTS) -> Around | None:
    """Import the model of `--around`, a file, a folder or FILE.py:NAME, into the campaign's corpus, in these dialects.
    Raise `Invalid` where it cannot be read in one of them."""
    if around is None:
        return None
    module = MODULE.fullmatch(around)
    if module and "torch" not in dialects:
        raise Invalid(f"--around {around}: a module gives cases of PyTorch only, so it excludes --dialect onnx")
    say(f"importing {around} ...")
    if module is None:
        return import_around(Path(around), campaign, dialects)
    with tempfile.TemporaryDirectory(prefix="difftvm-module-") as folder:
        return import_around(export_module(Path(module["file"]), module["name"], Path(folder)), campaign)


def listed_configurations(
    configurations: Path | None, lanes: str, toolchain: str, host: str, cluster: str | None
) -> Listed | None:
    """Read the file of `--configurations`. Raise `Invalid` where it is wrong, or another option contradicts it."""
    if configurations is None:
        return None
    if lanes != "*":
        raise Invalid("--configurations says which lanes run, so it excludes --lanes")
    if toolchain != host or cluster:
        raise Invalid("--configurations runs in the host's toolchain, so it excludes --toolchain and --cluster")
    return configuration_file.read(configurations)
