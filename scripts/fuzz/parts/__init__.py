"""What the makers of several formats share: choices, ISO boxes, directories of TIFF, EXIF."""
