"""Where cases come from: what was brought into a campaign's corpus is run as it is, once; the rest is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.cases.cases import LARGE_EVERY, RUN, case_source, random_cases
from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.plan.test_numbers import ALL, Share
from fuzzer.seeds import corpus
from generators import case_file
from generators.builder import Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case
from generators.onnx.rows import OPS as ROWS
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.random_graph import generate


def brought(folder: Path, *words: str) -> None:
    for word in words:
        corpus.add(folder, f"net-{word}", case_of({"x0": "float32[2]"}, [("v0", word, "x0")], "v0"))


def words_of(cases: Iterable[Case | None], folder: Path) -> list[str]:
    """The last words of the names of those cases that are the corpus' own; of others, nothing."""
    names = {case_file.digest(case): name.removeprefix("net-") for name, case in corpus.cases(folder).items()}
    return [names.get(case_file.digest(case), "") for case in cases if case]


def run(folder: Path, tests: Sequence[int], share: Share = ALL) -> list[str]:
    """What a run of a campaign gives those tests."""
    draw = random_cases(Settings(folder, 1, share=share), 1)
    return words_of(map(draw, tests), folder)


def test_what_is_brought_while_a_campaign_is_on_its_way_is_run_by_its_next_run(tmp_path: Path) -> None:
    brought(tmp_path, "relu", "neg")
    assert run(tmp_path, range(5)) == ["neg", "relu", "", "", ""]
    brought(tmp_path, "abs")
    assert run(tmp_path, range(5, 8)) == ["abs", "", ""]
    assert run(tmp_path, range(8, 10)) == ["", ""]


def test_a_case_that_cannot_be_read_is_left_out_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    brought(tmp_path, "relu", "neg")
    bad = tmp_path / corpus.FOLDER / "net-neg" / case_file.JSON_NAME
    bad.write_text("garbage")
    source = case_source(Settings(tmp_path, 1), 1)
    assert [case.graph.nodes[0].op for case in source.corpus] == ["relu"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"left out: {bad}: ")


def test_a_test_that_is_repeated_gets_its_case_again(tmp_path: Path) -> None:
    """The campaign was killed in the middle of tests 1 and 2."""
    brought(tmp_path, "abs", "exp", "neg", "relu")
    assert run(tmp_path, range(3)) == ["abs", "exp", "neg"]
    assert run(tmp_path, (1, 2, 3, 4)) == ["exp", "neg", "relu", ""]


def test_guided_campaigns_run_them_too(tmp_path: Path) -> None:
    settings = Settings(tmp_path, 1, guided=True)
    for test, word in ((40, "abs"), (80, "neg")):
        brought(tmp_path, word)
        guide = Guidance(settings, 1)
        assert words_of((guide.case(test), guide.case(test + 1)), tmp_path) == [word, ""]


def test_shares_run_each_of_them_once_together(tmp_path: Path) -> None:
    words = ["abs", "exp", "neg", "relu", "sigmoid", "tanh"]
    done = []
    for part in range(4):
        folder = tmp_path / f"{part}"
        brought(folder, *words)
        done += run(folder, range(part, 40, 4), Share(part, 4))
    assert sorted(word for word in done if word) == words


def test_two_workers_get_no_case_twice(tmp_path: Path) -> None:
    brought(tmp_path, "abs", "exp", "neg", "relu", "sigmoid", "tanh")
    draw = random_cases(Settings(tmp_path, 1), 1)
    with ThreadPoolExecutor(4) as pool:
        assert sorted(words_of(pool.map(draw, range(6)), tmp_path)) == ["abs", "exp", "neg", "relu", "sigmoid", "tanh"]
    assert len((tmp_path / corpus.FOLDER / RUN).read_text().splitlines()) == 6


@pytest.mark.parametrize("torn", ["0 net-a", "0", "x", "1 net-abs extra\n", "\n"])
def test_what_was_torn_costs_a_case_nothing(torn: str, tmp_path: Path) -> None:
    brought(tmp_path, "abs")
    (tmp_path / corpus.FOLDER / RUN).write_text(torn)
    assert run(tmp_path, (5, 6)) == ["abs", ""]


