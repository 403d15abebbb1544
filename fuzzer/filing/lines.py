"""What became of a finding that was to be filed, in lines for people."""

from __future__ import annotations

from typing import assert_never

from fuzzer.filing.draft import Draft
from fuzzer.filing.filing import Asked, Denied, Drafted, Fate, Filed, Held
from fuzzer.filing.gates import Verdict
from fuzzer.system.terminal import next_line


def lines(draft: Draft, fate: Fate) -> list[str]:
    """What became of a finding, for people."""
    return [*(_line(each) for each in fate.asked), f"{draft.doc.slug}: {_in_words(draft, fate)}"]


def _line(asked: Asked) -> str:
    verdict = "forced" if asked.forced else asked.answer.verdict
    return f"  {verdict:9}  {asked.gate.name}" + (f": {asked.answer.told}" if asked.answer.told else "")


def _in_words(draft: Draft, fate: Fate) -> str:
    match fate:
        case Drafted(asked=asked) if shut := [each for each in asked if each.answer.verdict is Verdict.SHUT]:
            hint = "; --force files it all the same" if all(each.answer.forcible for each in shut) else ""
            return f"nothing was sent, and --submit would not file it either{hint}"
        case Drafted():
            return f"nothing was sent; {next_line('file', draft.folder, '--submit', '--repo', 'OWNER/NAME')}"
        case Held(asked=asked):
            hint = "; --force files it all the same" if asked[-1].answer.forcible else ""
            return f"not filed{hint}"
        case Filed(url=url, again=again):
            return f"filed{' by an earlier attempt' if again else ''}: {url}"
        case Denied(told=told):
            return f"not taken: {told}"
        case _:
            assert_never(fate)
