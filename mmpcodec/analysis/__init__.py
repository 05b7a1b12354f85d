"""What a person does with pictures: bright regions, and drawings of how a picture was coded.

Pure functions from arrays to arrays. Leaves files to ``pictures``, coding to ``codec`` and
printing to ``cli``.
"""
