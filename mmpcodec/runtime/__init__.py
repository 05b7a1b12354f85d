"""What runs the work: arrays, processors, CUDA devices, threads, progress."""
