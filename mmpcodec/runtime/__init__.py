"""Arrays, processors, CUDA devices, kernels, threads, progress and files."""
