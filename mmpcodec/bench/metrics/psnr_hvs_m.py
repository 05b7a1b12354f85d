"""PSNR-HVS-M: errors of 8x8 transforms, weighted by sensitivity and masked by contrast."""

import numpy as np

from mmpcodec.bench.metrics.libraries import library
from mmpcodec.metrics.samples import luma

BLOCK = 8
"""Side of a block, and smallest side of a picture, in samples."""

SENSITIVITY = np.array(
    [
        [1.608443, 2.339554, 2.573509, 1.608443, 1.072295, 0.643377, 0.504610, 0.421887],
        [2.144591, 2.144591, 1.838221, 1.354478, 0.989811, 0.443708, 0.428918, 0.467911],
        [1.838221, 1.979622, 1.608443, 1.072295, 0.643377, 0.451493, 0.372972, 0.459555],
        [1.838221, 1.513829, 1.169777, 0.887417, 0.504610, 0.295806, 0.321689, 0.415082],
        [1.429727, 1.169777, 0.695543, 0.459555, 0.378457, 0.236102, 0.249855, 0.334222],
        [1.072295, 0.735288, 0.467911, 0.402111, 0.317717, 0.247453, 0.227744, 0.279729],
        [0.525206, 0.402111, 0.329937, 0.295806, 0.249855, 0.212687, 0.214459, 0.254803],
        [0.357432, 0.279729, 0.270896, 0.262603, 0.229778, 0.257351, 0.249855, 0.259950],
    ]
)
"""Sensitivity of the eye to the error of each coefficient."""

MASKING = np.array(
    [
        [0.390625, 0.826446, 1.000000, 0.390625, 0.173611, 0.062500, 0.038447, 0.026874],
        [0.694444, 0.694444, 0.510204, 0.277008, 0.147929, 0.029727, 0.027778, 0.033058],
        [0.510204, 0.591716, 0.390625, 0.173611, 0.062500, 0.030779, 0.021004, 0.031888],
        [0.510204, 0.346021, 0.206612, 0.118906, 0.038447, 0.013212, 0.015625, 0.026015],
        [0.308642, 0.206612, 0.073046, 0.031888, 0.021626, 0.008417, 0.009426, 0.016866],
        [0.173611, 0.081633, 0.033058, 0.024414, 0.015242, 0.009246, 0.007831, 0.011815],
        [0.041649, 0.024414, 0.016437, 0.013212, 0.009426, 0.006830, 0.006944, 0.009803],
        [0.019290, 0.011815, 0.011080, 0.010412, 0.007972, 0.010000, 0.009426, 0.010203],
    ]
)
"""Share of the energy of each coefficient that masks the others."""


def psnr_hvs_m(original: np.ndarray, decoded: np.ndarray, *, white: int) -> float | None:
    """Return PSNR-HVS-M in dB, of luma; None without a visible error, or below 8 samples a side.

    Blocks that the picture does not fill are left out, as by the authors' program.

    Source: Ponomarenko, Silvestri, Egiazarian, Carli, Astola, Lukin, "On between-coefficient
    contrast masking of DCT basis functions", Workshop on Video Processing and Quality Metrics,
    2007.
    """
    if min(original.shape[:2]) < BLOCK:
        return None
    transform = library("scipy.fft").dctn
    blocks = [_blocks(luma(each, white)) for each in (original, decoded)]
    coefficients = [transform(each, axes=(2, 3), norm="ortho") for each in blocks]
    masks = [_mask(*pair) for pair in zip(blocks, coefficients, strict=True)]
    hidden = np.maximum(*masks)[..., None, None] / MASKING
    hidden[..., 0, 0] = 0  # nothing masks an error of the mean
    errors = np.abs(coefficients[0] - coefficients[1])
    seen = np.maximum(errors - hidden, 0) * SENSITIVITY
    mean = float(np.square(seen).mean())
    return 10 * float(np.log10(255**2 / mean)) if mean else None


def _blocks(values: np.ndarray) -> np.ndarray:
    """Return the whole blocks of a plane, (rows, columns, 8, 8)."""
    rows, columns = values.shape[0] // BLOCK, values.shape[1] // BLOCK
    whole = values[: rows * BLOCK, : columns * BLOCK]
    return whole.reshape(rows, BLOCK, columns, BLOCK).swapaxes(1, 2)


def _mask(blocks: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return by how much each block hides errors, (rows, columns).

    An edge in a block counts less than a texture: its variance is large between the quarters of the
    block and small in them.
    """
    energy = (np.square(coefficients) * MASKING).sum(axis=(2, 3))
    energy -= np.square(coefficients[..., 0, 0]) * MASKING[0, 0]
    half = BLOCK // 2
    quarters = [
        _deviation(blocks[..., top : top + half, left : left + half])
        for top in (0, half)
        for left in (0, half)
    ]
    whole = _deviation(blocks)
    texture = np.divide(sum(quarters), whole, out=np.zeros_like(whole), where=whole > 0)
    return np.sqrt(np.maximum(energy, 0) * texture) / 32


def _deviation(blocks: np.ndarray) -> np.ndarray:
    """Return the sample variance of each block times its number of samples."""
    return blocks.var(axis=(2, 3), ddof=1) * (blocks.shape[2] * blocks.shape[3])
