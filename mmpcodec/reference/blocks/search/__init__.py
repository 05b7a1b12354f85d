"""The encoder's search for predicted blocks."""
