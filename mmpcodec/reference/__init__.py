"""The definition of the codec in plain NumPy, stage by stage.

The packages have the names of the codings in ``docs/format/format.md``: ``trees``, ``blocks``
(predicted blocks) and ``lossless`` (lossless samples). ``entropy`` codes the symbols of all three,
and ``filters`` filters decoded planes. Each module names the
section of the format that it implements. A module marked *encoder only* is free in its choices:
every result of it decodes.

The code favours clarity over speed. Every faster version must give equal bytes and samples. The
modules start no thread, open no file and import no backend.
"""
