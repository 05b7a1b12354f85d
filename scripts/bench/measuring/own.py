"""Pictures of the measuring set that are drawn by code: charts, maps, code, chats, screens, pages.

All text and numbers in them are invented. The fonts are those of the package matplotlib. Equal
versions of matplotlib, NumPy, Pillow and Pygments draw equal pictures; the list names the versions.
"""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

PICTURES: dict[str, Callable[[], Image.Image]] = {}
"""The function that draws each picture, by its name."""

SENTENCES = (
    "The ferry leaves at a quarter past nine if the tide allows it.",
    "Bring the long ladder, the short one does not reach the gutter.",
    "Most of the wheat was cut before the storm came over the hills.",
    "Did anyone count the boxes in the cellar? I found 117 of them.",
    "We moved the meeting to Thursday, 14:30, in the small room.",
    "The new pump needs 2.4 kW and is much quieter than the old one.",
    "Nobody reads the sign at the gate, so the geese walk in again.",
    "Thank you!",
    "Ok, see you there",
    "The bakery opens at six; ask for the dark rye with caraway.",
    "Half of the lamps in Harbour Street are out, I wrote to the council.",
    "Rain until noon, then wind from the west, 5 to 6.",
)


STREETS = ("Mill", "Park", "Station", "Church", "Well")
ROOMS = ("general", "harbour", "kitchen", "garden", "repairs", "music", "lost-and-found")
PEOPLE = {
    "Ada": (224, 30, 90),
    "Bruno": (46, 182, 125),
    "Chidi": (236, 178, 46),
    "Dora": (54, 197, 240),
    "Emil": (120, 90, 200),
}

Colour = tuple[int, int, int]


def drawn(draw: Callable[[], Image.Image]) -> Callable[[], Image.Image]:
    """Put a function into ``PICTURES`` under its name."""
    PICTURES[draw.__name__] = draw
    return draw


def font(size: int, name: str = "DejaVuSans") -> ImageFont.FreeTypeFont:
    """Return a font of matplotlib."""
    import matplotlib

    path = Path(matplotlib.get_data_path()) / "fonts/ttf" / f"{name}.ttf"
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def figure(style: str, width: float = 9, height: float = 6, *, fitted: bool = True):
    """Return an empty figure of 100 pixels an inch in a style of matplotlib."""
    from matplotlib import rcdefaults
    from matplotlib import style as styles
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rcdefaults()
    styles.use(style)
    made = Figure(figsize=(width, height), dpi=100, layout="constrained" if fitted else None)
    FigureCanvasAgg(made)
    return made


def rendered(made) -> Image.Image:
    """Return the pixels of a figure."""
    stream = io.BytesIO()
    made.savefig(stream, format="png")
    return Image.open(stream).convert("RGB")


@drawn
def chart_lines() -> Image.Image:
    made, random = figure("default"), np.random.default_rng(1)
    axes = made.add_subplot()
    for number, town in enumerate(("Arlen", "Bridgeford", "Cawl", "Dunmouth")):
        level = np.cumsum(random.normal(0, 1, 400)) + 12 * number
        axes.plot(level, linewidth=1.2, label=town)
        axes.fill_between(np.arange(400), level - 3, level + 3, alpha=0.2)
    axes.set(title="Level of four wells, 2019 to 2023", xlabel="week", ylabel="level, cm")
    axes.grid(visible=True)
    axes.legend()
    return rendered(made)


@drawn
def chart_bars_dark() -> Image.Image:
    made, random = figure("dark_background"), np.random.default_rng(2)
    axes = made.add_subplot()
    months = [f"{month:02d}" for month in range(1, 13)]
    for number, kind in enumerate(("sun", "wind", "water")):
        values = random.uniform(5, 40, 12).round(1)
        bars = axes.bar(np.arange(12) + 0.27 * number, values, 0.25, yerr=values / 9, label=kind)
        axes.bar_label(bars, fontsize=6, padding=2)
    axes.set_xticks(np.arange(12) + 0.27, months)
    axes.set(title="Energy by month", ylabel="GWh")
    axes.legend(ncols=3)
    return rendered(made)


@drawn
def chart_numbers() -> Image.Image:
    made, random = figure("default", 9, 8), np.random.default_rng(3)
    axes = made.add_subplot()
    values = np.asarray(np.corrcoef(random.normal(size=(16, 24)) + random.normal(size=24) * 0.7))
    shown = axes.imshow(values, cmap="RdYlBu_r", vmin=-1, vmax=1)
    for row, column in np.ndindex(values.shape):
        value = f"{values[row, column]:.2f}"
        axes.text(column, row, value, ha="center", va="center", fontsize=7)
    axes.set_xticks(range(16), [f"station {n:02d}" for n in range(16)], rotation=60, ha="right")
    axes.set_yticks(range(16), [f"station {n:02d}" for n in range(16)])
    made.colorbar(shown)
    return rendered(made)


