"""What no framework defines: the one table (`table.py`) by which elements of a case are not judged."""

from generators.undefined.elements import Call as Call
from generators.undefined.elements import Places as Places
from generators.undefined.elements import convertible as convertible
from generators.undefined.table import INTEGER_QUOTIENT as INTEGER_QUOTIENT
from generators.undefined.table import ROWS as ROWS
from generators.undefined.table import Undefined as Undefined
from generators.undefined.table import rows_of as rows_of
