"""Functions with which commands print."""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import shlex
import shutil
import struct
import sys
from pathlib import Path

import msgspec

from fuzzer.system.layout import coloured, fitted


def program() -> str:
    """The name with which this command was called: `fuzz` where the path has it, else a relative path."""
    called = sys.argv[0]
    if called.endswith(".py"):
        return "python -m fuzzer.cli"
    return "fuzz" if shutil.which("fuzz") == os.path.abspath(called) else os.path.relpath(called)


def command(*words: object) -> str:
    """A command of this program, quoted for a shell."""
    return f"{program()} {shlex.join(map(str, words))}"


def campaign_option(folder: Path) -> tuple[object, ...]:
    """The words that name a campaign in a command; none where it is the working directory."""
    return () if folder.resolve() == Path.cwd() else ("--campaign", folder)


def next_line(*words: object) -> str:
    """A line that tells the user which command to call next."""
    return f"next: {command(*words)}"


def number_of(count: int, what: str) -> str:
    """1 test, 2,000 tests."""
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"


class _Escapes(dict[int, int | str]):
    """What `printable` writes for each character, found out when it is first met."""

    def __missing__(self, code: int) -> int | str:
        shown = code if chr(code).isprintable() or chr(code) in "\n\t" else _escaped(code)
        self[code] = shown
        return shown


def _escaped(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_ESCAPES = _Escapes()


def printable(text: str) -> str:
    """A text that may come from a file or a child, as a terminal may show it. Characters that Unicode calls control,
    format, separator, private or unassigned (`str.isprintable`), such as changes of the writing direction and spaces
    without a width, are escape sequences, and so are lone surrogates. Lines and tabs stay."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def one_line(text: str) -> str:
    """A line of an output that quotes a field of a file: a line break in the field is shown as `\\n`, and makes no line
    that looks like one of ours."""
    return printable(text).replace("\n", "\\n")


def open_closed_streams() -> None:
    """Open /dev/null in the place of a standard stream that the caller has closed (`fuzz run 2>&-`): the next file that
    is opened, of a finding or of the index, would be that stream, and get what libraries and children print."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, open(number, mode))  # noqa: SIM115


def escape_what_cannot_be_encoded() -> None:
    """Let stdout and stderr write escape sequences for characters that the encoding of the terminal lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def nobody_reads() -> bool:
    """Whether the reader of stdout has ended, as in `fuzz ops | head`. What is not written yet then goes nowhere."""
    try:
        stdout = sys.__stdout__.fileno() if sys.__stdout__ else -1
        watch = select.poll()
        watch.register(stdout, 0)
        closed = any(events & (select.POLLERR | select.POLLHUP) for _, events in watch.poll(0))
    except (OSError, ValueError):  # a stream without a descriptor
        return False
    if closed:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stdout)
        os.close(nowhere)
    return closed


MOST_CHARACTERS = 299
"""The longest sentence about an error. It may quote names from a file that somebody else has written."""


def one_sentence(text: str) -> str:
    """An error in one printable line of at most `MOST_CHARACTERS`. The middle of a longer one is left out, because it
    begins with the file and ends with what to do."""
    line = printable(" ".join(text.split()))
    half = (MOST_CHARACTERS - len(_LEFT_OUT)) // 2
    return line if len(line) <= MOST_CHARACTERS else f"{line[:half]}{_LEFT_OUT}{line[-half:]}"


_LEFT_OUT = " [...] "


def echo(*texts: object, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
    """Print texts as the terminal may show them: wrapped at blanks and with colours on a terminal, and one line each
    elsewhere."""
    shown = printable(sep.join(str(text) for text in texts))
    if sys.stdout.isatty():
        shown = fitted(shown, shutil.get_terminal_size().columns)
        shown = shown if os.environ.get("NO_COLOR") else coloured(shown)
    print(shown, end=end, flush=flush)


def print_document(text: str) -> None:
    """Print a text with lines of its own, such as a report with a script, as the terminal may show it: no line is
    wrapped, so that it can be copied."""
    print(printable(text), end="" if text.endswith("\n") else "\n", flush=True)


def print_json(value: object) -> None:
    """Print JSON, one value. Its lines are not wrapped, and its escape sequences are those of JSON, which those of
    `echo` are not."""
    print(json_text(value), end="")


def json_text(value: object) -> str:
    """JSON in ASCII, so that each terminal can show it and each parser can read it. The last character is a line
    break."""
    text = msgspec.json.format(msgspec.json.encode(_encodable(msgspec.to_builtins(value)))).decode()
    return _NOT_ASCII.sub(_json_escape, text) + "\n"


_NOT_ASCII = re.compile(r"[^\n -~]")


def _json_escape(found: re.Match[str]) -> str:
    return "".join(f"\\u{unit:04x}" for (unit,) in struct.iter_unpack(">H", found[0].encode("utf-16-be")))


def _encodable(value: object) -> object:
    """The value of JSON types, with escape sequences for lone surrogates, as in names of files that are not UTF-8."""
    match value:
        case str() as text:
            return text.encode(errors="backslashreplace").decode()
        case dict() as entries:
            return {_encodable(name): _encodable(entry) for name, entry in entries.items()}
        case list() | tuple() as items:
            return [_encodable(item) for item in items]
        case other:
            return other


def say(text: str) -> None:
    """Print a line of progress to stderr. The work continues where stderr is closed: after `fuzz run 2>&1 | tee log`,
    Ctrl-C ends `tee` too. A signal handler may call it."""
    line = printable(text)
    with contextlib.suppress(OSError):
        try:
            print(line, file=sys.stderr, flush=True)
        except RuntimeError:  # the handler interrupted a print of the same thread, whose buffer refuses a second one
            os.write(sys.stderr.fileno(), f"{line}\n".encode(errors="backslashreplace"))
