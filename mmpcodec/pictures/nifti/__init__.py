"""Read NIfTI volumes: ``file`` reads slices, ``levels`` makes their samples unsigned."""
