"""The dialect of PyTorch: its operators, the motifs, and the source text of a graph."""
