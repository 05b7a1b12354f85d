"""Trees: segmentation trees over dictionaries that learn."""
