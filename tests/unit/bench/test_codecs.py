"""Codec strings, our codec and other people's in one shape, and programs by template."""

import sys

import numpy as np
import pytest

import mmpcodec
from mmpcodec.bench.codecs.base import OURS, operating_points, parse, spelled
from mmpcodec.bench.codecs.commands import commands
from mmpcodec.bench.codecs.ours import ours, presets
from mmpcodec.bench.codecs.peers import IN_PILLOW, NAMES, peers
from mmpcodec.bench.metrics import psnr
from mmpcodec.errors import MissingExtra, MmpError, ParameterError


@pytest.fixture
def picture():
    """A 64x80 picture of waves."""
    rows, columns = np.indices((64, 80))
    return (128 + 60 * np.sin(rows / 9) + 40 * np.cos(columns / 5)).astype(np.uint8)


def test_strings():
    assert parse("mmp") == ("mmp", {})
    assert parse(" mmp: preset = classic ,lambda=1/2") == (
        "mmp",
        {"preset": "classic", "lambda": "1/2"},
    )
    assert spelled("mmp", {"b": 1, "a": "x"}) == "mmp:a=x,b=1"
    assert spelled("mmp", {}) == "mmp"
    assert operating_points("lambda", "32, 8,8", ",") == (8, 32)


@pytest.mark.parametrize("text", ["mmp:preset", "mmp:=x", "mmp:preset=", "mmp:a=1,a=2"])
def test_bad_strings(text):
    with pytest.raises(ParameterError, match=f"codec '{text}': option"):
        parse(text)


@pytest.mark.parametrize("given", ["", "8,", "x", "-1", "nan", "inf"])
def test_bad_points(given):
    with pytest.raises(ParameterError, match=r"lambda = .* must be a finite number from 0$"):
        operating_points("lambda", given, ",")


def test_our_codec(picture):
    options = {
        "preset": "plain",
        "partition": "dyadic",
        "flag_contexts": "off",
        "copy_radius": "2",
        "threads": "1",
    }
    codec = ours(options, [16])
    expected = "mmp:copy_radius=2,flag_contexts=off,partition=dyadic,preset=plain,threads=1"
    assert codec.name == expected
    data = codec.encode(picture, 16)
    tools = mmpcodec.inspect(data).tools
    assert (tools.partition.name, tools.flag_contexts) == ("DYADIC", False)
    assert tools.copy_radius == 2
    assert (codec.decode(data) == mmpcodec.decode(data)).all()
    assert [edge.shape for edge in codec.edges(data)] == [(64, 80)] * 2
    assert ours({"lambda": "4/2"}, [16]).ladder == (2, 4)
    assert ours({}).name == "mmp:preset=auto"
    assert "mmp:preset=classic" in presets()
    assert ours({"rate_model": "log2"}).settings == "rate model log2"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "good"}, "preset = 'good': must be one of auto, best, photo, text, mixed"),
        ({"colour": "1"}, "unknown option 'colour'"),
        ({"copy_radius": "9"}, "copy_radius = 9: must be from 0 to 8"),
        ({"threads": "x"}, "threads = 'x': must be from 1 to 1024"),
        ({"backend": "gpu"}, "backend = 'gpu': must be one of"),
        ({"lambda": "a"}, "lambda = 'a'"),
    ],
)
def test_bad_options_of_ours(options, message):
    with pytest.raises(ParameterError, match=message):
        ours(options)


@pytest.mark.parametrize("name", NAMES)
def test_peers_code_gray(name, picture):
    try:
        codecs = peers(name)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert [codec.name.partition(":")[0] for codec in codecs] == [name] * len(codecs)
    codec = codecs[0]
    assert codec.settings
    assert len(codec.ladder) >= 6
    ends = []
    for point in (codec.ladder[0], codec.ladder[-1]):
        data = codec.encode(picture, point)
        decoded = codec.decode(data)
        assert decoded.dtype == np.uint8
        assert decoded.shape == picture.shape
        ends.append((len(data), psnr(picture, decoded, white=255)))
    small, large = sorted(ends)
    assert small[0] < large[0]
    assert 15 < small[1] < large[1]


