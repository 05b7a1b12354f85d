"""The bitstream: container, metadata chunks, tiles, layers and their tools, as bytes and back."""
