"""`--around` and `--configurations` of `fuzz run`: what a campaign is aimed at."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from fuzzer.campaign.plan import configuration_file
from fuzzer.campaign.plan.configuration_file import Listed
from fuzzer.seeds.around import Around, import_around
from fuzzer.seeds.extract import SUFFIXES
from fuzzer.seeds.sample import NOTHING, Sample, require_one_file
from fuzzer.seeds.torch.module import MODULE, export_module
from fuzzer.system import temporary
from fuzzer.system.terminal import say
from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from generators.graph import Invalid


def require_no_other_aim(around: str | None, ops: str, cluster: str | None) -> None:
    """Raise `Invalid` where an option contradicts `--around`."""
    if around and ops != "*":
        raise Invalid("--around draws the operators of the model, so it excludes --ops")
    if around and cluster:
        raise Invalid("--cluster excludes --around: nodes do not have the pieces of the model")


def require_a_model(around: str | None, *, inputs: bool) -> None:
    """Raise `Invalid` where `--inputs` or `--sizes` is given without a model."""
    if inputs and not around:
        raise Invalid("--inputs and --sizes are for the model of --around: name one")


EXPORTED = ".pt2"
"""The suffix of the file that a module becomes."""


def model_around(
    around: str | None, campaign: Path, dialects: Collection[str] = NAMES, samples: Sequence[Sample] = (NOTHING,)
) -> Around | None:
    """Import the model of `--around`, a file, a folder or FILE.py:NAME, into the campaign's corpus, in these dialects,
    with the inputs and open sizes of each sample. Raise `Invalid` where it cannot be read in one of them."""
    if around is None:
        return None
    require_one_file(around, samples)
    module = MODULE.fullmatch(around)
    if module and not set(dialects).intersection(SUFFIXES[EXPORTED]):
        only = " or ".join(dialect_named(name).title for name in SUFFIXES[EXPORTED])
        why = f"a module gives cases of {only} only, so it excludes --dialect {','.join(dialects)}"
        raise Invalid(f"--around {around}: {why}")
    say(f"importing {around} ...")
    if module is None:
        return import_around(Path(around), campaign, dialects, samples)
    with temporary.folder() as folder:
        return import_around(export_module(Path(module["file"]), module["name"], folder), campaign)


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
