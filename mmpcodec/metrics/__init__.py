"""Metrics of a decoded picture that the encoder can aim at; ``bench.metrics`` has all of them.

Everything here needs NumPy only.
"""
