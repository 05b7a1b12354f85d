"""Tiles for viewers of other programs: IIIF and Deep Zoom, by the samples of their answers."""

import io
import json
import re
import threading
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from support.web.asking import ask, ask_whole

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.turning import turned
from mmpcodec.codec.tiles.reduction import reduced
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.exif import with_orientation
from mmpcodec.web.server import PageServer, ServedFile

HEIGHT, WIDTH = 900, 1300


def shades(height, width, planes=3, most=255):
    rows, columns = np.indices((height, width))
    found = np.stack([(rows * (k + 1) + columns * 2) % most for k in range(planes)], axis=2)
    kind = np.uint8 if most < 256 else np.uint16
    return found.astype(kind) if planes > 1 else found[..., 0].astype(kind)


@pytest.fixture(scope="module")
def samples():
    return shades(HEIGHT, WIDTH)


@pytest.fixture(scope="module")
def server(tmp_path_factory, samples):
    """Serves lossless files: of tiles, of two pages, deep, with alpha, turned, and a PNG."""
    folder = tmp_path_factory.mktemp("tiles")
    (folder / "sub").mkdir()
    how = {"effort": 1, "preset": "lossless"}
    (folder / "sub" / "a b.mmp").write_bytes(mmpcodec.encode(samples, 0, tile_size=256, **how))
    with open(folder / "book;2.mmp", "wb") as stream:
        writer = CollectionWriter(stream)
        for level in (10, 200):
            writer.add(mmpcodec.encode(np.full((20, 30), level, np.uint8), 0, **how))
        writer.close()
    deep = shades(64, 600, 1, 5000) + 1000
    (folder / "deep.mmp").write_bytes(mmpcodec.encode(deep, 0, **how))
    alpha = np.zeros((30, 40, 4), np.uint8)
    alpha[:, 20:] = 10, 20, 30, 255
    (folder / "alpha.mmp").write_bytes(mmpcodec.encode(alpha, 0, **how))
    for orientation in range(1, 9):
        metadata = Metadata(exif=with_orientation(b"", orientation))
        data = mmpcodec.encode(samples[:70, :130], 0, metadata=metadata, **how)
        (folder / f"turned{orientation}.mmp").write_bytes(data)
    pictures.write(samples, folder / "b.png")
    (folder / "broken.mmp").write_bytes((folder / "deep.mmp").read_bytes()[:-5])
    (folder / "secret.txt").write_text("secret")
    names = ["sub/a b.mmp", "book;2.mmp", "deep.mmp", "alpha.mmp", "b.png", "broken.mmp"]
    names += [f"turned{orientation}.mmp" for orientation in range(1, 9)]
    files = [ServedFile(str(folder / name), name) for name in names]
    with PageServer(files, decoder="const decoder = {};", tiled=True) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def image(server, path):
    """Samples of an answer."""
    status, headers, body = ask(server, path)
    assert status == 200, body
    assert headers["Content-Type"] == f"image/{'png' if path.endswith('png') else 'jpeg'}"
    return np.asarray(Image.open(io.BytesIO(body)))


def iiif(name, rest):
    return f"iiif/{quote(name, safe='')}/{rest}"


