"""What the table of docs/dialects.md says of the bugs that others reported follows from the runs that it quotes."""

from __future__ import annotations

from upstream_forms import upstream
from upstream_listed import NOT_RUN, UNFIXED, cells, rows, table

ONE = "| [{0}](https://github.com/apache/tvm/issues/{0}) | {1} | {2} | {3} | {4} | 8 shown | - |"


def test_the_newest_release_shows_no_bug_that_is_fixed() -> None:
    live = [row for row in rows() if "shown" in row.in_newest]
    assert [row for row in live if row.fixed != UNFIXED] == []
    assert [row.number for row in rows() if row.fixed == UNFIXED and row not in live] == ["17866"], "the page says why"


def test_each_bug_of_which_cases_are_drawn_has_run() -> None:
    assert all(int(row.drawn) > 0 for row in rows() if not row.drawn.startswith("none: "))


def test_what_runs_have_shown_stays_and_a_new_bug_has_hyphens() -> None:
    first, second = (bug for bug in upstream().bug[:2])
    made = cells(table(ONE.format(first.number, "another title", "2020-01", "0.1", 139)))
    assert (made[0].title, made[0].reported, made[0].drawn) == (first.title, first.reported, "139")
    assert made[0].in_newest == "8 shown"
    assert (made[1].number, made[1].drawn, made[1].in_newest) == (str(second.number), NOT_RUN, NOT_RUN)
    assert len(made) == len(upstream().bug)
