"""Measuring: our codec beside others, every byte counted.

``metrics`` says how far two pictures are apart; ``codecs``, ``peers`` and ``commands`` give every
codec the same shape; ``results`` keeps one JSON line a result in a folder; ``sweep`` fills the
folder; ``curves``, ``tables``, ``plot`` and ``report`` show what is in it. Leaves coding to the
codecs and printing to ``cli``.

``metrics`` and a sweep over the codecs of Pillow need nothing besides the package's own
dependencies; the rest needs the extra ``bench``.
"""
