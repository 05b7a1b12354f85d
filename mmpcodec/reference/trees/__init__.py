"""Trees: segmentation trees whose leaves name elements of adaptive dictionaries."""
