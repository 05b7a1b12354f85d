"""``mmp solve``: solve problems in files with the exact solvers."""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.completion import files as files_ending
from mmpcodec.cli.completion import words
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT, Command
from mmpcodec.cli.jobs import Job, check
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    import numpy as np

app = typer.Typer(
    name="solve",
    help="Solve knapsack, subset-sum, max-sum and selection problems.\n\n"
    "Answers are exact, and printed as JSON.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def problem_file(*suffixes: str) -> Any:
    """Return the argument for a file with a problem."""
    return typer.Argument(
        metavar="FILE",
        help="File with the problem; - is standard input.",
        autocompletion=files_ending(suffixes),
    )


File = Annotated[str, problem_file(".json", ".csv", ".npy")]
KnapsackFile = Annotated[str, problem_file(".json", ".csv", ".npy", ".txt", ".dat")]
Answer = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="File for the answer; by default standard output.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Format of FILE, json, csv or npy; by default that of its suffix, and json for "
        "standard input.",
        autocompletion=words(("json", "csv", "npy")),
    ),
]
KnapsackFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of FILE, json, csv, npy or or-library; by default that of its suffix, "
        "or-library for txt and dat, and json for standard input.",
        autocompletion=words(("json", "csv", "npy", "or-library")),
    ),
]
Capacity = Annotated[
    list[int] | None,
    typer.Option(
        "--capacity",
        "-c",
        min=0,
        metavar="C",
        help="Capacity, instead of the file's; repeat for several.",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(min=0, metavar="S", help="Time limit; then the best answer so far is given."),
]


@app.command(cls=Command, name="knapsack")
def knapsack(
    file: KnapsackFile,
    capacity: Capacity = None,
    exact_fill: Annotated[
        bool,
        typer.Option("--exact-fill", help="The weights must add up to the capacities exactly."),
    ] = False,
    copies: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Take each item up to N times, inf: as often as it fits; instead of the file's.",
        ),
    ] = None,
    least_items: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Take at least N items; each copy counts."),
    ] = None,
    most_items: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Take at most N items; each copy counts."),
    ] = None,
    first_choice: Annotated[
        bool,
        typer.Option(
            "--first-choice",
            help="Of the best choices of items, give the one that ranks first, in more time.",
        ),
    ] = False,
    seconds: Seconds = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--problem",
            min=1,
            metavar="N",
            help="Number of the problem in a file of the OR-Library.",
        ),
    ] = None,
    format: KnapsackFormat = None,
    out: Answer = STANDARD,
    backend: options.BackendName = "auto",
    force: options.Force = False,
) -> ExitCode:
    """Choose items of the largest total profit that fit, or one option of each group.

    With several capacities each item has one weight per capacity. The status is optimal, feasible
    (--seconds ended the search), infeasible, or unknown (--seconds ended it without a choice). The
    value is null if there is no choice.
    """
    from mmpcodec.solvers import files
    from mmpcodec.solvers import knapsack as solver

    reader = partial(files.read_knapsack, number=number)
    formats = files.KNAPSACK_FORMATS
    problem = read(reader, file, format, out, force, solver, backend, formats=formats)
    rooms = capacities(capacity, problem.capacities, file)
    files.check_columns(problem, len(rooms), output.shown(file, "stdin"))
    more: dict[str, Any] = {
        "exact_fill": exact_fill or problem.exact_fill,
        "time_limit": seconds,
        "backend": backend,
    }
    answer: dict[str, Any] = {"solver": "knapsack", "capacity": rooms}
    of_items = {
        "copies": problem.copies if copies is None else files.copies_of_text("copies", copies),
        "least_items": problem.least_items if least_items is None else least_items,
        "most_items": problem.most_items if most_items is None else most_items,
    }
    if problem.items is not None:
        items = problem.items
        weights = columns(items.weights, len(rooms))
        more |= {"first_choice": first_choice, **of_items}
        found = naming(file, solver.knapsack, items.profits, weights, rooms, **more)
        parts, chosen = [items], [(items, index) for index in found.items]
    else:
        assert problem.groups is not None
        if unfit := [name for name, given in of_items.items() if given is not None]:
            raise ParameterError(
                f"{output.shown(file, 'stdin')}: {unfit[0]}: only for items, not for groups"
            )
        groups = [(each.profits, columns(each.weights, len(rooms))) for each in problem.groups]
        found = naming(file, solver.multiple_choice, groups, rooms, **more)
        parts, chosen = problem.groups, list(zip(problem.groups, found.items, strict=False))
        answer["groups"] = problem.group_names
    units = list(zip(chosen, found.counts, strict=True))
    sums = [sum(n * part.weights[i][k] for (part, i), n in units) for k in range(len(rooms))]
    names = [part.names[index] if part.names else None for part, index in chosen]
    answer |= {
        "value": profit(found.value, problem.decimals),
        "items": list(found.items),
        "counts": list(found.counts),
        "names": names if any(part.names is not None for part in parts) else None,
        "weights": None if found.value is None else sums,
        "status": found.status,
        "optimal": found.optimal,
        "bound": profit(found.bound, problem.decimals),
        "path": found.path,
        "backend": found.backend,
        "seconds": found.seconds,
    }
    write(answer, out, force)
    return ExitCode.DONE


