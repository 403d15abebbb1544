"""Files of models as seed cases of a campaign."""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from fuzzer.isolate.validity import Validity
from fuzzer.seeds import corpus
from fuzzer.seeds.extract import SUFFIXES, Extracted, extract, read
from fuzzer.seeds.sample import NOTHING, Sample
from fuzzer.system.terminal import number_of, one_sentence
from fuzzer.system.untrusted_files import NotListed, everything_in
from generators import case_file
from generators.dialect import dialect_named
from generators.dialect_names import DEFAULT, NAMES
from generators.graph import Invalid

SIZE = 20
NAME_LENGTH = 40
MOST_REASONS = 100
"""How many reasons for what is left out are printed for a file. `--json` has all."""

LIST_SECONDS = 60.0
"""In how many seconds the files of a folder must be found."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A file, imported in one dialect and at one size. `names` are its cases in the corpus; the corpus did not have
    those in `written` before."""

    path: Path
    extracted: Extracted
    names: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def document(self) -> dict[str, object]:
        """The result for `--json`."""
        found = self.extracted
        return {
            "file": found.file,
            "dialect": found.resolved.dialect,
            "nodes": found.resolved.steps,
            "mapped": found.resolved.mapped,
            "cases": len(found.cases),
            "written": self.written,
            "repeated": found.repeated,
            "lacking": [[title, why, count] for (title, why), count in found.resolved.lacking.most_common()],
            "dropped": dict(found.dropped.most_common()),
        }

    @property
    def why_empty(self) -> str:
        """Why the file gave no case; "" where it gave some."""
        found = self.extracted
        if found.cases:
            return ""
        return found.resolved.why_no_nodes or f"no piece of it can be run: {'; '.join(found.dropped)}"

    def lines(self) -> Iterator[str]:
        """The result for people."""
        found = self.extracted
        resolved = found.resolved
        share = 100 * resolved.mapped / resolved.steps if resolved.steps else 0.0
        as_dialect = "" if resolved.dialect == DEFAULT else f" as {dialect_named(resolved.dialect).title}"
        yield (
            f"{found.file}{as_dialect}: {resolved.mapped} of {resolved.steps} nodes have a row ({share:.1f} %); "
            f"{number_of(len(found.cases), 'case')}, {len(self.written)} of them new; "
            f"{number_of(found.repeated, 'piece')} like another"
        )
        if found.open_sizes:
            yield f"  {found.open_sizes}"
        lacking = resolved.lacking.most_common()
        reasons = [f"no row: {title} ({number_of(count, 'time')}): {why}" for (title, why), count in lacking]
        reasons += [f"dropped: {count}: {why}" for why, count in found.dropped.most_common()]
        for reason in reasons[:MOST_REASONS]:
            yield f"  {one_sentence(reason)}"
        if len(reasons) > MOST_REASONS:
            yield f"  and {len(reasons) - MOST_REASONS} more"


def files_of(model: Path) -> list[Path]:
    """The files to import: the model itself, or all files below it that can be read. A link that leads out of the
    folder is left out, because the folder may come from elsewhere. Raise `Invalid` where a folder has none, or too much
    to look for them."""
    if not model.is_dir():
        return [model]
    try:
        found = sorted(_files_in(model, model.resolve()))
    except NotListed as error:
        raise Invalid(f"{error}: name a folder with fewer") from None
    except OSError as error:
        raise Invalid(f"{model}: {error.strerror}") from None
    if not found:
        raise Invalid(f"{model}: it contains no {' or '.join(SUFFIXES)}")
    return found


def _files_in(folder: Path, resolved: Path) -> Iterator[Path]:
    for way, name, status in everything_in(folder, LIST_SECONDS, mounts=True):
        if Path(name).suffix in SUFFIXES:
            path = folder.joinpath(*way, name)
            if stat.S_ISREG(status.st_mode) or (stat.S_ISLNK(status.st_mode) and _leads_into(resolved, path)):
                yield path


def _leads_into(folder: Path, link: Path) -> bool:
    try:
        return link.is_file() and link.resolve().is_relative_to(folder)
    except OSError:  # it cannot be followed
        return False


def run(
    files: Sequence[Path],
    into: Path,
    *sizes: int,
    dialects: Collection[str] = NAMES,
    samples: Sequence[Sample] = (NOTHING,),
) -> tuple[list[Imported], list[str]]:
    """Import files into a campaign, each in each dialect and at each size, with the inputs and open
    sizes of each sample. Return the imported models, and one line for
    each file that cannot be read. The cases of a model are written after all of them of one size were made."""
    done, refused = [], []
    existing = {name.rpartition("-")[2]: name for name in corpus.names(into)}
    with ExitStack() as opened:
        validity: Validity | None = None  # PyTorch is started for the first file that can be read
        for path, sample in product(files, samples):
            try:
                models = read(path, dialects, sample)
            except Invalid as why:
                refused.append(str(why))
                continue
            validity = validity or opened.enter_context(Validity())
            for model, size in product(models, sizes):
                found = extract(model, size, validity)
                cases = {case_file.digest(case)[:12]: case for case in found.cases}
                new = {hex: f"{_slug(path.stem)}-{hex}" for hex in cases if hex not in existing}
                existing.update(new)
                for hex, name in new.items():
                    corpus.add(into, name, cases[hex])
                done.append(Imported(path, found, tuple(existing[hex] for hex in cases), tuple(new.values())))
    return done, refused


def _slug(stem: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:NAME_LENGTH] or "model"
