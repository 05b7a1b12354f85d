"""Layers of tiles: the tasks of each, their coding, and the choice of the cheapest. *Encoder only*.

A *candidate* is one set of tools with parameters. Each candidate codes each layer, and the cheapest
is kept.
"""
