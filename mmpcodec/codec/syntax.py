"""The names of what is coded, apart from how, for backends that need no models of Python's."""

TREE_SYNTAX = ("flag", "class", "element")
BLOCK_SYNTAX = ("split", "mode", "kind", "level")
SYNTAX = TREE_SYNTAX + BLOCK_SYNTAX
