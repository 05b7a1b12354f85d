"""Entropy coding: range coder, adaptive context models and rates of symbols."""
