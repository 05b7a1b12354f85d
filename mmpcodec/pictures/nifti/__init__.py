"""Read NIfTI volumes: ``recognised`` tells their files, ``file`` reads them, ``levels`` scales."""
