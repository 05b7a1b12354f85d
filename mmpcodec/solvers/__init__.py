"""Exact solvers: pure functions on arrays, each with its definitions, a reference and backends.

A solver gives the same answer on every backend, positions included. It knows nothing of pictures;
``mmpcodec.analysis`` holds what a person does with them.
"""
