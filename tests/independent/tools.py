"""The tables of tools of sections Layers and Tool sets of the text."""

TREES, BLOCKS, EXACT, PALETTE = range(4)  # coding of a layer; where a palette begins
SWITCHES = {  # bits, values
    BLOCKS: (
        ("fragment size", 2, (16, 32, 64)),
        ("least squares", 1, range(2)),
        ("templates", 3, range(5)),
        ("dictionary", 1, range(2)),
        ("pdpc", 1, range(2)),
        ("trained start", 1, range(2)),
        ("earlier planes", 2, range(3)),
        ("dependent", 1, range(2)),
        ("ternary", 1, range(2)),
        ("fine contexts", 1, range(2)),
        ("step changes", 1, range(2)),
        ("trained transforms", 1, range(2)),
        ("derived modes", 1, range(2)),
        ("border sines", 1, range(2)),
        ("frequency weights", 4, range(16)),
    ),
    EXACT: (
        ("predictors", 2, (1, 2, 3)),
        ("models", 2, (2, 8, 16)),
        ("weight sets", 1, (1, 4)),
        ("last stage", 1, range(2)),
    ),
}
DICTIONARY = 6  # bit of the switches of predicted blocks
TREE_TOOLS = {
    "partition": range(2),
    "index classes": range(2),
    "flag contexts": range(2),
    "copy radius": range(9),
    "dictionary limit": range(256, 65537),
    "displaced blocks": range(5),
    "redundancy radius": range(65536),
    "replacement": range(2),
}
FILTER_BANK = range(2**14)


def tools_of(coding, numbers):
    """The tools of a layer or of a tool set, from the numbers of their fields."""
    tools, rest = {}, numbers
    if coding == EXACT:
        tools = exact_switches_of(numbers[0])
        tools["max error"] = checked("max error", numbers[1], range(2**15))
    if coding == BLOCKS:
        tools = switches_of(coding, numbers[0])
        tools["step"] = checked("step", numbers[1], range(1, 65536))
        tools["filter bank"] = checked("filter bank", numbers[2], FILTER_BANK)
        rest = numbers[3:]
    if coding == TREES or tools.get("dictionary"):
        for (name, allowed), value in zip(TREE_TOOLS.items(), rest, strict=True):
            tools[name] = checked(name, value, allowed)
    return tools


def exact_switches_of(switches):
    """The tools of exact samples or of the numbers of a palette, without max error."""
    tools = switches_of(EXACT, switches)
    others = tools["predictors"], tools["weight sets"], tools["last stage"]
    if tools["models"] == 2 and others != (1, 1, 0):
        raise ValueError("2 models have one predictor, one set of weights and no last stage")
    return tools


def switches_of(coding, switches):
    """The tools in the field switches, the lowest bits first."""
    tools = {}
    for name, bits, values in SWITCHES[coding]:
        if switches % 2**bits >= len(values):
            raise ValueError(f"{name} in switches is not allowed")
        tools[name] = values[switches % 2**bits]
        switches >>= bits
    checked("switches beyond the tools", switches, (0,))
    return tools


def checked(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} is {value}, which is not allowed")
    return value