def test_avif_is_two_codecs():
    assert [codec.name for codec in peers("avif")] == ["avif:tune=psnr", "avif:tune=default"]
    (codec,) = peers("avif:tune=psnr,quality=50")
    assert codec.ladder == (50,)
    assert "4:0:0" in codec.settings
    assert "speed 0" in codec.settings


@pytest.mark.parametrize(
    "name",
    [
        *("jpeg2000", "avif:tune=psnr,speed=6", "jxl:effort=3", "webp:method=0"),
        "hevc:preset=ultrafast,threads=1",
    ],
)
def test_peers_code_colour(name, picture):
    try:
        (codec,) = peers(name, colour=True)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert codec.name == spelled(*parse(name))
    assert "RGB" in codec.settings
    colours = np.stack([picture, picture[::-1], picture[:, ::-1]], axis=2)
    decoded = codec.decode(codec.encode(colours, codec.ladder[len(codec.ladder) // 2]))
    assert decoded.shape == colours.shape
    assert psnr(colours, decoded, white=255) > 20


def test_speed_effort_method_and_preset_are_settings():
    (codec,) = peers("avif:tune=psnr,speed=6")
    assert (codec.name, codec.settings) == (
        "avif:speed=6,tune=psnr",
        "gray (4:0:0), speed 6, tune psnr",
    )
    (codec,) = peers("webp:method=4")
    assert codec.name == "webp:method=4"
    assert codec.settings.startswith("method 4; ")
    pytest.importorskip("imagecodecs")
    (codec,) = peers("jxl:effort=7")
    assert (codec.name, codec.settings) == ("jxl:effort=7", "gray, effort 7")


def test_webp_methods_differ(picture):
    fast, slow = (peers(f"webp:method={method}")[0].encode(picture, 50) for method in (0, 6))
    assert len(slow) < len(fast)


def test_hevc_presets_and_threads(picture):
    pytest.importorskip("av")
    names = ("hevc", "hevc:preset=placebo", "hevc:preset=ultrafast", "hevc:preset=medium,threads=1")
    plain, placebo, fast, single = (peers(name)[0] for name in names)
    assert [codec.name for codec in (plain, placebo, fast, single)] == list(names)
    assert plain.settings == placebo.settings
    assert "preset placebo, tune psnr, several threads" in plain.settings
    assert "preset medium, tune psnr, one thread" in single.settings
    coded = [codec.encode(picture, 30) for codec in (plain, placebo, fast, single)]
    assert coded[0] == coded[1]
    assert len(set(coded)) == 3
    assert len(coded[0]) < len(coded[2])


def test_hevc_needs_x265(monkeypatch):
    av = pytest.importorskip("av")
    monkeypatch.setattr(av, "codecs_available", {"hevc"})
    with pytest.raises(MissingExtra, match=r"hevc: PyAV .* was built without x265"):
        peers("hevc")


def test_other_peers_refuse_colour():
    with pytest.raises(ParameterError, match="'jpeg': codes gray; colour is for jpeg2000"):
        peers("jpeg", colour=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gif", "peer 'gif': must be one of jpeg, jpeg2000, webp, avif, jxl, hevc"),
        ("jpeg:speed=1", "jpeg: unknown option 'speed'; known are quality"),
        ("avif:tune=vmaf", "tune = 'vmaf': must be one of psnr, default, ssim, iq"),
        ("avif:tune=psnr,speed=11", "avif speed = '11': '11' must be an integer from 0 to 10"),
        ("jxl:effort=3/7", "jxl effort = '3/7': '3/7' must be an integer from 1 to 10"),
        ("webp:method=7", "webp method = '7': '7' must be an integer from 0 to 6"),
        ("hevc:preset=best", "hevc: preset = 'best': must be one of ultrafast, superfast, "),
        ("hevc:threads=2", "hevc: threads = '2': must be 1, or left out"),
        ("jpeg:quality=0", "jpeg quality = '0': '0' must be an integer from 1 to 100"),
        ("webp:quality=20.5", "webp quality = '20.5': '20.5' must be an integer from 1 to 100"),
        ("jpeg2000:ratio=0.5", "'0.5' must be a finite number from 1 to 10000"),
    ],
)
def test_bad_peers(text, message):
    with pytest.raises(ParameterError, match=message):
        peers(text)


@pytest.mark.parametrize(("name", "module"), [("jxl", "imagecodecs"), ("hevc", "av")])
def test_missing_package_names_the_extra(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"^{name}: needs .*; .*pip install '.\[bench\]'"):
        peers(name)


def test_pillow_without_a_format(monkeypatch):
    monkeypatch.setattr("PIL.features.check", lambda feature: False)
    for name in IN_PILLOW:
        with pytest.raises(MissingExtra, match=r"Pillow .* was built without it"):
            peers(name)


def template(encode, decode="cp {coded} {output}", more=""):
    return f'[copy]\nencode = "{encode}"\ndecode = "{decode}"\npoints = [2, 1.5]\n{more}'


def test_programs_by_template(picture):
    python = f"{sys.executable} -c 'import shutil, sys; shutil.copy(*sys.argv[1:3])'"
    text = template(f"{python} {{input}} {{coded}} {{point}}", more='knob = "step"')
    (codec,) = commands(text)
    assert (codec.name, codec.knob, codec.ladder) == ("copy", "step", (1.5, 2))
    data = codec.encode(picture, 2)
    assert data.startswith(b"P5")
    assert (codec.decode(data) == picture).all()
    assert codec.versions["encode"] in codec.settings
    assert OURS not in codec.name


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        ("no-such-program {input} {coded} {point}", "no-such-program: No such file"),
        ("false {input} {coded} {point}", "false: exit code 1"),
        ("true {input} {coded} {point}", "the program did not write coded.bin"),
        ("sh -c 'echo │ gone │; echo +---+; exit 1' {input} {coded} {point}", "code 1: gone$"),
        ("cat missing {input} {coded} {point}", "cat: exit code 1: cat: "),
    ],
)
def test_programs_that_fail(picture, encode, message):
    (codec,) = commands(template(encode))
    with pytest.raises(MmpError, match=message):
        codec.encode(picture, 1)


