"""difftvm as a library: check models, passes and backends. `docs/library.md` shows how.

What stands here is public and stable; everything else of the project may change. The import loads neither torch nor
TVM.
"""

from fuzzer.api.check import check as check
from fuzzer.api.checked import Checked as Checked
from fuzzer.api.checked import NothingJudged as NothingJudged
from fuzzer.api.checked import NotWhole as NotWhole
from fuzzer.api.finding_error import FindingError as FindingError
from fuzzer.api.found_failure import FoundFailure as FoundFailure
from fuzzer.api.own_passes import check_backend as check_backend
from fuzzer.api.own_passes import check_pass as check_pass
from fuzzer.api.own_passes import register_pass as register_pass
from fuzzer.api.pass_report import PassNotReached as PassNotReached
from fuzzer.api.pass_report import PassReport as PassReport
from fuzzer.api.random_cases import cases as cases
from fuzzer.api.shared_fleet import close as close
from fuzzer.api.shared_fleet import session as session
from fuzzer.system.environment import EnvironmentMissing as EnvironmentMissing
from generators.graph import Case as Case
from generators.graph import Invalid as Invalid

__all__ = [
    "Case",
    "Checked",
    "EnvironmentMissing",
    "FindingError",
    "FoundFailure",
    "Invalid",
    "NotWhole",
    "NothingJudged",
    "PassNotReached",
    "PassReport",
    "cases",
    "check",
    "check_backend",
    "check_pass",
    "close",
    "register_pass",
    "session",
]
