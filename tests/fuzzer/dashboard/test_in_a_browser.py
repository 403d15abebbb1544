"""The dashboard in a real Chromium: it opens from a file, is drawn, can be used by keyboard, can be read in light and
dark, and executes nothing that a finding says."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Page, browser
from campaigns import HOSTILE, LANE, campaign, found

from fuzzer.campaign.run.merge import merge
from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.dashboard.data import gather
from fuzzer.dashboard.page import html
from fuzzer.filing.ledger import LedgerEntry, State
from fuzzer.findings import finding_file
from fuzzer.system.terminal import printable
from fuzzer.triage.investigate import Investigated, Sighting
from oracles.outcome import Outcome, Ran, Stage, Unsupported

Make = Callable[..., tuple[Investigated, Sighting]]

pytestmark = pytest.mark.browser

CONTRAST = Path(__file__).with_name("contrast.js").read_text()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Page]:
    with browser() as page:
        yield page


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("campaign") / "Jo's $(night)"
    campaign(folder)
    path = folder / "dashboard.html"
    path.write_text(html(gather(folder)))
    return path.as_uri()


@pytest.fixture
def page(chromium: Page, address: str) -> Page:
    chromium.scheme("light")
    chromium.width(1400)
    chromium.open("about:blank")
    chromium.open(address)
    return chromium


def focused(page: Page) -> str:
    """The id of what has the keyboard, or the text of a link."""
    return str(page.value("document.activeElement.id || document.activeElement.textContent"))


def test_it_opens_from_a_file_and_sends_no_request(page: Page, address: str) -> None:
    assert page.errors == []
    assert page.requests == [address]
    assert page.value("document.title").endswith(" - difftvm")
    assert page.value("document.querySelectorAll('#rows tbody tr').length") == 4
    assert page.value("[...document.querySelectorAll('.tiles dt')].map((each) => each.textContent)") == [
        *("Findings", "Sightings waiting", "Tests", "Time", "Tests a second", "Lanes")
    ]
    assert texts(page, "h1, #counts") == [
        "difftvm TVM 0.27.0",
        "4 confirmed causes: 1 critical, 1 high, 2 medium; 5 findings",
    ]


IN_SIGHT = """[...document.querySelectorAll('#rows tr[data-slug]')].filter((row) => {
    const [its, list] = [row, row.closest('.list')].map((each) => each.getBoundingClientRect());
    return its.bottom <= Math.min(innerHeight, list.bottom);
}).length"""
"""How many causes are whole in the window."""


@pytest.mark.parametrize(("width", "height", "least"), [(1440, 900, 8), (390, 844, 3)])
def test_several_causes_are_in_sight(chromium: Page, tmp_path: Path, width: int, height: int, least: int) -> None:
    """Also with titles as long as titles become, and with filters and numbers below."""
    with Store(tmp_path, 1) as store:
        for op in ("neg", "abs", "exp", "sin", "cos", "tan", "sqrt", "rsqrt", "relu", "erf"):
            confirmed, _ = found(f"no {op}", {"x0": "float32[2]"}, [("v0", op, "x0")])
            doc = store.save(confirmed, {"tvm": "0.27.0.post1"})
            assert doc is not None
            report = (
                f"# [Bug] `from_onnx` on `BatchNormalization` beside `{op}` fails: the types of operands differ so\n"
            )
            (tmp_path / "crashes" / doc.slug / "issue.md").write_text(report)
        store.save_state()
    (tmp_path / "dashboard.html").write_text(html(gather(tmp_path)))
    chromium.width(width, height)
    chromium.open((tmp_path / "dashboard.html").as_uri())
    assert chromium.value(IN_SIGHT) >= least


@pytest.mark.parametrize("width", [1400, 390])
def test_filters_fold_and_the_causes_come_first(page: Page, width: int) -> None:
    page.width(width)
    top = "document.querySelector({!r}).getBoundingClientRect().top + scrollY"
    tops = [
        page.value(top.format(selector)) for selector in ("h1", "#counts", "#rows tr[data-slug]", "#waiting", "#tiles")
    ]
    assert tops == sorted(tops)
    visible = "[...document.querySelectorAll('#filters select')].filter((each) => each.offsetParent).length"
    assert page.value(visible) == 0
    page.value("document.getElementById('more-filters').click()")
    assert page.value(visible) == 9
    assert page.value("document.documentElement.scrollWidth <= innerWidth")


def test_filters_that_are_set_are_counted_while_they_are_folded(page: Page) -> None:
    button = "document.getElementById('more-filters').textContent"
    assert page.value(button) == "Filters"
    choose(page, "level", "critical")
    choose(page, "kind", "internal-error")
    assert page.value(button) == "Filters: 2 set"
    page.value("document.getElementById('reset').click()")
    assert (page.value(button), page.value("document.getElementById('shown').textContent")) == (
        "Filters",
        "4 of 4 causes",
    )


def choose(page: Page, field: str, value: str) -> list[str]:
    """The causes that the list shows after a filter is set, by the names of their first findings."""
    page.value(f"document.getElementById('{field}').value = '{value}'")
    page.value(f"document.getElementById('{field}').dispatchEvent(new Event('input'))")
    rows: list[str] = page.value("[...document.querySelectorAll('#rows tr[data-slug]')].map((row) => row.dataset.slug)")
    return rows


def heading(page: Page) -> str:
    return "".join(texts(page, "#detail h3"))


def test_the_detail_follows_the_search_and_returns(page: Page) -> None:
    page.value("document.querySelector('#rows a[href*=abs]').click()")
    page.until("location.hash.includes('abs')")
    assert "abs" in heading(page)
    choose(page, "words", "hardswish")
    assert "hardswish" in heading(page)
    assert texts(page, "#rows .chosen a") == [heading(page)]
    choose(page, "words", "zzz")
    assert (heading(page), texts(page, "#nothing")) == ("", ['No cause fits "zzz". Show all'])
    page.value("document.querySelector('#nothing button').click()")
    assert "abs" in heading(page)
    assert texts(page, "#nothing") == [""]


def test_a_link_shows_its_cause_also_in_the_list(page: Page) -> None:
    """Whatever was searched before."""
    slug = page.value("data.families.at(-1).slugs[0]")
    choose(page, "words", "linear")
    page.value(f"location.hash = '#family/{slug}'")
    page.until("document.activeElement.id === 'detail'")
    assert page.value("document.querySelector('#rows .chosen').dataset.slug") == slug
    assert texts(page, "#rows .chosen a") == [heading(page)]
    assert page.value("document.getElementById('words').value") == ""


def test_new_causes_come_first_and_can_be_filtered(chromium: Page, tmp_path: Path) -> None:
    *_, absolute, _ = campaign(tmp_path)
    (tmp_path / "last-run.json").write_text(f'{{"began": {time.time() - 1.5 * 3600}}}')
    (tmp_path / "crashes" / "SHIPPED").write_text(absolute)
    chromium.width(1400)
    (tmp_path / "dashboard.html").write_text(html(gather(tmp_path)))
    chromium.open((tmp_path / "dashboard.html").as_uri())
    groups = ["new in the last run: 1 cause", "found earlier: 2 causes", "known: they ship with difftvm: 1 cause"]
    assert texts(chromium, "#rows .group") == groups
    assert texts(chromium, "#counts") == [
        "1 new cause: 1 critical; 2 found earlier: 2 medium; 4 findings; "
        "1 known cause ships with difftvm, 1 of them met"
    ]
    assert [slug.split("-")[2] for slug in choose(chromium, "age", "new in the last run")] == ["linear"]
    assert choose(chromium, "age", "known: they ship with difftvm") == [absolute]
    choose(chromium, "age", "")
    chromium.value("document.querySelector('[data-key=found]').click()")
    assert texts(chromium, "#rows .group") == []
    assert [text.endswith("new") for text in texts(chromium, "#rows td:nth-child(2) :is(a, .tag)")].count(True) == 1


def test_values_and_messages_stand_before_the_raw_text(page: Page) -> None:
    page.value("document.querySelector('#rows a[href*=abs]').click()")
    page.until("location.hash.includes('abs')")
    headings = texts(page, "#detail h4")
    assert headings.index("What was seen") < headings.index("Graph") < headings.index("Raw text")
    assert texts(page, "[aria-label='What TVM says']") == ["E: of another day"]
    assert texts(page, "#detail .condition")[0].startswith("Condition not yet looked for: fuzz scope ")


LISTS = """[...document.querySelectorAll('table')].filter((table) => table.querySelector('td'))
    .map((table) => [...table.querySelectorAll('tr, td')].filter((each) => each.offsetParent)
    .every((each) => getComputedStyle(each).display.endsWith('block')))"""


BROKEN = """[...document.querySelectorAll('#rows a, #rows a code, #detail .scope :is(td, th)')].flatMap((each) =>
    [...each.childNodes].filter((node) => node.nodeType === 3).flatMap((node) =>
        [...node.data.matchAll(/[\\w.-]+/g)].filter((word) => {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            return new Set([...range.getClientRects()].map((each) => each.top)).size > 1;
        }).map((word) => word[0])
    )).filter((word) => word.length < 20)"""
"""Words on two lines: they have more than one rectangle. A long name of code may be broken."""


def test_in_a_narrow_window_tables_are_lists_and_no_word_is_broken(page: Page) -> None:
    page.width(390)
    assert set(page.value(LISTS)) == {True}
    label = "getComputedStyle(document.querySelector('#detail .scope td'), '::before').content"
    assert page.value(label) == '"fails: "'
    assert page.value(BROKEN) == []
    page.width(60)
    assert page.value(BROKEN) != [], "a word that is broken would be noticed"
    page.width(1400)
    assert set(page.value(LISTS)) == {False}


def test_what_a_finding_says_is_text(page: Page) -> None:
    page.value("document.querySelector('#rows tbody a[href*=\"hardswish\"]').click()")
    assert printable(HOSTILE) in page.value("document.querySelector('#detail').textContent")
    assert page.value("document.querySelectorAll('img, iframe, object, main script').length") == 0
    assert page.value("[document.title, window.owned]") == [page.value("document.title"), None]
    assert page.errors == []


def test_even_html_that_slipped_in_would_not_run(page: Page) -> None:
    """The policy of the page forbids it."""
    page.value("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.owned = 1\">')")
    page.value("document.body.append(Object.assign(document.createElement('script'), { text: 'window.owned = 2' }))")
    page.value("new Promise((done) => setTimeout(done, 100))")
    assert page.value("window.owned ?? null") is None
    assert any("Content Security Policy" in error for error in page.errors)


def test_the_graph_blame_difference_and_script_of_a_finding(page: Page) -> None:
    page.value('document.querySelector(\'#rows tbody a[href*="branching"], #rows tbody a[href*="linear"]\').click()')
    boxes = "[...document.querySelectorAll('.graph g')].map((each) => each.getAttribute('class'))"
    assert sorted(page.value(boxes)) == ["blamed", "input", "operator", "output", "param", "param"]
    assert page.value("document.querySelectorAll('.graph .wire').length") == 5
    assert page.value("[...document.querySelectorAll('#detail .added')].map((each) => each.textContent)") == [
        "+++ after\n",
        "+y = R.add(x, w)\n",
    ]
    assert "import torch" in page.value(
        "document.querySelector('[aria-label=\"Script that reproduces it\"]').textContent"
    )
    assert "FuseOps" in page.value("document.querySelector('#detail').textContent")


def test_by_keyboard_alone(page: Page) -> None:
    page.press("/")
    assert focused(page) == "words"
    page.press(*"relu")
    assert page.value("document.getElementById('shown').textContent") == "1 of 4 causes"
    page.press("ArrowDown")
    assert page.value("document.activeElement.closest('#rows') !== null")
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Enter")
    page.until("document.activeElement.id === 'detail'")
    assert "relu" in page.value("location.hash")
    page.press("Escape")
    assert page.value("document.activeElement.getAttribute('aria-current')") == "true"
    page.press("/")
    page.value("document.getElementById('words').select()")
    page.press("x", "y", "z")
    assert page.value("document.getElementById('shown').textContent") == "0 of 4 causes"


def test_tab_reaches_everything_that_acts(page: Page) -> None:
    page.value("document.getElementById('more-filters').click()")
    reached = set()
    for _ in range(60):
        page.press("Tab")
        reached.add(
            page.value("document.activeElement.id || document.activeElement.dataset.key || document.activeElement.hash")
        )
    assert {
        *(
            "words",
            "more-filters",
            "age",
            "level",
            "state",
            "component",
            "kind",
            "of-operator",
            "place",
            "lane",
            "release",
            "reset",
        ),
        *("severity", "title", "findings", "seen", "found", "#findings", "op", "poor"),
    } <= reached
    assert len([each for each in reached if each and each.startswith("#family/")]) == 4
    assert len([each for each in reached if each and each.startswith("#finding/")]) == 2


def test_filters_and_order(page: Page) -> None:
    assert len(choose(page, "component", "tvm")) == 4
    assert [slug.split("-")[2] for slug in choose(page, "state", "flaky")] == ["flaky"]
    assert len(choose(page, "state", "today")) == 3
    assert len(choose(page, "state", "unfiled")) == 4
    assert [choose(page, "state", state) for state in ("filed", "known behaviour", "unspecified upstream")] == [
        [],
        [],
        [],
    ]
    choose(page, "state", "listed")
    assert [slug.split("-")[2] for slug in choose(page, "level", "critical")] == ["linear"]
    choose(page, "level", "")
    assert [slug.split("-")[2] for slug in choose(page, "of-operator", "neg")] == ["linear", "flaky"]
    choose(page, "of-operator", "")
    assert [slug.split("-")[2] for slug in choose(page, "release", "new in 0.27.0")] == ["linear"]
    choose(page, "release", "")
    assert choose(page, "kind", "") == page.value("data.families.map((family) => family.slugs[0])")  # the worst first
    page.value("document.querySelector('[data-key=found]').click()")
    assert page.value("document.querySelector('#rows th:last-child').getAttribute('aria-sort')") == "descending"
    assert [slug.split("-")[2] for slug in choose(page, "kind", "")] == ["hardswish", "flaky", "linear", "abs"]
    page.value("document.querySelector('[data-key=found]').click()")
    assert choose(page, "kind", "")[0].split("-")[2] == "abs"


def texts(page: Page, selector: str) -> list[str]:
    found: list[str] = page.value(f"[...document.querySelectorAll({selector!r})].map((each) => each.textContent)")
    return found


def test_the_page_of_a_cause_has_its_findings_and_their_scope(page: Page) -> None:
    """The worst cause is open at first. The link of a finding opens it, and the link above it returns."""
    members = texts(page, "#detail .members tbody a")
    assert ["neg" in title for title in members] == [True, False]  # the first that was found first
    assert "It fails in every case that was tried" in page.value("document.querySelector('#detail').textContent")
    assert texts(page, "#detail .scope tbody tr:first-child > *") == ["dtype of x0", "float32, int64", "", ""]
    assert texts(page, "#detail .scope tbody tr:last-child > *") == ["rank of x0", "2", "1", ""]
    page.value("document.querySelector('#detail .members tbody a').click()")
    page.until("document.activeElement.id === 'detail'")
    assert "One of 2 findings" in page.value("document.querySelector('#detail').textContent")
    assert texts(page, "#detail .members tbody a") == []
    page.value("document.querySelector('#detail a[href^=\"#family/\"]').click()")
    page.until("document.querySelector('#detail .members') !== null")
    assert page.value("document.querySelector('#rows tr.chosen').dataset.slug") == page.value(
        "data.families[0].slugs[0]"
    )


def test_what_is_not_confirmed_is_a_list_of_its_own(chromium: Page, tmp_path: Path, make: Make) -> None:
    campaign(tmp_path)
    for message in ("Unresolved call tirx.acos", "Unresolved call tirx.cos", "no <layout>"):
        found, sighting = make(message)
        Queue(tmp_path).add(found.case, sighting, {"tvm": "0.27.0"})
    (tmp_path / "dashboard.html").write_text(html(gather(tmp_path)))
    chromium.open((tmp_path / "dashboard.html").as_uri())
    assert texts(chromium, "#waiting tbody td.number") == ["2", "1"]
    first, other = texts(chromium, "#waiting tbody td:last-child")
    assert "Unresolved call tirx.acos" in first
    assert "no <layout>" in other
    assert [text.startswith("fuzz --replay ") for text in texts(chromium, "#waiting td > code")] == [True, True]
    assert texts(chromium, "#counts a") == ["not confirmed yet: 2 causes, seen in 3 sightings"]
    assert chromium.errors == []


def test_the_state_of_filing(chromium: Page, tmp_path: Path) -> None:
    *_, second = campaign(tmp_path)
    chromium.width(1400)
    signature = finding_file.read(tmp_path / "crashes" / second).signature
    url = "https://github.com/o/n/issues/7"
    entry = LedgerEntry(
        "api.github.com/o/n", signature, "nonce", "title", second, "0.27.0", 1.0, url=url, state=State.OPEN
    )
    (tmp_path / "dashboard.html").write_text(html(gather(tmp_path, {signature: entry})))
    chromium.open((tmp_path / "dashboard.html").as_uri())
    assert chromium.errors == []
    assert texts(chromium, "#rows tr .tag.good") == ["filed"]
    assert texts(chromium, f"#detail a[href='{url}']") == [url]
    chromium.value("document.querySelector('#rows a[href*=abs]').click()")
    chromium.until("location.hash.includes('abs')")
    assert texts(chromium, "[aria-label='Draft the issue; nothing is sent']")[0].startswith("fuzz file ")
    chromium.value("document.querySelector('#rows a[href*=flaky]').click()")
    chromium.until("location.hash.includes('flaky')")
    assert "It is flaky." in chromium.value("document.querySelector('#detail').textContent")


def test_support_is_a_table_of_numbers(page: Page) -> None:
    cells = "[...document.querySelectorAll('#heat tbody tr')].map((row) => [...row.cells].map((c) => c.textContent))"
    assert page.value(cells) == [["neg", "1/1", "0/1"], ["relu", "2/2", "1/2"]]
    assert page.value("[...document.querySelectorAll('#heat td')].every((each) => each.className === 'few')")


def test_a_rate_of_ten_graphs_has_its_number(chromium: Page, tmp_path: Path) -> None:
    refused: Outcome = Unsupported(Stage.IMPORT, "no")
    with Store(tmp_path, 1) as store:
        for number in range(1200):
            ran = {"neg": refused, "relu": Ran(()) if number % 4 else refused}
            for op in ("neg", "relu") if number < 10 else ("relu",):
                store.record(index_row(2 * number + (op == "relu"), 0.5, {LANE: ran[op]}, (op,)))
        store.save_state()
    (tmp_path / "dashboard.html").write_text(html(gather(tmp_path)))
    chromium.width(1400)
    chromium.open((tmp_path / "dashboard.html").as_uri())
    assert texts(chromium, "#heat td") == ["0of 10", "75of 1,200"]
    assert chromium.value("[...document.querySelectorAll('#heat td')].map((each) => each.className)") == ["h0", "h4"]
    chromium.value("document.getElementById('poor').click()")
    assert texts(chromium, "#heat tbody th") == ["neg"]


def test_releases_and_lanes(page: Page) -> None:
    rows = "[...document.querySelectorAll('#matrix tbody tr')].map((row) => [...row.cells].map((c) => c.textContent))"
    (row,) = page.value(rows)
    assert row[1:] == ["passes", "fails", "0.27.0", ""]
    assert "onnxruntime" in page.value("document.getElementById('health').textContent")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 480])
def test_everything_can_be_read(page: Page, scheme: str, width: int) -> None:
    """WCAG's 4.5 to 1 for all text; nothing is wider than the window."""
    page.scheme(scheme)
    page.width(width)
    assert page.value("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")
    assert page.value(CONTRAST) == []
    assert page.value("document.documentElement.scrollWidth <= innerWidth")


