"""Targets of size, bit rate and PSNR: the search for the lambda that meets one."""
