"""The codec, one stage a file, in the order of the bitstream.

``fragments`` cuts the picture, ``scales`` defines the block sizes and the scale transform,
``dictionary`` holds and learns elements, ``models`` gives symbols their probabilities,
``costmap`` and ``tree`` search, ``rangecoder`` writes bytes, ``container`` wraps them;
``encoder`` and ``decoder`` join the stages through a backend.

These modules are plain NumPy and are the readable definition of each stage. They touch no file,
print nothing and start no thread.
"""
