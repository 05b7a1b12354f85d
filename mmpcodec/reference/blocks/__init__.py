"""Predicted blocks: partition, prediction, transform, quantised coefficients."""
