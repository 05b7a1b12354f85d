"""Prediction of a block from the planes of the same picture that are decoded before its own.

Source: section "Earlier planes" of ``docs/format/format.md``.
"""