@app.command(cls=Command, name="subset-sum")
def subset_sum(
    file: File,
    capacity: Capacity = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Search method: auto, dense, balanced or meet.",
            autocompletion=words(("auto", "dense", "balanced", "meet")),
        ),
    ] = "auto",
    seconds: Seconds = None,
    format: Format = None,
    out: Answer = STANDARD,
    backend: options.BackendName = "auto",
    force: options.Force = False,
) -> ExitCode:
    """Choose items whose sum is the largest within a capacity.

    Several capacities are volumes, which are filled one after the other; --seconds holds for all.
    """
    from mmpcodec.solvers import files
    from mmpcodec.solvers import subset_sum as solver

    problem = read(files.read_subset_sum, file, format, out, force, solver, backend)
    rooms = capacities(capacity, problem.capacities, file)
    more: dict[str, Any] = {"method": method, "time_limit": seconds, "backend": backend}
    found = naming(file, solver.fill_volumes, problem.weights, rooms, **more)
    volumes = []
    for room, one in zip(rooms, found, strict=True):
        items = one.items.tolist()
        names = None if problem.names is None else [problem.names[index] for index in items]
        volumes.append(
            {
                "capacity": room,
                "sum": one.sum,
                "left": room - one.sum,
                "items": items,
                "names": names,
                "status": one.status,
                "bound": one.bound,
                "proven": one.proven,
                "method": one.method,
                "backend": one.backend,
                "seconds": one.seconds,
            }
        )
    write({"solver": "subset-sum", "volumes": volumes}, out, force)
    return ExitCode.DONE


@app.command(cls=Command, name="max-sum")
def max_sum(
    file: File,
    count: Annotated[
        int,
        typer.Option(
            "--count", "-k", min=1, metavar="K", help="Largest number of disjoint answers."
        ),
    ] = 1,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Answer with nothing if no value is positive.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, metavar="S", help="Time limit for rectangles and boxes."),
    ] = None,
    format: Format = None,
    out: Answer = STANDARD,
    backend: options.BackendName = "auto",
    force: options.Force = False,
) -> ExitCode:
    """Find the interval, rectangle or box of an array with the largest sum.

    Answers are half open: start is the first index and stop the index after the last; the same
    holds for top and bottom, left and right, front and back.
    """
    from mmpcodec.solvers import dispatch, files
    from mmpcodec.solvers import max_sum as solver

    values = read(files.read_array, file, format, out, force, solver, backend)
    if values.ndim not in (1, 2, 3):
        raise ParameterError(
            f"{output.shown(file, 'stdin')}: shape {values.shape}: must have 1 to 3 dimensions"
        )
    more: dict[str, Any] = {"allow_empty": allow_empty, "backend": backend}
    if values.ndim > 1:
        more["time_limit"] = seconds
    started = time.perf_counter()
    found: Sequence[Any]
    if count == 1:
        one = (solver.max_interval, solver.max_rectangle, solver.max_box)[values.ndim - 1]
        found = [naming(file, one, values, **more)]
    else:
        several = (solver.disjoint_intervals, solver.disjoint_rectangles, solver.disjoint_boxes)
        found = naming(file, several[values.ndim - 1], values, count, **more)
    answer = {
        "solver": "max-sum",
        "shape": list(values.shape),
        "found": [asdict(each) for each in found],
        "backend": dispatch.resolved(solver.__name__, backend),
        "seconds": time.perf_counter() - started,
    }
    write(answer, out, force)
    return ExitCode.DONE


