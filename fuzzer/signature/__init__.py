"""What identifies a bug: the only place that reads the text of errors and logs.

Equal signature means same bug. It is made of parts that stay the same over runs, machines, seeds and shapes: never of
addresses, numbers, value names or line numbers.
"""

from fuzzer.signature.frames import is_ours as is_ours
from fuzzer.signature.frames import meaningful as meaningful
from fuzzer.signature.frames import plain_function as plain_function
from fuzzer.signature.harm import Harm as Harm
from fuzzer.signature.harm import harm_of as harm_of
from fuzzer.signature.identity import Signature as Signature
from fuzzer.signature.identity import named as named
from fuzzer.signature.identity import signature_of as signature_of
from fuzzer.signature.identity import twins as twins
from fuzzer.signature.messages import frames_of as frames_of
from fuzzer.signature.messages import readable as readable
from fuzzer.signature.messages import skeleton as skeleton
from fuzzer.signature.refusals import lacking as lacking
from fuzzer.signature.refusals import recognise as recognise
from fuzzer.signature.telling import telling as telling
