"""The output of ``mmp budget``: the plans side by side, and the files of the exact plan."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mmpcodec.cli import output
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import finite, kind_text, quality_text
from mmpcodec.planning.budget import Comparison, Ladder, Plan, Point


@dataclass(frozen=True)
class Budgeted:
    """The result of ``mmp budget``.

    Parameters
    ----------
    total : int
        The budget in bytes.
    records : int
        Most bytes of it that files of several pictures need besides their pictures.
    jobs : sequence of Job
    ladders : sequence of Ladder
        Bytes and distortion of each picture at each lambda.
    weights : sequence of float
        One per picture.
    found : Comparison
    backend : str
        Backend that encoded.
    dry_run : bool
    plot : str or None
        File of the drawing.
    """

    total: int
    records: int
    jobs: Sequence[Job]
    ladders: Sequence[Ladder]
    weights: Sequence[float]
    found: Comparison
    backend: str
    dry_run: bool
    plot: str | None

    def as_dict(self) -> dict[str, Any]:
        found, exact = self.found, self.found.exact
        lost = None if found.one_lambda is None else finite(found.loss(found.one_lambda))
        return {
            "total": self.total,
            "bytes": exact.bytes,
            "records": self.records,
            "left": self.total - self.records - exact.bytes,
            "objective": found.objective,
            "dry_run": self.dry_run,
            "backend": self.backend,
            "solver_seconds": found.seconds,
            "plans": {name: self.described(plan) for name, plan in self.plans().items()},
            "one_lambda": {
                "best": found.one_lambda_is_best,
                "enough": found.one_lambda_is_enough,
                "loss_db": lost,
            },
            "pictures": [
                {
                    "input": job.source,
                    **({} if job.page is None else {"page": job.page}),
                    "output": job.target,
                    "form": ladder.form.title,
                    "depth": ladder.depth,
                    "lambda": point.lam,
                    "bytes": point.bytes,
                    "distortion": point.distortion,
                    "psnr": finite(ladder.psnr(point)),
                    "weight": weight,
                }
                for job, ladder, point, weight in self.chosen()
            ],
            "plot": self.plot,
        }

    def plans(self) -> dict[str, Plan | None]:
        return {
            "lambda": self.found.one_lambda,
            "greedy": self.found.greedy,
            "exact": self.found.exact,
        }

    def described(self, plan: Plan | None) -> dict[str, Any] | None:
        if plan is None:
            return None
        return {
            "lambda": plan.lam,
            "bytes": plan.bytes,
            "left": self.total - self.records - plan.bytes,
            "distortion": plan.distortion,
            "psnr": finite(plan.psnr),
            "worst_psnr": finite(plan.worst_psnr),
            "proven": plan.proven,
        }

    def chosen(self) -> Iterator[tuple[Job, Ladder, Point, float]]:
        """Return the job, ladder, chosen point and weight of each picture."""
        return zip(self.jobs, self.ladders, self.found.exact.points, self.weights, strict=True)

    def text(self, verbose: bool) -> str:
        lines = ["plan                bytes         left     PSNR    worst         distortion"]
        room = self.total - self.records
        for name, plan in self.plans().items():
            if plan is None:
                lines.append("one lambda     none fits")
                continue
            title = {"lambda": f"lambda {plan.lam or 0:g}", "greedy": "greedy fill"}.get(name, name)
            lines.append(
                f"{title:<12} {plan.bytes:>12} {room - plan.bytes:>12} {plan.psnr:>8.2f} "
                f"{plan.worst_psnr:>8.2f} {plan.distortion:>18}"
            )
        lines += [self.verdict(), self.proof()]
        for job, ladder, point, _ in self.chosen():
            assert job.target is not None
            lines.append(
                f"{job.name} -> {output.shown(job.target, 'stdout')}: "
                f"{kind_text(ladder.form.title, ladder.depth)}lambda {point.lam:g}, "
                f"{point.bytes} bytes, {quality_text(ladder.psnr(point))}"
            )
        used = self.found.exact.bytes
        done = "would be written" if self.dry_run else "written"
        left, books = room - used, ""
        if self.records:
            books = f", at most {self.records} for the records of books"
        lines.append(f"{used} of {self.total} bytes {done}{books}, {left} left")
        return "\n".join(lines)

    def verdict(self) -> str:
        """Return a sentence: what a single lambda for all pictures loses."""
        plan = self.found.one_lambda
        if plan is None:
            return "No lambda of the ladder fits for all pictures."
        if self.found.one_lambda_is_best:
            return f"One lambda is enough: with {plan.lam:g} for all nothing is lost."
        loss = self.found.loss(plan)
        if self.found.one_lambda_is_enough:
            return f"One lambda is enough: {plan.lam:g} for all loses {loss:.4f} dB."
        return f"One lambda for all loses {loss:.2f} dB."

    def proof(self) -> str:
        """Return a sentence: whether the exact plan is proven to be the best."""
        exact, seconds = self.found.exact, self.found.seconds
        if exact.proven:
            return f"Nothing better fits: proven in {seconds:.2f} s."
        reason = f"Not proven in {seconds:.2f} s"
        if math.isinf(exact.bound_psnr):
            return f"{reason}."
        return f"{reason}: at most {exact.bound_psnr - exact.psnr:.4f} dB more may fit."
