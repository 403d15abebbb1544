"""The identity of a failure, and the only code that reads the text of errors and logs.

Two findings with equal signatures are the same bug. A signature holds only what stays the same in every run, on every
machine, for every seed and shape: no addresses, numbers, value names or line numbers.
"""

from fuzzer.signature.excerpts import stable_excerpt as stable_excerpt
from fuzzer.signature.frames import CALLED_BY as CALLED_BY
from fuzzer.signature.frames import failure_location as failure_location
from fuzzer.signature.frames import function_that_raised as function_that_raised
from fuzzer.signature.frames import is_difftvm_frame as is_difftvm_frame
from fuzzer.signature.frames import plain_function as plain_function
from fuzzer.signature.gpu_damage import GpuDamage as GpuDamage
from fuzzer.signature.gpu_damage import gpu_damage_of as gpu_damage_of
from fuzzer.signature.identity import Signature as Signature
from fuzzer.signature.identity import final_signature as final_signature
from fuzzer.signature.identity import interchangeable_kinds as interchangeable_kinds
from fuzzer.signature.identity import signature_of as signature_of
from fuzzer.signature.messages import compiler_that_refuses as compiler_that_refuses
from fuzzer.signature.messages import error_of_compiler as error_of_compiler
from fuzzer.signature.messages import frames_of as frames_of
from fuzzer.signature.messages import readable as readable
from fuzzer.signature.messages import skeleton as skeleton
from fuzzer.signature.messages import without_operators as without_operators
from fuzzer.signature.refusals import classify_failure as classify_failure
from fuzzer.signature.refusals import missing_features as missing_features
from fuzzer.signature.refusals import passing_lack as passing_lack
