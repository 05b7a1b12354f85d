"""Codec strings, our codec and other people's in one shape, and programs by template."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import mmpcodec
from mmpcodec.bench.codecs.base import OURS, RGB, SampleKind, operating_points, parse, spelled
from mmpcodec.bench.codecs.commands import commands
from mmpcodec.bench.codecs.conversion import luma_and_chroma, luma_of, rgb_of
from mmpcodec.bench.codecs.ours import ours, presets
from mmpcodec.bench.codecs.peers import NAMES, peers
from mmpcodec.bench.metrics.psnr import psnr
from mmpcodec.depth import most, sample_type
from mmpcodec.errors import MissingExtra, MmpError, ParameterError
from mmpcodec.samples import Form


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


@pytest.mark.parametrize(
    ("form", "depth", "kept"),
    [
        (Form.GRAY, 8, {"jpeg": ".jpg", "webp": ".webp", "avif": ".avif", "jpeg2000": None}),
        (Form.RGB, 8, {"jpeg": ".jpg", "webp": ".webp", "avif": ".avif", "jpeg2000": None}),
        (Form.RGB_ALPHA, 8, {"webp": None, "avif": None, "jpeg2000": None}),
        (Form.GRAY, 4, {"jpeg": None, "webp": None, "avif": None}),
        (Form.GRAY, 12, {"jpeg2000": None}),
    ],
)
def test_files_that_browsers_decode_are_kept(form, depth, kept):
    """What a browser shows of the others is not what was measured."""
    kind = SampleKind(form, depth)
    for name, suffix in kept.items():
        assert {codec.suffix for codec in peers(name, kind)} == {suffix}
    assert ours({"preset": "lossless"}, [0], kind).suffix == ".mmp"


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


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({"rate_model": "log2"}, "effort 2, rate model log2"),
        ({"preset": "photo", "effort": "3"}, "effort 3"),
        ({"preset": "plain", "threads": "2"}, "rate model adaptive, threads asked for: 2"),
        ({"preset": "lossless"}, "lossless"),
    ],
)
def test_settings_are_those_that_have_an_effect(options, settings):
    assert ours(options).settings == settings


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


def waves(kind):
    """A 64x80 picture of waves, other waves in each plane."""
    rows, columns = np.indices((64, 80))
    planes = [
        0.5 + 0.25 * np.sin(rows / 9 + plane) + 0.2 * np.cos(columns / (5 + plane))
        for plane in range(kind.form.planes)
    ]
    samples = np.rint(np.dstack(planes) * most(kind.depth)).astype(sample_type(kind.depth))
    return samples[..., 0] if kind.form is Form.GRAY else samples


QUICK = {
    "avif": "avif:speed=9",
    "jxl": "jxl:effort=3",
    "hevc": "hevc:preset=ultrafast,threads=1",
}
CODED = {"jpeg": 8, "jpeg2000": 16, "webp": 8, "avif": 12, "jxl": 16, "hevc": 12}
"""Most bits of a sample that a peer codes."""


@pytest.mark.parametrize("depth", [4, 8, 9, 12, 16])
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("name", NAMES)
def test_peers_code_what_they_can_and_refuse_the_rest(name, form, depth):
    kind = SampleKind(form, depth)
    samples = waves(kind)
    try:
        codecs = peers(QUICK.get(name, name), kind)
    except MissingExtra as error:
        pytest.skip(str(error))
    if depth > CODED[name]:
        reason = f"codes at most {CODED[name]} bits a sample, not {depth}$"
    elif form.has_alpha and name in ("jpeg", "hevc"):
        reason = "codes no alpha$"
    else:
        reason = None
    if reason is not None:
        (codec,) = codecs
        assert len(codec.ladder) == 1
        with pytest.raises(ParameterError, match=f"^{name}.*: {reason}"):
            codec.encode(samples, codec.ladder[0])
        return
    for codec in codecs:
        quality, sizes = [], []
        for point in (codec.ladder[0], codec.ladder[-1]):
            data = codec.encode(samples, point)
            decoded = codec.decode(data)
            assert (decoded.shape, decoded.dtype) == (samples.shape, samples.dtype)
            assert decoded.max() <= most(depth)
            one, other = (
                each if each.ndim == 2 else each[..., : form.colours] for each in (samples, decoded)
            )
            found = psnr(one, other, white=most(depth))
            quality.append(100 if found is None else found)
            sizes.append(len(data))
        assert max(quality) > 33
        assert 12 < min(quality) < max(quality)
        assert (sizes[0] < sizes[1]) == (quality[0] < quality[1])


@pytest.mark.parametrize("name", ["jpeg", "avif:speed=9,tune=psnr", "hevc:preset=ultrafast"])
def test_chroma_of_444_and_420(name):
    """Fine colours survive at 4:4:4 only."""
    try:
        full, halved = peers(name, RGB)
    except MissingExtra as error:
        pytest.skip(str(error))
    base, options = parse(name)
    for codec, chroma, title in ((full, "444", "4:4:4"), (halved, "420", "4:2:0")):
        assert codec.name == spelled(base, {**options, "chroma": chroma})
        assert title in codec.settings
        (alone,) = peers(codec.name, RGB)
        assert alone == replace(codec, encode=alone.encode, decode=alone.decode)
    samples = np.zeros((32, 32, 3), np.uint8)
    samples[:, ::2], samples[:, 1::2] = (200, 40, 90), (30, 130, 90)
    best = max if base != "hevc" else min
    found = [
        psnr(samples, codec.decode(codec.encode(samples, best(codec.ladder))), white=255)
        for codec in (full, halved)
    ]
    assert found[0] > found[1] + 5


def test_chroma_has_no_effect_on_gray(picture):
    plain, halved = peers("jpeg")[0], peers("jpeg:chroma=420")[0]
    assert plain.name == halved.name == "jpeg"
    assert plain.encode(picture, 50) == halved.encode(picture, 50)


def test_avif_takes_one_thread_and_one_tile(monkeypatch):
    """Its bytes would depend on the machine."""
    options = {}
    monkeypatch.setattr(Image.Image, "save", lambda *_, **given: options.update(given))
    (codec,) = peers("avif:tune=psnr,speed=9")
    codec.encode(waves(SampleKind()), 50)
    assert (options["max_threads"], options["autotiling"], options["speed"]) == (1, False, 9)


def test_a_tune_of_avif_is_for_8_bits():
    (codec,) = peers("avif:tune=psnr", SampleKind(depth=10))
    with pytest.raises(ParameterError, match="more than 8 bits a sample only with tune=default"):
        codec.encode(waves(SampleKind(depth=10)), 50)
    pytest.importorskip("imagecodecs")
    assert [codec.name for codec in peers("avif", SampleKind(depth=10))] == ["avif:tune=default"]


def test_jpeg2000_takes_a_ratio_of_8_bits_and_a_psnr_of_more():
    pytest.importorskip("imagecodecs")
    text = "jpeg2000:ratio=9,psnr=40"
    for depth, knob, point in ((8, "ratio", 9), (10, "psnr", 40)):
        (codec,) = peers(text, SampleKind(depth=depth))
        assert (codec.name, codec.knob, codec.ladder) == ("jpeg2000", knob, (point,))


def test_hevc_at_420_needs_even_sides():
    pytest.importorskip("av")
    (codec,) = peers("hevc:chroma=420", RGB)
    with pytest.raises(ParameterError, match=r"even width and height, not 80x63"):
        codec.encode(waves(RGB)[:63], 30)


def test_luma_is_that_of_pillow():
    samples = np.random.default_rng(2).integers(0, 256, (40, 50, 3)).astype(np.uint8)
    np.testing.assert_array_equal(
        luma_of(samples), np.asarray(Image.fromarray(samples).convert("L"))
    )
    deep = np.full((2, 2, 3), 65535, np.uint16)
    assert (luma_of(deep) == 65535).all()


def test_luma_and_chroma_and_back():
    for depth in (8, 12):
        samples = waves(SampleKind(Form.RGB, depth))
        planes = luma_and_chroma(samples, depth, halved=False)
        assert np.abs(rgb_of(planes, depth).astype(int) - samples).max() <= 2
        planes = luma_and_chroma(samples, depth, halved=True)
        assert [plane.shape for plane in planes] == [(64, 80), (32, 40), (32, 40)]
        assert psnr(samples, rgb_of(planes, depth), white=most(depth)) > 40
    gray = np.full((4, 6, 3), 77, np.uint8)
    luma, *chroma = luma_and_chroma(gray, 8, halved=False)
    assert (luma == 77).all()
    assert all((plane == 128).all() for plane in chroma)


def test_our_codec_of_other_kinds():
    for kind in (
        SampleKind(Form.RGB_ALPHA, 8),
        SampleKind(Form.GRAY, 12),
        SampleKind(Form.RGB, 16),
    ):
        samples = waves(kind)
        codec = ours({}, [16], kind)
        data = codec.encode(samples, 16)
        assert data == mmpcodec.encode(samples, 16, depth=kind.depth)
        header = mmpcodec.inspect(data).header
        assert (header.form, header.depth) == (kind.form, kind.depth)
        assert (codec.decode(data) == mmpcodec.decode(data)).all()
        assert [edge.shape for edge in codec.edges(data)] == [(64, 80)] * 2
    assert presets(SampleKind(depth=12)) == ("mmp:preset=photo",)
    refusing = ours({"preset": "text"}, [8, 16], SampleKind(depth=12))
    assert refusing.ladder == (8,)
    with pytest.raises(ParameterError, match=r"mmp:preset=text: .*take preset photo or lossless"):
        refusing.encode(waves(SampleKind(depth=12)), 8)


def test_speed_effort_method_and_preset_are_settings():
    (codec,) = peers("avif:tune=psnr,speed=6")
    assert (codec.name, codec.settings) == (
        "avif:speed=6,tune=psnr",
        "gray (4:0:0), speed 6, tune psnr, one thread",
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gif", "peer 'gif': must be one of jpeg, jpeg2000, webp, avif, jxl, hevc"),
        ("jpeg:speed=1", "jpeg: unknown option 'speed'; known are chroma, quality"),
        ("jpeg:chroma=422", "jpeg: chroma = '422': must be one of 444, 420"),
        ("webp:chroma=444", "webp: unknown option 'chroma'; known are method, quality"),
        ("jpeg2000:psnr=5", "jpeg2000 psnr = '5': '5' must be a finite number from 10 to 150"),
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
    for name in ("jpeg", "jpeg2000", "webp", "avif"):
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
    "kind", [SampleKind(Form.RGB), SampleKind(Form.RGB_ALPHA), SampleKind(depth=12)]
)
def test_programs_get_pictures_of_their_kind(kind):
    samples = waves(kind)
    python = f"{sys.executable} -c 'import shutil, sys; shutil.copy(*sys.argv[1:3])'"
    (codec,) = commands(template(f"{python} {{input}} {{coded}} {{point}}"), kind=kind)
    data = codec.encode(samples, 2)
    magic = {Form.GRAY: b"P5", Form.RGB: b"P6", Form.RGB_ALPHA: b"P7"}[kind.form]
    assert data.startswith(magic)
    assert (codec.decode(data) == samples).all()
    with pytest.raises(MmpError, match=f"must be {kind.form.title} of {kind.depth}"):
        codec.decode(b"P5\n1 1\n3\n\0")


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
        ("a = " + "[" * 200_000, "peers.toml: is not TOML"),
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