@pytest.mark.parametrize(
    ("region", "size", "area"),
    [
        ("full", "max", (0, 0, WIDTH, HEIGHT)),
        ("0,0,512,512", "512,512", (0, 0, 512, 512)),
        ("512,512,9999,9999", "max", (512, 512, WIDTH - 512, HEIGHT - 512)),
        ("square", "900,", ((WIDTH - HEIGHT) // 2, 0, HEIGHT, HEIGHT)),
    ],
)
def test_regions_of_full_size_are_exact(server, samples, region, size, area):
    found = image(server, iiif("sub/a b.mmp", f"{region}/{size}/0/default.png"))
    x, y, width, height = area
    np.testing.assert_array_equal(found, samples[y : y + height, x : x + width])


@pytest.mark.parametrize("name", ["sub/a b.mmp", "b.png"])
def test_regions_at_half_the_size_are_means(server, samples, name):
    found = image(server, iiif(name, "full/650,450/0/default.png"))
    np.testing.assert_array_equal(found, reduced(samples, 2, 8, 8))
    part = image(server, iiif(name, "1024,0,276,900/69,225/0/default.png"))
    np.testing.assert_array_equal(part, reduced(samples[:, 1024:], 4, 8, 8))
    for size in ("100,", ",100", "144,100"):  # of another ratio
        odd = image(server, iiif(name, f"7,9,801,555/{size}/0/default.png")).astype(int)
        assert 100 in odd.shape[:2]
        assert abs(odd.mean() - samples[9:564, 7:808].mean()) < 2


def test_information(server):
    status, headers, body = ask(server, iiif("sub/a b.mmp", "info.json"))
    found = json.loads(body)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert found["id"] == f"{server.address}iiif/sub%2Fa%20b.mmp"
    assert (found["width"], found["height"], found["profile"]) == (WIDTH, HEIGHT, "level1")
    assert found["@context"] == "http://iiif.io/api/image/3/context.json"
    assert (found["type"], found["protocol"]) == ("ImageService3", "http://iiif.io/api/image")
    assert found["tiles"] == [{"width": 512, "height": 512, "scaleFactors": [1, 2, 4]}]
    assert found["sizes"][0] == {"width": 325, "height": 225}
    assert headers["Access-Control-Allow-Origin"] == "*"
    linked = ask(server, iiif("b.png", "info.json"), Accept="application/ld+json")[1]
    assert linked["Content-Type"].startswith("application/ld+json;profile=")
    status, headers, _ = ask(server, "iiif/b.png")
    assert (status, headers["Location"]) == (303, f"{server.address}iiif/b.png/info.json")


def test_deep_zoom_is_the_picture_at_all_levels(server, samples):
    body = ask(server, "dzi/sub%2Fa%20b.mmp.dzi")[2].decode()
    assert f'<Size Width="{WIDTH}" Height="{HEIGHT}"/>' in body
    assert 'TileSize="512"' in body
    assert 'Overlap="0"' in body
    for level in (11, 10, 9, 3, 0):
        factor = 1 << 11 - level
        small = reduced(samples, factor, 8, 8)
        rows = []
        for row in range(-(-small.shape[0] // 512)):
            place = f"dzi/sub%2Fa%20b.mmp_files/{level}"
            across = range(-(-small.shape[1] // 512))
            rows.append([image(server, f"{place}/{column}_{row}.png") for column in across])
        np.testing.assert_array_equal(np.concatenate([np.concatenate(r, 1) for r in rows]), small)
    status, _, body = ask(server, "dzi/b.png_files/12/0_0.jpg")
    assert (status, body) == (404, b"level 12: must be 0 to 11")
    assert ask(server, "dzi/b.png_files/11/3_0.jpg")[0] == 404


def test_jpeg_is_near(server, samples):
    found = image(server, iiif("b.png", "0,0,64,64/max/0/default.jpg")).astype(int)
    assert np.abs(found - samples[:64, :64]).mean() < 12
    alpha = image(server, iiif("alpha.mmp", "full/max/0/default.jpg"))
    assert alpha[5, 5].tolist() == [255, 255, 255]  # JPEG has no alpha: white lies below
    assert np.abs(alpha[5, 30].astype(int) - (10, 20, 30)).max() < 4
    assert image(server, iiif("alpha.mmp", "full/max/0/default.png")).shape == (30, 40, 4)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_are_upright(server, samples, orientation):
    upright = turned(samples[:70, :130], orientation)
    name = f"turned{orientation}.mmp"
    height, width = upright.shape[:2]
    assert json.loads(ask(server, iiif(name, "info.json"))[2])["width"] == width
    found = image(server, iiif(name, "full/max/0/default.png"))
    np.testing.assert_array_equal(found, upright)
    part = image(server, iiif(name, "8,4,48,60/48,60/0/default.png"))
    np.testing.assert_array_equal(part, upright[4:64, 8:56])
    half = image(server, iiif(name, f"full/{width // 2},{height // 2}/0/default.png"))
    np.testing.assert_array_equal(half, turned(reduced(samples[:70, :130], 2, 8, 8), orientation))


def test_deep_samples_have_one_range_for_all_parts(server):
    whole = image(server, iiif("deep.mmp", "full/max/0/default.png"))
    assert whole.dtype == np.uint8
    assert (int(whole.min()), int(whole.max())) == (0, 255)
    part = image(server, iiif("deep.mmp", "100,10,50,20/max/0/default.png"))
    np.testing.assert_array_equal(part, whole[10:30, 100:150])


def test_pages_of_books(server):
    for page, level in ((";1", 10), (";2", 200), ("", 10)):
        found = image(server, iiif(f"book;2.mmp{page}", "full/max/0/default.png"))
        assert (found == level).all()
    tile = image(server, f"dzi/{quote('book;2.mmp;2', safe='')}_files/5/0_0.png")
    assert (tile == 200).all()
    status, _, body = ask(server, iiif("book;2.mmp;3", "info.json"))
    assert (status, body) == (404, b"book;2.mmp: there is no page 3; it has 1 to 2")
    listed = json.loads(ask(server, "pictures.json")[2])
    found = [(each["name"], each["page"]) for each in listed]
    assert found[:4] == [("sub/a b.mmp", 1), ("book;2.mmp", 1), ("book;2.mmp", 2), ("deep.mmp", 1)]
    for each in listed[:4]:
        for kind in ("iiif", "dzi"):
            assert ask_whole(server, re.sub(r"^http://[^/]+", "", each[kind]))[0] == 200


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        ("full/max/0/default.tif", 501),
        ("full/max/90/default.jpg", 501),
        ("full/max/0/gray.jpg", 501),
        ("full/^max/0/default.jpg", 501),
        ("full/!100,100/0/default.jpg", 501),
        ("pct:0,0,10,10/max/0/default.jpg", 501),
        ("full/pct:10/0/default.jpg", 501),
        ("full/max/x/default.jpg", 400),
        ("0,0,0,10/max/0/default.jpg", 400),
        (f"{WIDTH},0,10,10/max/0/default.jpg", 400),
        ("-1,0,10,10/max/0/default.jpg", 400),
        ("0,0,10/max/0/default.jpg", 400),
        ("0,0,1e3,10/max/0/default.jpg", 400),
        ("0,0,99999999999999999999,10/max/0/default.jpg", 400),
        ("full/0,10/0/default.jpg", 400),
        ("full/1301,900/0/default.jpg", 400),
        ("full/,/0/default.jpg", 400),
        ("full/max/0", 400),
        ("full/max/0/default.jpg/more", 400),
        ("%2e%2e/max/0/default.jpg", 400),
        ("full/max/0/default.", 400),
    ],
)
def test_other_parameters_are_refused(server, rest, status):
    found, headers, body = ask(server, iiif("b.png", rest))
    assert found == status, body
    assert headers["Content-Type"].startswith("text/plain")
    assert len(body) < 200


@pytest.mark.parametrize(
    "path",
    [
        "iiif/secret.txt/info.json",
        "iiif/..%2Fsecret.txt/info.json",
        "iiif/%2Fetc%2Fpasswd/info.json",
        "iiif/../../etc/passwd/info.json",
        "iiif/b.png%00/info.json",
        "iiif/b.png;/info.json",
        "iiif/b.png;-1/info.json",
        "iiif/b.png;2/info.json",
        "iiif/b.png;0/info.json",
        "iiif/b.png;999999999/info.json",
        "iiif//info.json",
        "iiif",
        "iiif/",
        "dzi/../secret.txt.dzi",
        "dzi/secret.txt.dzi",
        "dzi/b.png",
        "dzi/b.png_files/99999/0_0.jpg",
        "dzi/b.png_files/11/-1_0.jpg",
        "dzi/b.png_files/11/0_0.gif",
        "pictures.json/b.png",
    ],
)
def test_only_the_files_of_the_server_are_found(server, path):
    status, _, body = ask(server, path)
    assert status == 404, (status, body)
    assert b"secret" not in body
    assert b"root:" not in body


def test_damage_is_told(server):
    status, _, body = ask(server, iiif("broken.mmp", "full/max/0/default.jpg"))
    assert status == 500
    assert b"broken.mmp" in body


def test_nothing_without_the_token(server):
    for path in ("/iiif/b.png/info.json", "/x/iiif/b.png/info.json", "/x/pictures.json"):
        assert ask_whole(server, path)[0] == 404
    status, _, _ = ask(server, iiif("b.png", "info.json"), Host="evil.example")
    assert status == 404


def test_browsers_may_keep_answers(server):
    path = iiif("b.png", "full/100,/0/default.jpg")
    _, headers, _ = ask(server, path)
    assert headers["Cache-Control"] == "private, max-age=60"
    status, again, body = ask(server, path, **{"If-None-Match": headers["ETag"]})
    assert (status, again["ETag"], body) == (304, headers["ETag"], b"")
    assert ask(server, path, **{"If-None-Match": '"other"'})[0] == 200
    assert ask(server, iiif("b.png", "x"))[1]["Cache-Control"] == "no-store"


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "a.mmp"
    path.write_bytes(mmpcodec.encode(np.full((20, 20), 10, np.uint8), 0))
    with PageServer([ServedFile(str(path), "a.mmp")], decoder=";", tiled=True) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = iiif("a.mmp", "full/max/0/default.png")
        assert (image(server, address) == 10).all()
        path.write_bytes(mmpcodec.encode(np.full((21, 20), 99, np.uint8), 0))
        assert (image(server, address) == 99).all()
        server.shutdown()


def test_a_server_without_tiles_has_no_such_addresses(tmp_path):
    path = tmp_path / "a.mmp"
    path.write_bytes(mmpcodec.encode(np.zeros((9, 9), np.uint8)))
    with PageServer([ServedFile(str(path), "a.mmp")], decoder=";") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert ask(server, "pictures.json")[0] == 404
        assert ask(server, "iiif/a.mmp/info.json")[0] == 404
        server.shutdown()
