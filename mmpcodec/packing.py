"""``mmpcodec.planning.packing`` under its earlier name."""

from mmpcodec.planning.packing import MAX_SECTOR, Packing, Volume, pack, pack_all

__all__ = ["MAX_SECTOR", "Packing", "Volume", "pack", "pack_all"]
