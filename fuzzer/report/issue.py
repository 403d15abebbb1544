"""`issue.md`: the finding in the form of TVM's bug report. A draft for a person to read; nothing is sent."""

from __future__ import annotations

from fuzzer.report.finding_file import FindingDoc
from fuzzer.report.repro import headline
from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.signature import readable
from oracles.finding import Component, Mismatch
from oracles.outcome import Died, Raised


def text(found: Confirmed, doc: FindingDoc, repro: str) -> str:
    versions = "\n".join(f"- {name} {version}" for name, version in doc.versions.items())
    ops = ", ".join(doc.ops)
    return f"""# [Bug] {_title(found, doc)}

### Expected behavior

The model runs in eager PyTorch, and every other way of running it gives the same result.

### Actual behavior

{headline(found.finding)}

{_details(found)}
### Environment

{versions}

### Steps to reproduce

Save as `repro.py` and run it; it exits with 1 while the bug is there.

```python
{repro.rstrip()}
```

### Triage

- component: {doc.component}
- kind: {doc.kind}, in the {found.finding.stage} step
- operators of the reduced model: {ops}
- lanes that show it: {", ".join(doc.lanes)}
- confirmed in {doc.confirmed} fresh processes{" (flaky)" if doc.flaky else ""}
- signature: {doc.signature}
"""


def _title(found: Confirmed, doc: FindingDoc) -> str:
    tag = {Component.TVM: "[Relax]", Component.EXPORTER: "[ONNX export]"}.get(doc.component, f"[{doc.component}]")
    return f"{tag} {doc.kind.replace('-', ' ')}: {', '.join(doc.ops)}"


def _details(found: Confirmed) -> str:
    match found.finding.evidence:
        case Raised(type=name, message=message, frames=frames):
            shown = "\n".join(
                f"  {frame.file.rpartition('site-packages/')[2]}:{frame.line} {frame.function}" for frame in frames[-8:]
            )
            return f"```\n{shown}\n{name}: {readable(message)[:2000]}\n```\n"
        case Died(log=log):
            return f"```\n{log.strip()[-2000:]}\n```\n"
        case Mismatch(worst=worst) if worst is not None:
            return (
                f"The worst element is {list(worst.index)}: {worst.expected!r} expected, {worst.actual!r} found, "
                f"with a measured tolerance of {worst.tolerance:.3g} (envelope {worst.envelope:.3g}).\n"
            )
        case _:
            return ""


def log(found: Confirmed) -> str:
    """The raw text behind the finding, for `log.txt`."""
    match found.finding.evidence:
        case Raised(stage=stage, type=name, message=message, frames=frames):
            lines = [f"{frame.file}:{frame.line} {frame.function}" for frame in frames]
            return "\n".join([f"raised in {stage}", *lines, f"{name}: {message}"]) + "\n"
        case Died(stage=stage, cause=cause, code=code, log=raw):
            return f"died in {stage}: {cause} {code}\n\n{raw}\n"
        case other:
            return f"{other}\n"