@drawn
def chart_points() -> Image.Image:
    made, random = figure("ggplot", 9, 7), np.random.default_rng(4)
    axes = made.subplots(2, 2)
    for number, part in enumerate(axes.flat):
        at = random.multivariate_normal((0, 0), ((1, 0.8), (0.8, 1.5)), 1500)
        part.scatter(
            *at.T, c=np.hypot(*at.T), s=9, alpha=0.5, cmap=("viridis", "magma")[number % 2]
        )
        part.set_title(f"Sample {'ABCD'[number]}, n = 1500", fontsize=9)
    axes[1, 1].clear()
    axes[1, 1].hist(random.gamma(3, 2, 4000), bins=60, color="tab:green", edgecolor="white")
    return rendered(made)


def land(side: int, seed: int) -> np.ndarray:
    """Return heights of a made land, from 0 to 1: noise whose power falls with its frequency."""
    random = np.random.default_rng(seed)
    across, down = np.meshgrid(np.fft.fftfreq(side), np.fft.fftfreq(side))
    weight = 1 / (np.hypot(across, down) + 2 / side) ** 2.8
    noise = random.normal(size=(side, side)) + 1j * random.normal(size=(side, side))
    heights = np.fft.ifft2(weight * noise).real
    return (heights - heights.min()) / np.ptp(heights)


@drawn
def map_contours() -> Image.Image:
    from matplotlib.colors import LightSource

    made, heights = figure("default", 10, 10, fitted=False), land(500, 5)
    axes = made.add_axes((0, 0, 1, 1))
    shade = LightSource(315, 40).hillshade(heights, vert_exag=400)
    axes.imshow(heights, cmap="terrain", vmin=-0.4, vmax=1.1, interpolation="bilinear")
    axes.imshow(shade, cmap="gray", alpha=0.35, interpolation="bilinear")
    axes.contour(heights, 40, colors="saddlebrown", linewidths=0.5)
    lines = axes.contour(heights, 10, colors="saddlebrown", linewidths=1.2)
    axes.clabel(lines, fmt=lambda level: f"{1200 * level:.0f}", fontsize=7)
    random = np.random.default_rng(6)
    for name in ("Hale Moor", "Torfell", "High Crag", "Wick", "Ostby", "Lower Dean", "Stanning"):
        across, down = random.uniform(40, 420, 2)
        axes.plot(across, down, "k^", markersize=6)
        axes.text(across + 7, down, name, fontsize=13, style="italic")
    axes.set_axis_off()
    return rendered(made)


@drawn
def map_streets() -> Image.Image:
    made, random = figure("default", 10, 10, fitted=False), np.random.default_rng(7)
    axes = made.add_axes((0, 0, 1, 1), xlim=(0, 100), ylim=(0, 100), facecolor="#f2efe9")
    axes.fill_between(np.linspace(0, 100, 300), *_river(), color="#aad3df")
    bend = np.linspace(-3, 103, 60)
    for _ in range(900):
        left, low = random.uniform(0, 100, 2)
        axes.add_patch(_block(left, low, random))
    for number in range(26):
        major = number % 6 == 0
        at = random.uniform(0, 100)
        wave = at + 1.5 * np.sin(bend / random.uniform(8, 20)) + 0.08 * bend
        line = (bend, wave) if number % 2 else (wave, bend)
        axes.plot(*line, color="#b0956a" if major else "#bbbbbb", linewidth=11 if major else 7)
        axes.plot(*line, color="#fcd6a4" if major else "white", linewidth=9 if major else 5.5)
        street = f"{STREETS[number % 5]} {'Road' if major else 'Street'}"
        for spot in (15, 42):
            axes.text(
                line[0][spot],
                line[1][spot],
                street,
                fontsize=6.5,
                ha="center",
                va="center",
                rotation=5 if number % 2 else 86,
            )
    axes.set_axis_off()
    axes.patch.set_visible(True)
    made.set_facecolor("#f2efe9")
    return rendered(made)


def _river() -> tuple[np.ndarray, np.ndarray]:
    across = np.linspace(0, 100, 300)
    middle = 35 + 12 * np.sin(across / 17) + 0.2 * across
    return middle - 4, middle + 4


def _block(left: float, low: float, random: np.random.Generator):
    from matplotlib.patches import Rectangle

    width, height = random.uniform(0.6, 2.2, 2)
    angle = random.uniform(-12, 12)
    return Rectangle((left, low), width, height, angle=angle, fc="#d9d0c9", ec="#b5a89b", lw=0.6)


