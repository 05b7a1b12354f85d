"""The definition of the codec in plain NumPy.

Each stage of ``docs/format/format.md`` is one module. The modules start no thread, touch no file
and know no backend. They are slow, readable, and the judge of every faster version.
"""
