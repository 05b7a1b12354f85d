"""The levels of pictures of JPEG."""
