"""The names of what is coded, apart from how, for backends that need no models of Python's."""

TREE_SYNTAX = ("flag", "class", "element")
BLOCK_SYNTAX = ("split", "mode", "kind", "level")
EXACT_SYNTAX = ("map", "residual")
SYNTAX = (*TREE_SYNTAX, *BLOCK_SYNTAX, "tree")
"""What files with trees among predicted blocks have; "tree" says which blocks are trees."""


def block_syntax(dictionary: bool) -> tuple[str, ...]:
    """What is coded of predicted blocks, with trees among them or without."""
    return SYNTAX if dictionary else BLOCK_SYNTAX
