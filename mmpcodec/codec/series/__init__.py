"""Several pictures of one file: what they are, and pictures that continue one another."""
