"""Measurement of mmpcodec beside other codecs; all sizes are sizes of whole files.

``metrics`` compares two pictures. ``codecs`` gives all codecs one interface. ``sweep`` encodes
pictures with codecs and measures them, and ``results`` stores one JSON line for each result in a
folder. ``curves``, ``tables``, ``plot`` and ``report`` present the results.

``metrics`` needs the extra ``measure``, the rest needs ``bench``.
"""
