"""JPEG files that are kept byte by byte: the readable form of ``kernels/cpu/jpeg``."""
