"""Measurement of mmpcodec beside other codecs; sizes are those of whole files.

``metrics`` compares two pictures. ``codecs`` gives all codecs one interface. ``sweep`` measures
pictures and codecs, and ``results`` stores one JSON line a result in a folder. ``curves``,
``tables``, ``plot`` and ``report`` present the results.

``metrics`` and sweeps over the codecs of Pillow need only the dependencies of the package. All else
needs the extra ``bench``.
"""
