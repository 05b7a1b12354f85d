"""Predicted blocks: partition, intra prediction, transform and quantised coefficients."""
