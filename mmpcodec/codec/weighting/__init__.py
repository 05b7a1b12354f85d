"""How much the pixels of a picture count."""
