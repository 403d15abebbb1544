"""The dashboard in a real Chromium: it opens from a file, is drawn, can be used by keyboard, can be read in light and
dark, and executes nothing that a finding says."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Page, browser
from campaigns import HOSTILE, campaign

from fuzzer.campaign.run.merge import merge
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.dashboard.data import gather
from fuzzer.dashboard.page import html
from fuzzer.filing.ledger import LedgerEntry, State
from fuzzer.findings import finding_file
from fuzzer.system.terminal import printable
from fuzzer.triage.investigate import Investigated, Sighting

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
        *("Findings", "Last 24 hours", "Sightings waiting", "Tests", "Time", "Tests a second", "Lanes")
    ]
    assert texts(page, "#glance strong") == ["4 confirmed causes: 1 critical, 1 high, 2 medium."]


def test_in_a_narrow_window_the_causes_come_first(page: Page) -> None:
    page.width(390)
    top = "document.querySelector({!r}).getBoundingClientRect().top + scrollY"
    tops = [page.value(top.format(selector)) for selector in ("#rows tbody tr", "#waiting", "#tiles")]
    assert tops == sorted(tops)
    assert tops[0] < 640, "within the first screen of a phone"
    visible = "[...document.querySelectorAll('#filters select')].filter((each) => each.offsetParent).length"
    assert page.value(visible) == 0
    page.value("document.getElementById('more-filters').click()")
    assert page.value(visible) == 8
    assert page.value("document.documentElement.scrollWidth <= innerWidth")
    page.width(1400)
    assert page.value("document.getElementById('more-filters').offsetParent === null")


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
    assert page.value("document.getElementById('shown').textContent") == "1 of 4"
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
    assert page.value("document.getElementById('shown').textContent") == "0 of 4"


def test_tab_reaches_everything_that_acts(page: Page) -> None:
    reached = set()
    for _ in range(60):
        page.press("Tab")
        reached.add(
            page.value("document.activeElement.id || document.activeElement.dataset.key || document.activeElement.hash")
        )
    assert {
        *("words", "level", "state", "component", "kind", "of-operator", "place", "lane", "release"),
        *("severity", "title", "findings", "seen", "found", "#findings", "op", "poor"),
    } <= reached
    assert len([each for each in reached if each and each.startswith("#family/")]) == 4
    assert len([each for each in reached if each and each.startswith("#finding/")]) == 2


def test_filters_and_order(page: Page) -> None:
    def choose(field: str, value: str) -> list[str]:
        page.value(f"document.getElementById('{field}').value = '{value}'")
        page.value(f"document.getElementById('{field}').dispatchEvent(new Event('input'))")
        rows: list[str] = page.value("[...document.querySelectorAll('#rows tbody tr')].map((row) => row.dataset.slug)")
        return rows

    assert len(choose("component", "tvm")) == 4
    assert [slug.split("-")[2] for slug in choose("state", "flaky")] == ["flaky"]
    assert len(choose("state", "new")) == 3
    assert len(choose("state", "unfiled")) == 4
    assert [choose("state", state) for state in ("filed", "known behaviour", "unspecified upstream")] == [[], [], []]
    choose("state", "listed")
    assert [slug.split("-")[2] for slug in choose("level", "critical")] == ["linear"]
    choose("level", "")
    assert [slug.split("-")[2] for slug in choose("of-operator", "neg")] == ["linear", "flaky"]
    choose("of-operator", "")
    assert [slug.split("-")[2] for slug in choose("release", "new in 0.27.0")] == ["linear"]
    choose("release", "")
    assert choose("kind", "") == page.value("data.families.map((family) => family.slugs[0])")  # the worst first
    page.value("document.querySelector('[data-key=found]').click()")
    assert page.value("document.querySelector('#rows th:last-child').getAttribute('aria-sort')") == "descending"
    assert [slug.split("-")[2] for slug in choose("kind", "")] == ["hardswish", "flaky", "linear", "abs"]
    page.value("document.querySelector('[data-key=found]').click()")
    assert choose("kind", "")[0].split("-")[2] == "abs"


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
    assert [text.startswith("fuzz --replay ") for text in texts(chromium, "#waiting code")] == [True, True]
    assert texts(chromium, "#glance a") == ["Not confirmed yet: 2, seen in 3 sightings"]
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
    assert page.value(cells) == [["neg", "100", "0"], ["relu", "100", "50"]]
    page.value("document.getElementById('poor').click()")
    assert page.value(cells) == [["neg", "100", "0"]]


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
    assert [tile[:6] for tile in tiles] == ["Findin", "Last 2", "Sighti", "Tests2", "Time1 "]
    for section in ("time", "lanes"):
        assert "no tests of its own" in chromium.value(f"document.getElementById('{section}').textContent")
    assert chromium.value("document.querySelectorAll('#stages tbody tr').length") == 2


def test_a_narrow_screen_breaks_no_word_of_a_title_and_shows_kinds(page: Page) -> None:
    """A word that is on two lines has more than one rectangle."""
    page.width(390)
    broken = """[...document.querySelectorAll('#rows tbody a')].flatMap((link) => {
        const text = link.firstChild;
        return [...text.data.matchAll(/[\\w.-]+/g)].filter((word) => {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            return new Set([...range.getClientRects()].map((each) => each.top)).size > 1;
        }).map((word) => word[0]);
    }).filter((word) => word.length < 20)"""
    assert page.value(broken) == []
    kinds = "[...document.querySelectorAll('#rows .kind')].map((each) => each.textContent)"
    assert page.value(kinds) == ["internal-error"] * 4
