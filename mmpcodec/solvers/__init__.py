"""Exact solvers: pure functions on arrays.

Each solver is a package: its docstring defines the problem and the order of ties, the module
``reference`` the operations of a backend. All backends return equal answers, positions included.
``dispatch`` chooses the backend for all solvers. ``mmpcodec.analysis`` applies solvers to pictures.
"""