@app.command(cls=Command, name="select")
def select(
    file: File,
    k: Annotated[
        list[int] | None,
        typer.Option(
            "--rank",
            "-k",
            metavar="K",
            help="Find the K-th smallest value, K from 1; can be repeated.",
        ),
    ] = None,
    quantile: Annotated[
        list[float] | None,
        typer.Option(
            "--quantile",
            "-q",
            metavar="Q",
            help="Find the quantile Q, from 0 to 1; can be repeated.",
        ),
    ] = None,
    nan: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="What to do with NaN: raise an error, or omit it.",
            autocompletion=words(("raise", "omit")),
        ),
    ] = "raise",
    format: Format = None,
    out: Answer = STANDARD,
    backend: options.BackendName = "auto",
    force: options.Force = False,
) -> ExitCode:
    """Find the median, k-th smallest values or quantiles of an array.

    The median of an even number of values is the mean of the two in the middle.
    """
    from mmpcodec.solvers import dispatch, files
    from mmpcodec.solvers import selection as solver

    if nan not in ("raise", "omit"):
        raise ParameterError(f"nan = {nan!r}: must be one of raise, omit")
    values = read(files.read_array, file, format, out, force, solver, backend)
    if nan == "raise":
        files.check_numbers(values, output.shown(file, "stdin"))
    more = {"nan": nan, "backend": backend}
    started = time.perf_counter()
    answer: dict[str, Any] = {"solver": "select", "values": values.size}
    if not k and not quantile:
        answer["median"] = number(naming(file, solver.median, values, **more))
    if k:
        found = naming(file, solver.kth_smallest, values, k, **more)
        answer["ranks"] = [
            {"k": each, "value": number(one)} for each, one in zip(k, found, strict=True)
        ]
    if quantile:
        found = naming(file, solver.quantile, values, quantile, **more)
        answer["quantiles"] = [
            {"q": each, "value": number(one)} for each, one in zip(quantile, found, strict=True)
        ]
    answer["backend"] = dispatch.resolved(solver.__name__, backend)
    answer["seconds"] = time.perf_counter() - started
    write(answer, out, force)
    return ExitCode.DONE


def read(
    reader: Callable[[bytes, str, str], Any],
    file: str,
    format: str | None,
    out: str,
    force: bool,
    solver: Any,
    backend: str,
    formats: Sequence[str] | None = None,
) -> Any:
    """Read the problem in a file, after the output, format and backend are checked."""
    from mmpcodec.solvers import dispatch, files

    formats = formats or files.FORMATS
    if out != STANDARD:
        check([Job(file, out)], force=force)
    if format is None:
        format = "json" if file == STANDARD else files.format_of(file, formats)
    if format not in formats:
        known = ", ".join(formats)
        raise ParameterError(f"format = {format!r}: must be one of {known}")
    dispatch.operations(solver.__name__, backend)
    return reader(output.read(file), output.shown(file, "stdin"), format)


def capacities(given: list[int] | None, of_file: list[int] | None, file: str) -> list[int]:
    """Return the capacities of the command line, or else those of the file.

    Raises
    ------
    ParameterError
        If there is none.
    """
    rooms = given or of_file
    if not rooms:
        raise ParameterError(f"{output.shown(file, 'stdin')}: capacity: is missing; give -c")
    return rooms


def columns(weights: "list[list[int]]", count: int) -> "list[list[int]] | np.ndarray":
    """Return the weights with ``count`` columns as the solver takes them, also for no items."""
    import numpy as np

    return weights or np.zeros((0, count), np.int64)


def naming(file: str, solve: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """Call a solver; its errors name the file.

    Raises
    ------
    ParameterError
        If the solver refuses the problem.
    """
    try:
        return solve(*arguments, **more)
    except ParameterError as error:
        raise ParameterError(f"{output.shown(file, 'stdin')}: {error}") from error


def profit(value: int | None, decimals: int) -> int | float | None:
    """Return a profit as the file counts it."""
    return value / 10**decimals if value is not None and decimals else value


def number(value: Any) -> int | float | str:
    """Return a value for JSON; infinities become text, since JSON has none."""
    plain = value.item()
    return plain if math.isfinite(plain) else str(plain)


def write(answer: dict[str, Any], out: str, force: bool) -> None:
    """Write the answer as one line of JSON."""
    text = json.dumps(answer) + "\n"
    if out == STANDARD:
        print(text, end="", flush=True)
    else:
        output.write(out, text.encode(), force=force)
