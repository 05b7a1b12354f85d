"""Draw how a picture was coded: its trees, its predicted blocks, its error, a whole file."""
