"""Names of the syntax elements, by which code lengths are summed.

This module imports nothing, so that backends can use the names without the models.
"""

TREE_SYNTAX = ("flag", "class", "element")
"""Syntax elements of trees."""
BLOCK_SYNTAX = ("split", "mode", "kind", "level")
"""Syntax elements of predicted blocks."""
LOSSLESS_SYNTAX = ("map", "residual")
"""Syntax elements of lossless samples."""
PALETTE_COLOURS = "colours"
"""Syntax element of the colours of a palette; the numbers of its pixels are lossless samples."""
SYNTAX = (*TREE_SYNTAX, *BLOCK_SYNTAX, "tree")
"""Syntax elements of trees among predicted blocks; "tree" says which blocks are trees."""


def block_syntax(dictionary: bool) -> tuple[str, ...]:
    """Return the syntax elements of predicted blocks, with the tool *dictionary* on or off."""
    return SYNTAX if dictionary else BLOCK_SYNTAX
