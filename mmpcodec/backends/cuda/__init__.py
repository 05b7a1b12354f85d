"""The cuda backend: trees and predicted blocks, encoded on a CUDA device by CuPy."""
