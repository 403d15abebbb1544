"""The result of `fuzz diff` as JUnit's XML: a test case that fails for each finding, and one that always is there."""

from __future__ import annotations

from shlex import quote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from fuzzer.difference.reports.lines import shown, wrong_with
from fuzzer.difference.verdict import Comparison, in_words, reach_in_words
from fuzzer.system.terminal import printable

SUITE = "fuzz diff"


def document(comparison: Comparison) -> str:
    suite = Element(
        "testsuite",
        name=SUITE,
        tests=str(len(comparison.worse) + 1),
        failures=str(len(comparison.worse)),
        errors="0",
        skipped="1" if comparison.not_reached else "0",
        time=f"{comparison.seconds:.1f}",
    )
    properties = SubElement(suite, "properties")
    for name, value in (
        ("base", comparison.base),
        ("patched", comparison.patched),
        ("tests", comparison.tests),
        ("lanes in both", comparison.lanes),
        ("fixed", len(comparison.fixed)),
        ("failing in both", comparison.both),
    ):
        SubElement(properties, "property", name=name, value=_text(str(value)))
    whole = SubElement(suite, "testcase", classname=SUITE, name="the changed code is reached", time="0")
    if comparison.not_reached:
        SubElement(whole, "skipped", message=_text(in_words(comparison)))
    SubElement(whole, "system-out").text = _text(reach_in_words(comparison))
    for each in shown(comparison, comparison.worse):
        doc, name = each.doc, _text(f"{each.title} [{each.doc.slug}]")
        case = SubElement(suite, "testcase", classname=SUITE, name=name, time=f"{doc.cpu_seconds:.1f}")
        message = _text(f"{each.level}: {each.title}")
        failure = SubElement(case, "failure", type=str(doc.kind), message=message)
        parts = (message, wrong_with(comparison), each.blamed, f"fuzz --replay {quote(str(each.folder))}")
        failure.text = _text("\n".join(part for part in parts if part))
    suites = Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _text(text: str) -> str:
    """Text without control characters, which XML cannot hold."""
    return "\n".join(printable(line) for line in text.split("\n"))
