"""Entropy coding: range coder, context models and rates."""
