"""Exact samples: lossless coding, sample by sample."""
