"""All motifs. `random_graph` and the tests that are drawn for a pass choose among them."""

from generators.torch.motifs import PLAIN_MOTIFS, Motif
from generators.torch.varied_motifs import VARIED_MOTIFS

MOTIFS: tuple[Motif, ...] = (*PLAIN_MOTIFS, *VARIED_MOTIFS)
