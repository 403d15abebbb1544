"""The decoders of files and messages that may come from elsewhere, as targets of a fuzzer.

An input of a target is a byte that names a document, and the contents of that document. A decoder returns a value or
raises the error that it documents. Everything else is a fault: any other exception, and more than a second of CPU.
"""

from __future__ import annotations

from decoders.files import FINDINGS
from decoders.indexes import INDEX
from decoders.messages import PROTOCOL
from decoders.models import IMPORT
from decoders.scripts import SCRIPTS

TARGETS = {target.name: target for target in (FINDINGS, PROTOCOL, IMPORT, INDEX, SCRIPTS)}