def code(style: str, path: str, size: int, first: int, scale: int = 1) -> Image.Image:
    """Draw lines of a source file of Pygments as a code editor shows them, at a scale."""
    import pygments
    from pygments.lexers import PythonLexer
    from pygments.styles import get_style_by_name

    chosen = get_style_by_name(style)
    text = (Path(pygments.__file__).parent / path).read_text("utf-8").splitlines()
    lines = "\n".join(text[first : first + 60])
    picture = Image.new("RGB", (1000 * scale, 800 * scale), chosen.background_color)
    draw, face = ImageDraw.Draw(picture), font(size * scale, "DejaVuSansMono")
    advance, high = face.getlength("m"), size * scale * 3 // 2
    column, row = 6, 0
    draw.text((8 * scale, 0), f"{first + 1:4d}", "#888888", face)
    for kind, value in PythonLexer().get_tokens(lines):
        color = "#" + (chosen.style_for_token(kind)["color"] or "888888")
        for mark in value:
            if mark == "\n":
                column, row = 6, row + 1
                draw.text((8 * scale, row * high), f"{first + row + 1:4d}", "#888888", face)
            else:
                draw.text((8 * scale + column * advance, row * high), mark, color, face)
                column += 1
    return picture


def subpixels(large: Image.Image) -> Image.Image:
    """Reduce a picture to a third: each colour of a pixel has a column of its own."""
    wide = large.resize((large.width, large.height // 3), Image.Resampling.BOX)
    samples = np.pad(np.asarray(wide, np.uint16), ((0, 0), (1, 1), (0, 0)), "edge")
    soft = (samples[:, :-2] + samples[:, 1:-1] + samples[:, 2:]) // 3
    columns = [soft[:, number::3, number] for number in range(3)]
    return Image.fromarray(np.stack(columns, -1).astype(np.uint8))


@drawn
def code_light() -> Image.Image:
    return code("default", "lexer.py", 14, 120)


@drawn
def code_dark() -> Image.Image:
    return code("monokai", "formatters/html.py", 15, 470)


@drawn
def code_dark_large() -> Image.Image:
    return code("nord", "lexers/javascript.py", 14, 60, 2).crop((0, 0, 1200, 1000))


@drawn
def code_subpixels() -> Image.Image:
    return subpixels(code("friendly", "style.py", 13, 100, 3))


def wrapped(text: str, face: ImageFont.FreeTypeFont, width: float) -> list[str]:
    """Break a text into lines of at most a width in pixels."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if face.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def photograph(name: str, width: int, height: int) -> Image.Image:
    """Return the middle of a photograph of scikit-image (CC0) in a size."""
    import skimage

    with Image.open(Path(skimage.__file__).parent / "data" / name) as opened:
        return ImageOps.fit(opened.convert("RGB"), (width, height))


def phone(back: Colour, theirs: Colour, mine: Colour, seed: int, shown: str) -> Image.Image:
    """Draw a chat with bubbles as a phone of two pixels a point shows it."""
    random = np.random.default_rng(seed)
    ink = (235, 235, 240) if sum(back) < 300 else (20, 20, 25)
    picture = Image.new("RGB", (780, 1280), back)
    draw, face, small = ImageDraw.Draw(picture), font(30), font(20)
    low = 24
    for number in range(12):
        own = bool(random.integers(2))
        text = SENTENCES[int(random.integers(len(SENTENCES)))]
        lines = wrapped(text, face, 500)
        photo = number == 4
        high = 300 if photo else 40 * len(lines) + 54
        width = 400 if photo else max(int(max(map(face.getlength, lines))) + 48, 150)
        left = 780 - 24 - width if own else 24
        if photo:
            picture.paste(photograph(shown, width, high), (left, low))
        else:
            box = (left, low, left + width, low + high)
            draw.rounded_rectangle(box, 26, mine if own else theirs)
            color = (255, 255, 255) if own else ink
            for row, line in enumerate(lines):
                draw.text((left + 24, low + 14 + 40 * row), line, color, face)
            time = f"{9 + number // 6}:{7 * number % 60:02d}"
            draw.text((left + width - 84, low + high - 32), time, (150, 155, 165), small)
        low += high + 18
    return picture


@drawn
def chat_phone_light() -> Image.Image:
    return phone((255, 255, 255), (233, 233, 235), (0, 122, 255), 11, "coffee.png")


@drawn
def chat_phone_dark() -> Image.Image:
    return phone((14, 22, 33), (24, 37, 51), (43, 82, 120), 12, "chelsea.png")


def team(back: Colour, side: Colour, ink: Colour, seed: int) -> Image.Image:
    """Draw a chat of a team with its channels beside it, one pixel a point."""
    random = np.random.default_rng(seed)
    picture = Image.new("RGB", (1024, 768), back)
    draw, face, bold = ImageDraw.Draw(picture), font(15), font(15, "DejaVuSans-Bold")
    draw.rectangle((0, 0, 230, 768), side)
    for number, name in enumerate(ROOMS):
        if number == 2:
            draw.rounded_rectangle((10, 60 + 32 * number, 220, 90 + 32 * number), 6, (18, 100, 163))
        draw.text((24, 66 + 32 * number), f"# {name}", (200, 190, 205), face)
    draw.text((24, 20), "Harbour house", (255, 255, 255), font(18, "DejaVuSans-Bold"))
    low = 16
    while low < 700:
        name = list(PEOPLE)[int(random.integers(5))]
        draw.rounded_rectangle((250, low, 286, low + 36), 5, PEOPLE[name])
        draw.text((262, low + 8), name[0], (255, 255, 255), bold)
        draw.text((300, low), name, ink, bold)
        draw.text((370, low + 2), f"{8 + low // 90}:{low % 60:02d}", (130, 130, 135), font(12))
        low += 22
        for _ in range(int(random.integers(1, 4))):
            for line in wrapped(SENTENCES[int(random.integers(len(SENTENCES)))], face, 640):
                draw.text((300, low), line, ink, face)
                low += 21
        low += 16
    return picture


@drawn
def chat_team_light() -> Image.Image:
    return team((255, 255, 255), (63, 14, 64), (29, 28, 29), 13)


@drawn
def chat_team_dark() -> Image.Image:
    return team((26, 29, 33), (18, 16, 22), (209, 210, 211), 14)


@drawn
def screen_terminal() -> Image.Image:
    random = np.random.default_rng(15)
    picture = Image.new("RGB", (960, 640), (12, 12, 16))
    draw, face = ImageDraw.Draw(picture), font(14, "DejaVuSansMono")
    colors = ((204, 204, 204), (97, 214, 214), (22, 198, 12), (231, 72, 86), (249, 241, 165))
    for row in range(36):
        kind, size = int(random.integers(5)), int(random.integers(99, 99999))
        text = (
            f"drwxr-xr-x {size % 9} root staff {size:6d} Nov {row % 28 + 1:2d} 11:{row:02d} ",
            f"[{row:3d}/36] building target part_{random.integers(999)}.o",
            f"ok   test_{random.integers(999):03d}  {random.uniform(0, 9):.3f} s",
            f"error: line {random.integers(999)}: expected ';' before '}}'",
            f"warning: {SENTENCES[row % len(SENTENCES)][:50]}",
        )[kind]
        draw.text((6, 4 + 17.5 * row), text, colors[kind], face)
        if kind == 0:
            draw.text((470, 4 + 17.5 * row), f"folder-{random.integers(99)}/", (59, 120, 255), face)
    return picture


@drawn
def document_leaflet() -> Image.Image:
    picture = Image.new("RGB", (1000, 1024), (252, 250, 244))
    draw, face = ImageDraw.Draw(picture), font(17, "DejaVuSerif")
    draw.rectangle((0, 0, 1000, 120), (16, 82, 96))
    draw.text((40, 30), "Coffee by the harbour", (250, 236, 200), font(46, "DejaVuSerif-Bold"))
    picture.paste(photograph("coffee.png", 440, 300), (520, 150))
    draw.text((520, 456), "Fig. 1: one of the cups", (110, 100, 90), font(13, "DejaVuSerif-Italic"))
    for column, (left, low) in enumerate(((40, 150), (520, 500))):
        for line in wrapped(" ".join((SENTENCES * 3)[5 * column :]), face, 440):
            if low > 700:
                break
            draw.text((left, low), line, (40, 36, 32), face)
            low += 26
    for row in range(9):
        low = 730 + 30 * row
        fill = (16, 82, 96) if not row else (236, 229, 214) if row % 2 else (252, 250, 244)
        draw.rectangle((40, low, 960, low + 30), fill)
        cells = (f"no. {row}", str(7 * row), f"{1.9 * row:.2f}", str(1990 + row))
        color = (40, 36, 32) if row else (255, 255, 255)
        for column, cell in enumerate(cells if row else ("dish", "cups", "price", "since")):
            draw.text((60 + 230 * column, low + 5), cell, color, face)
    return picture


@drawn
def document_slide() -> Image.Image:
    ramp = np.linspace((20, 40, 110), (90, 30, 120), 720)[:, None].repeat(1024, 1)
    picture = Image.fromarray(ramp.astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    draw.text(
        (60, 50), "What we learnt in the harbour", (255, 255, 255), font(44, "DejaVuSans-Bold")
    )
    for row, line in enumerate(SENTENCES[:5]):
        draw.ellipse((64, 168 + 90 * row, 80, 184 + 90 * row), (255, 196, 60))
        for part, text in enumerate(wrapped(line, font(26), 520)):
            draw.text((100, 158 + 90 * row + 34 * part), text, (240, 240, 250), font(26))
    picture.paste(photograph("chelsea.png", 300, 380), (680, 160))
    return picture
