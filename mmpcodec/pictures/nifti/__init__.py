"""Read NIfTI volumes.

``file`` reads slices, ``levels`` makes their samples unsigned, ``stored_form`` keeps how they were.
"""