def test_who_names_operators_gets_none_of_them(tmp_path: Path) -> None:
    brought(tmp_path, "abs")
    named = random_cases(Settings(tmp_path, 1, ops={"torch": (TABLE["relu"],)}), 1)
    assert words_of((named(0), named(1)), tmp_path) == ["", ""]
    assert run(tmp_path, (0, 1)) == ["abs", ""]


def test_without_a_corpus_nothing_is_written_and_the_seed_decides(tmp_path: Path) -> None:
    digests = []
    for _ in range(2):
        draw = random_cases(Settings(tmp_path, 1), 1)
        digests.append([case_file.digest(case) for case in map(draw, range(8)) if case])
    assert digests[0] == digests[1]
    assert not list(tmp_path.iterdir())


# --- random cases


def test_a_random_case_depends_on_seed_and_number_alone(tmp_path: Path) -> None:
    one, other = (random_cases(Settings(tmp_path, 1), seed) for seed in (4, 5))
    digests = [case_file.digest(one(index)) for index in range(6)]  # type: ignore[arg-type]
    assert digests == [case_file.digest(one(index)) for index in reversed(range(6))][::-1]  # type: ignore[arg-type]
    assert len({*digests, *(case_file.digest(other(index)) for index in range(6))}) == 12  # type: ignore[arg-type]
    made = one(3)
    assert made is not None
    assert made.origin == "seed 4 test 3"


@pytest.mark.slow
def test_random_cases_keep_their_sizes_open(tmp_path: Path) -> None:
    """Each runs at one of its sizes, and not always at the largest."""
    drawn = [generate(NumpySource(2, index), Limits(), OPS) for index in range(60)]
    symbolic = [index for index, case in enumerate(drawn) if case.graph.symbols]
    assert symbolic
    case_of = random_cases(Settings(tmp_path, 1), 2)
    cases = [case for index in range(60) if (case := case_of(index))]
    assert any(case.graph.symbols for case in cases)
    for case in cases:
        check(case)
    sizes = [max(case.sizes.values()) for index in range(400) if (case := case_of(index)) and case.sizes]
    assert 1 in sizes
    assert len(set(sizes)) > 2


def test_random_cases_of_some_operators(tmp_path: Path) -> None:
    chosen = (TABLE["relu"], TABLE["neg"])
    case_of = random_cases(Settings(tmp_path, 1, ops={"torch": chosen}, limits=Limits(max_nodes=3)), 0)
    names = {name for index in range(20) if (case := case_of(index)) for name in case.graph.ops}
    assert names == {"relu", "neg"}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["torch", "onnx"])
def test_one_test_of_many_draws_large_tensors(tmp_path: Path, dialect: str) -> None:
    source, large = case_source(Settings(tmp_path, 1, ops={"torch": OPS, "onnx": ROWS}), 1), 0
    for number in range(16 * LARGE_EVERY):
        case = source.draw(NumpySource(3, number), number, dialect=dialect).case()
        large += any(each.value.type.numel > 100_000 for each in case.bound.inputs)
    assert 0 < large < 20


def test_each_dialect_has_its_own_part_of_the_corpus(tmp_path: Path) -> None:
    """A campaign in one dialect leaves cases of the other out, and one with operators of the user leaves out all."""
    brought(tmp_path, "relu")
    corpus.add(tmp_path, "net-Relu", case_of({"x0": "float32[2]"}, [("v0", "Relu-14", "x0")], "v0", opset=17))
    relus = tuple(row for row in ROWS if row.name.startswith("Relu-"))
    for ops, model_ops, expected in (
        (OPS, ROWS, ["Relu", "relu"]),
        ((), ROWS, ["Relu"]),
        (OPS, (), ["relu"]),
        ((), relus, []),
        ((TABLE["relu"],), (), []),
    ):
        (tmp_path / corpus.FOLDER / RUN).unlink(missing_ok=True)
        draw = random_cases(Settings(tmp_path, 1, ops={"torch": ops, "onnx": model_ops}), 1)
        assert [word for word in words_of(map(draw, range(4)), tmp_path) if word] == expected
