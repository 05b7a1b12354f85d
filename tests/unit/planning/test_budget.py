"""Plans against every choice there is, and ladders through the cache."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmpcodec
from mmpcodec import Cancelled, Infeasible, ParameterError, PictureError, backends
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.codec.distortion import psnr_of
from mmpcodec.errors import LimitExceeded
from mmpcodec.planning.budget import (
    Ladder,
    LazyPicture,
    Point,
    PointCache,
    best_plan,
    budget_curve,
    compare,
    draw_budget,
    encoded,
    greedy_fill,
    least_bytes,
    measure,
    one_lambda,
    plot,
)
from mmpcodec.planning.budget import plans as plans_module
from mmpcodec.planning.budget.cache import key_of

A = Ladder("a", 100, (Point(8, 8, 1), Point(16, 2, 16), Point(32, 1, 22)))
B = Ladder("b", 100, (Point(8, 7, 0), Point(16, 6, 3), Point(32, 4, 25)))


@st.composite
def ladder_sets(draw):
    """Up to four pictures of up to four points, also such that are larger and worse."""
    number = st.integers(0, 30)
    found = []
    for index in range(draw(st.integers(1, 4))):
        points = draw(st.lists(st.tuples(number, number), min_size=1, max_size=4))
        found.append(
            Ladder(
                f"{index}",
                draw(st.integers(1, 5)),
                tuple(Point(2.0**k, 1 + size, error) for k, (size, error) in enumerate(points)),
                draw(st.integers(0, 3)),
            )
        )
    if not any(ladder.weight for ladder in found):
        found[0] = replace(found[0], weight=1)
    return found


def choices(ladders, total):
    """Every choice within a budget."""
    for points in itertools.product(*(ladder.points for ladder in ladders)):
        if sum(point.bytes for point in points) <= total:
            yield points


def distortion(ladders, points):
    return sum(lad.weight * point.distortion for lad, point in zip(ladders, points, strict=True))


def worst(ladders, points):
    pairs = zip(ladders, points, strict=True)
    return max(Fraction(lad.weight * point.distortion, lad.pixels) for lad, point in pairs)


@given(ladder_sets(), st.integers(1, 120))
def test_plans_are_what_all_choices_say(ladders, total):
    possible = list(choices(ladders, total))
    if not possible:
        with pytest.raises(Infeasible, match=f"{least_bytes(ladders)} bytes together"):
            compare(ladders, total)
        return
    found = compare(ladders, total)
    assert found.exact.distortion == min(distortion(ladders, points) for points in possible)
    assert found.exact.proven
    assert found.exact.distortion <= found.greedy.distortion
    commons = [points for points in possible if len({point.lam for point in points}) == 1]
    if commons:
        assert found.one_lambda.points == min(commons, key=lambda points: points[0].lam)
        assert found.greedy.distortion <= found.one_lambda.distortion
        assert found.one_lambda.lam == found.one_lambda.points[0].lam
        same = found.exact.distortion == found.one_lambda.distortion
        assert found.one_lambda_is_best == same == (found.loss(found.one_lambda) == 0)
    else:
        assert found.one_lambda is None
        assert not found.one_lambda_is_enough
    for plan in (found.exact, found.greedy):
        assert plan.points in possible
        assert plan.bytes == sum(point.bytes for point in plan.points)
        assert plan.distortion == distortion(ladders, plan.points)
        assert plan.worst == worst(ladders, plan.points)


@given(ladder_sets(), st.integers(1, 120))
def test_worst_picture_is_as_good_as_can_be_and_then_the_sum(ladders, total):
    possible = list(choices(ladders, total))
    if not possible:
        return
    found = compare(ladders, total, objective="worst")
    best = min((worst(ladders, points), distortion(ladders, points)) for points in possible)
    assert (found.exact.worst, found.exact.distortion) == best
    assert found.exact.proven
    assert found.exact.points in possible
    assert found.greedy.points in possible
    assert found.exact.worst <= found.greedy.worst
    if found.one_lambda:
        assert found.greedy.worst <= found.one_lambda.worst


def plain_greedy(ladders, points, room, objective):
    """One step after the other, each looked for among all."""
    points = list(points)
    while True:
        errors = [worst([lad], [point]) for lad, point in zip(ladders, points, strict=True)]
        best = None
        for index in range(len(ladders)) if objective == "total" else [errors.index(max(errors))]:
            ladder, point = ladders[index], points[index]
            better = [other for other in ladder.points if other.distortion < point.distortion]
            if not better or not ladder.weight:
                continue
            step = min(better, key=lambda other: (other.bytes, other.distortion))
            cost = step.bytes - point.bytes
            gain = ladder.weight * (point.distortion - step.distortion)
            worth = Fraction(gain, cost) if cost > 0 else math.inf
            if cost <= room and (best is None or worth > best[0]):
                best = worth, cost, index, step
        if best is None:
            return points
        _, cost, index, points[index] = best
        room -= cost


@pytest.mark.parametrize("objective", ["total", "worst"])
@given(ladders=ladder_sets(), total=st.integers(1, 120))
def test_greedy_steps_are_those_of_the_plain_statement(objective, ladders, total):
    if least_bytes(ladders) > total:
        return
    start = one_lambda(ladders, total)
    smallest = [min(lad.points, key=lambda p: (p.bytes, p.distortion)) for lad in ladders]
    points = list(start.points) if start else smallest
    room = total - sum(point.bytes for point in points)
    found = greedy_fill(ladders, total, objective=objective)
    assert list(found.points) == plain_greedy(ladders, points, room, objective)


@pytest.mark.parametrize("objective", ["total", "worst"])
@given(ladders=ladder_sets())
@settings(max_examples=15)
def test_curve_has_the_best_of_every_budget(objective, ladders):
    curve = budget_curve(ladders, objective=objective)
    assert curve.unit == 1
    assert curve.bytes[0] == least_bytes(ladders)
    assert (np.diff(curve.bytes) > 0).all()
    assert (np.diff(curve.psnr) > 0).all()
    pixels = sum(ladder.weight * ladder.pixels for ladder in ladders)
    most = sum(max(point.bytes for point in ladder.points) for ladder in ladders)
    for total in range(curve.bytes[0], most + 1):
        plan, _ = best_plan(ladders, total, objective=objective)
        at = np.searchsorted(curve.bytes, total, "right") - 1
        best = psnr_of(plan.distortion, pixels)
        if objective == "worst":
            best = psnr_of(float(plan.worst), 1)
        assert curve.psnr[at] == pytest.approx(best)


def test_curve_of_coarser_bytes_is_below_the_exact_one():
    rng = np.random.default_rng(0)
    ladders = [
        Ladder(str(i), 50, tuple(Point(k, int(b), int(d)) for k, b, d in zip(
            range(4), np.sort(rng.integers(100, 900, 4))[::-1], np.sort(rng.integers(1, 999, 4)),
            strict=True)))
        for i in range(5)
    ]  # fmt: skip
    fine, coarse = budget_curve(ladders), budget_curve(ladders, max_cells=2000)
    ranges = [
        max(p.bytes for p in one.points) - min(p.bytes for p in one.points) for one in ladders
    ]
    states = {unit: 1 + sum(-(-room // unit) for room in ranges) for unit in (1, 2, 4, 8, 16, 32)}
    assert coarse.unit == min(unit for unit, count in states.items() if 20 * count <= 2000) > 1
    assert coarse.bytes[0] == fine.bytes[0]
    assert coarse.psnr[-1] == fine.psnr[-1]
    for size, psnr in zip(coarse.bytes, coarse.psnr, strict=True):
        assert psnr <= fine.psnr[np.searchsorted(fine.bytes, size, "right") - 1]


def test_one_lambda_and_greedy_steps_miss_what_is_best_plan():
    found = compare([A, B], 14)
    assert [plan.distortion for plan in (found.one_lambda, found.greedy, found.exact)] == [
        19,
        16,
        4,
    ]
    assert [plan.bytes for plan in (found.one_lambda, found.greedy, found.exact)] == [8, 9, 14]
    assert found.loss(found.one_lambda) == pytest.approx(10 * math.log10(19 / 4))
    assert not found.one_lambda_is_enough
    assert found.exact.psnr == pytest.approx(10 * math.log10(255**2 * 200 / 4))
    assert found.exact.worst_psnr == pytest.approx(10 * math.log10(255**2 * 100 / 3))


def test_greedy_steps_to_the_worst_picture():
    fine = Ladder("fine", 100, (Point(8, 4, 1), Point(16, 1, 10)))
    poor = Ladder("poor", 100, (Point(8, 4, 30), Point(16, 1, 32)))
    steps = {
        objective: [point.lam for point in greedy_fill([fine, poor], 5, objective=objective).points]
        for objective in ("total", "worst")
    }
    assert steps == {"total": [8, 16], "worst": [16, 8]}


def test_of_equal_quality_the_smaller_file():
    equal = Ladder("e", 100, (Point(8, 5, 3), Point(16, 4, 3), Point(32, 6, 3)))
    assert best_plan([equal, A], 30)[0].points[0].bytes == 4


def test_one_lambda_is_enough_within_a_hundredth():
    near = Ladder("n", 100, (Point(8, 8, 10_000), Point(16, 7, 10_020), Point(32, 3, 20_000)))
    other = Ladder("o", 100, (Point(8, 9, 10_000), Point(16, 6, 10_000), Point(32, 4, 30_000)))
    found = compare([near, other], 14)
    assert (found.one_lambda.lam, found.exact.distortion) == (16, 20_000)
    assert found.one_lambda_is_enough
    assert not found.one_lambda_is_best
    assert 0 < found.loss(found.one_lambda) < 0.01


def test_weights_decide():
    assert [point.lam for point in best_plan([A, B], 12)[0].points] == [16, 8]
    heavy = [replace(A, weight=50), B]
    assert [point.lam for point in best_plan(heavy, 12)[0].points] == [8, 32]
    light = [replace(A, weight=0), B]
    assert [point.lam for point in best_plan(light, 12)[0].points] == [32, 8]


def test_no_time_and_no_memory_leave_a_plan_with_a_bound(monkeypatch):
    ladders = [replace(A, name=str(i)) if i % 2 else replace(B, name=str(i)) for i in range(40)]
    total = 14 * 20 + 3
    best = best_plan(ladders, total)[0]
    hurried = best_plan(ladders, total, time_limit=0)[0]
    greedy = greedy_fill(ladders, total)
    assert best.distortion <= hurried.distortion <= greedy.distortion
    assert hurried.bytes <= total
    assert hurried.psnr <= best.psnr <= hurried.bound_psnr

    real = plans_module.multiple_choice

    def without_memory(groups, capacities, *, time_limit, backend):
        if time_limit is None:
            raise LimitExceeded("Knapsack memory", "too little")
        return real(groups, capacities, time_limit=time_limit, backend=backend)

    monkeypatch.setattr(plans_module, "multiple_choice", without_memory)
    starved = best_plan(ladders, total)[0]
    assert starved.points == hurried.points


def test_wrong_arguments():
    with pytest.raises(ParameterError, match="objective = 'mean': must be one of total, worst"):
        compare([A], 10, objective="mean")
    with pytest.raises(ParameterError, match="objective = 'mean'"):
        budget_curve([A], objective="mean")
    with pytest.raises(ParameterError, match="ladders"):
        compare([], 10)
    for weights in ((0, 0), (-1, 1)):
        pair = [replace(A, weight=weights[0]), replace(B, weight=weights[1])]
        with pytest.raises(ParameterError, match="weights: must be from 0 up, and one above 0"):
            one_lambda(pair, 100)
    with pytest.raises(ParameterError, match="lambdas: must be one or more"):
        measure([], [], PointCache("none"))
    with pytest.raises(Infeasible, match=r"total = 4 bytes: .* need 5 bytes together"):
        greedy_fill([A, B], 4)


def test_least_psnr_drops_points():
    floor = psnr_of(16, 100)
    assert [point.lam for point in A.at_least(floor).points] == [8, 16]
    lossless = B.at_least(1000)
    assert [point.lam for point in lossless.points] == [8]
    with pytest.raises(Infeasible, match=r"a: no lambda .* reaches 99 dB; lambda 8 reaches 68.13"):
        A.at_least(99)


def test_drawing():
    data = draw_budget([A, B], budget_curve([A, B]), compare([A, B], 14), 14)
    assert data.startswith(b"\x89PNG")


@pytest.mark.parametrize("objective", ["total", "worst"])
@pytest.mark.parametrize("lossless", [0, 1, 30])
def test_drawing_has_a_place_for_all_marks(monkeypatch, lossless, objective):
    figures = []

    class Kept(plot.figure_class()):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            figures.append(self)

    monkeypatch.setattr(plot, "figure_class", lambda: Kept)
    points = [Point(k + 1, 9000 - 10 * k, 90 * max(k + 1 - lossless, 0)) for k in range(30)]
    # A point that no budget needs lies behind the end of the curve.
    ladder = Ladder("a", 1000, (Point(0.5, 20000, 90 * (not lossless)), *points))
    found = compare([ladder], 9500, objective=objective)
    draw_budget([ladder], budget_curve([ladder], objective=objective), found, 9500)
    (axes,) = figures[0].axes
    curve, dots, *others = axes.lines
    assert len(dots.get_xdata()) == 31
    assert curve.get_xdata()[-1] == 20
    assert curve.get_ydata()[-1] == max(dots.get_ydata())
    low, high = axes.get_ylim()
    for line in (curve, dots, *others):
        assert np.isfinite(line.get_ydata()).all()
        if line.get_label() != "budget":
            assert all(low < y < high for y in line.get_ydata())
    named = [label.get_text() for label in axes.get_yticklabels(which="both")]
    assert ("lossless" in named) == bool(lossless)
    labels = [text for text in axes.texts if text.get_visible()]
    boxes = [label.get_window_extent() for label in labels]
    assert 1 < len(labels) < 31
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])


@pytest.fixture
def samples():
    return np.random.default_rng(5).integers(0, 256, (2, 20, 24)).astype(np.uint8)


@pytest.fixture
def pictures(samples):
    return [LazyPicture(name, lambda i=i: samples[i]) for i, name in enumerate("ab")]


def test_ladder_is_what_encode_gives(pictures, samples, tmp_path):
    cache = PointCache(tmp_path / "cache")
    ladders = measure(pictures, [64, 8], cache)
    assert [ladder.name for ladder in ladders] == ["a", "b"]
    for ladder, picture in zip(ladders, samples, strict=True):
        assert ladder.pixels == 480
        assert [point.lam for point in ladder.points] == [8, 64]
        for point in ladder.points:
            data = mmpcodec.encode(picture, point.lam, preset="plain")
            assert encoded(ladder, point, cache) == data
            assert point.bytes == len(data)
            error = mmpcodec.decode(data).astype(int) - picture
            assert point.distortion == (error**2).sum()


def count_encodings(monkeypatch):
    from mmpcodec.planning.budget import ladder

    calls = []
    real = ladder.encode_pictures

    def counting(arrays, params, **more):
        calls.extend([params.lam] * len(arrays))
        return real(arrays, params, **more)

    monkeypatch.setattr(ladder, "encode_pictures", counting)
    return calls


def test_what_is_in_the_cache_is_not_encoded_again(pictures, tmp_path, monkeypatch):
    cache = PointCache(tmp_path)
    calls = count_encodings(monkeypatch)
    first = measure(pictures, [8, 64], cache)
    assert calls == [8, 64, 8, 64]
    assert measure(pictures, [8, 64, 256], cache)[0].points[:2] == first[0].points
    assert calls[4:] == [256, 256]
    classic = mmpcodec.EncodeParams.from_options(preset="classic")
    measure(pictures, [8], cache, classic)
    assert calls[6:] == [8, 8]


def test_a_device_gets_many_pictures_at_once_and_fewer_where_memory_is_short(
    pictures, tmp_path, monkeypatch
):
    from mmpcodec.planning.budget import ladder

    class Device(ReferenceBackend):
        batches = True

    monkeypatch.setitem(backends.ROWS, "cuda", backends.Row(Device))
    calls = []
    real = ladder.encode_pictures

    def on_a_device(arrays, params, *, backend, **more):
        assert backend == "cuda"
        calls.append(len(arrays))
        if params.lam == 64 and len(arrays) > 1:
            raise LimitExceeded("Memory of the device", "too little")
        return real(arrays, params, **more)

    monkeypatch.setattr(ladder, "encode_pictures", on_a_device)
    many = measure(pictures, [8, 64], PointCache(tmp_path / "many"), backend="cuda")
    assert calls == [2, 2, 1, 1]
    monkeypatch.setattr(ladder, "encode_pictures", real)
    assert many == measure(pictures, [8, 64], PointCache(tmp_path / "one"))


def test_other_sources_of_the_codec_make_other_points(pictures, tmp_path, monkeypatch):
    calls = count_encodings(monkeypatch)
    measure(pictures[:1], [8], PointCache(tmp_path))
    monkeypatch.setattr("mmpcodec.planning.budget.cache.codec_fingerprint", lambda: "another")
    measure(pictures[:1], [8], PointCache(tmp_path))
    assert calls == [8, 8]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:20],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[:35] + bytes([data[35] ^ 1]) + data[36:],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    ],
)
def test_damaged_points_are_made_again(pictures, tmp_path, monkeypatch, damage):
    cache = PointCache(tmp_path)
    good = measure(pictures[:1], [8, 64], cache)
    path = next(tmp_path.rglob("*.point"))
    data = path.read_bytes()
    path.write_bytes(damage(data))
    calls = count_encodings(monkeypatch)
    assert measure(pictures[:1], [8, 64], cache) == good
    assert len(calls) == 1
    assert path.read_bytes() == data


def test_a_point_under_another_name_is_not_taken(pictures, tmp_path):
    cache = PointCache(tmp_path)
    good = measure(pictures[:1], [8, 64], cache)
    one, other = sorted(tmp_path.rglob("*.point"))
    one.write_bytes(other.read_bytes())
    assert measure(pictures[:1], [8, 64], cache) == good


def test_a_point_that_is_lost_before_it_is_written(pictures, tmp_path):
    cache = PointCache(tmp_path)
    ladder = measure(pictures[:1], [8], cache)[0]
    next(tmp_path.rglob("*.point")).unlink()
    with pytest.raises(PictureError, match=r"a: .*\.point was changed; start again"):
        encoded(ladder, ladder.points[0], cache)


def test_stopped_ladders_go_on(pictures, tmp_path, monkeypatch):
    cache = PointCache(tmp_path)
    seen = []

    def stop(done, total):
        seen.append((done, total))
        return done < total // 2

    with pytest.raises(Cancelled):
        measure(pictures, [8, 64], cache, progress=stop)
    kept = len(list(tmp_path.rglob("*.point")))
    assert 0 < kept < 4
    calls = count_encodings(monkeypatch)
    measure(pictures, [8, 64], cache, progress=lambda *both: seen.append(both) or True)
    assert len(calls) == 4 - kept
    assert seen[-1] == (16, 16)


def test_a_picture_that_changes_while_it_is_worked_on(samples, tmp_path):
    turns = iter([samples[0], samples[1]])
    with pytest.raises(PictureError, match="a: was changed while it was worked on"):
        measure([LazyPicture("a", lambda: next(turns))], [8], PointCache(tmp_path))


def test_equal_pictures_are_encoded_once(samples, tmp_path, monkeypatch):
    calls = count_encodings(monkeypatch)
    pair = [LazyPicture(name, lambda: samples[0]) for name in "ab"]
    ladders = measure(pair, [8], PointCache(tmp_path))
    assert calls == [8]
    assert ladders[0].points == ladders[1].points
    assert len(list(Path(tmp_path).rglob("*.point"))) == 1


def test_presets_auto_and_best_have_keys_of_their_own():
    """Both name the same sets of tools, but auto tries only some of them."""
    auto, best = (mmpcodec.EncodeParams.from_options(preset=name) for name in ("auto", "best"))
    assert auto.each_alone()[0].tools == best.each_alone()[0].tools
    assert key_of(auto) != key_of(best)
