"""Upper estimates of the memory and the time that decoding takes."""