GOOD = template("cp {input} {coded} {point}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "peers.toml: is not TOML"),
        ("", "peers.toml: holds no table"),
        ("x = 1", r"peers.toml: \[x\]: must be a table of encode, decode"),
        (GOOD + "speed = 1", r"\[copy\]: must be a table of encode, decode, points"),
        (GOOD.replace("{point}", ""), r"encode = .* with \{coded\}, \{input\}, \{point\}$"),
        (GOOD.replace("{point}", "{point} {x}"), r"encode = .* must be a command line with"),
        (GOOD.replace("{point}", "{point} {"), r"encode = .* must be a command line with"),
        ("[a]\nencode = 1\ndecode = 2\npoints = []", r"\[a\]: encode = 1: must be a command"),
        (GOOD.replace("[2, 1.5]", "[]"), r"points = \[\]: must be a list of numbers"),
        (GOOD.replace("[2, 1.5]", "['x']"), r"'x' must be a finite number"),
        (GOOD + "suffixes = {in = '.pgm'}", "suffixes = .*: must name input, coded, output"),
        (GOOD + "suffixes = {input = '.gif'}", "extension '.gif' must be one of"),
    ],
)
def test_bad_templates(text, message):
    with pytest.raises(ParameterError, match=message):
        commands(text, "peers.toml")
