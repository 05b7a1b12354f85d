"""Lossless samples: lossless coding, sample by sample, with mixed context models."""