def test_a_text_with_too_little_contrast_would_be_detected(page: Page) -> None:
    page.scheme("light")
    page.value("document.querySelector('#time h2').style.color = '#999'")
    assert page.value(CONTRAST) == ["H2 Over time: 2.85"]


def test_what_is_copied(page: Page) -> None:
    """One word of a shell, whatever the campaign's folder is called."""
    page.value("document.querySelector('[aria-label^=\"Copy: Run\"]').focus()")
    page.press("Enter")
    page.until("document.getElementById('live').textContent")
    fuzz, replay, folder = shlex.split(page.value("getSelection().toString()"))
    assert (fuzz, replay) == ("fuzz", "--replay")
    assert Path(folder).parts[-3:-1] == ("Jo's $(night)", "crashes")
    assert page.value("document.getElementById('live').textContent") in (
        "Copied",
        "Selected: copy it with the keyboard",
    )


def test_a_campaign_without_findings(chromium: Page, tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
    (tmp_path / "dashboard.html").write_text(html(gather(tmp_path)))
    chromium.open((tmp_path / "dashboard.html").as_uri())
    assert chromium.errors == []
    assert "There is no finding yet." in chromium.value("document.body.textContent")


def test_a_campaign_that_did_nothing_itself(chromium: Page, tmp_path: Path) -> None:
    """Such as the driver of a cluster: it shows the sums of the others, and no empty curves and lanes."""
    campaign(tmp_path / "other")
    merge([tmp_path / "other"], tmp_path / "all")
    (tmp_path / "dashboard.html").write_text(html(gather(tmp_path / "all")))
    chromium.open((tmp_path / "dashboard.html").as_uri())
    assert chromium.errors == []
    tiles = chromium.value("[...document.querySelectorAll('.tiles div')].map((each) => each.textContent)")
    assert [tile[:6] for tile in tiles] == ["Findin", "Sighti", "Tests2", "Time1 "]
    for section in ("time", "lanes"):
        assert "no tests of its own" in chromium.value(f"document.getElementById('{section}').textContent")
    assert chromium.value("document.querySelectorAll('#stages tbody tr').length") == 2
