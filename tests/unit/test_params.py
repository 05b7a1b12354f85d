"""Parameters of encoding: which tools ``auto`` tries, and parameters at another lambda."""

import pytest

from mmpcodec import EncodeParams, ParameterError
from mmpcodec.params import TRIED
from mmpcodec.presets import PRESETS
from mmpcodec.tools import BlockTools, LosslessTools, Partition, TreeTools


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ({}, {"photo", "text", "mixed", "lossless"}),
        ({"post_filter": False}, {"photo", "text", "mixed"}),
        ({"partition": "dyadic"}, {"text", "mixed"}),
        ({"pdpc": False}, {"photo", "mixed"}),
        ({"dictionary_limit": 300, "templates": 1}, {"mixed"}),
        ({"prediction": False}, {"text", "lossless"}),
        ({"prediction": False, "lossless": False}, {"text"}),
        ({"lossless": True}, {"lossless"}),
        ({"dictionary": False, "prediction": True}, {"photo"}),
    ],
)
def test_auto_tries_what_the_tools_have_a_part_in(tools, names):
    found = [each.tools for each in EncodeParams.from_options(9, **tools).each_alone()]
    expected = [
        EncodeParams.from_options(9, preset=name, **tools).tools for name in TRIED if name in names
    ]
    assert found == expected


def test_parameters_at_another_lambda():
    params = EncodeParams.from_options(9)
    for lam in (0, 40):
        assert params.at(lam) == EncodeParams.from_options(lam)
    with pytest.raises(
        ParameterError, match=r"lam = 0, .*: preset photo is always lossy; take preset text"
    ):
        EncodeParams.from_options(9, preset="photo").at(0)


@pytest.mark.parametrize(
    ("preset", "name", "value"),
    [
        ("photo", "partition", "dyadic"),
        ("photo", "displaced_blocks", 2),
        ("lossless", "copy_radius", 4),
        ("text", "pdpc", True),
    ],
)
def test_a_named_preset_refuses_tools_without_effect(preset, name, value):
    message = f"{name} = {value!r}: has no effect with preset {preset}"
    with pytest.raises(ParameterError, match=message):
        EncodeParams.from_options(9, preset=preset, **{name: value})
    assert EncodeParams.from_options(9, preset=preset, **{name: None})


def test_a_switch_gives_tools_an_effect():
    params = EncodeParams.from_options(9, preset="photo", dictionary=True, partition="dyadic")
    assert params.tools.trees == TreeTools(Partition.DYADIC, post_filter=False)


@pytest.mark.parametrize(
    ("preset", "options", "tools"),
    [
        ("plain", {"prediction": True, "templates": 2}, BlockTools(templates=2)),
        ("classic", {"prediction": True}, BlockTools(post_filter=False)),
        ("text", {"lossless": True, "max_error": 2}, LosslessTools(max_error=2)),
        ("mixed", {"prediction": False, "dictionary": False}, PRESETS["text"]),
    ],
)
def test_options_choose_the_coding(preset, options, tools):
    assert EncodeParams.from_options(9, preset=preset, **options).tools == tools


@pytest.mark.parametrize(
    ("preset", "options", "message"),
    [
        ("photo", {"lossless": True}, "lossless = True: the preset has predicted blocks"),
        ("text", {"dictionary": True}, "dictionary = True: must be False without prediction"),
    ],
)
def test_options_that_contradict_the_preset(preset, options, message):
    with pytest.raises(ParameterError, match=message):
        EncodeParams.from_options(9, preset=preset, **options)


def test_auto_says_so_if_nothing_is_left():
    with pytest.raises(ParameterError, match=r"at lambda 0 no preset uses all of step = 7"):
        EncodeParams.from_options(0, step=7)
    with pytest.raises(ParameterError, match=r"'auto': no preset uses all of copy_radius = 3, st"):
        EncodeParams.from_options(copy_radius=3, step=7, dictionary=False)
