"""`make bench`: how long sparkgen takes compared with `helm template`, as ratios of medians within one run.

Four questions: one cold `sparkgen render` against one `helm template` of a chart of like size (the same
objects, as templates that read values), and against one of sparkgen's own chart, which computes the same from
the same document; many documents in one call against as many calls of helm; and whether a repository is up to
date, against the calls of helm that would render it.
The commands run in turn, A B A B, so that a noisy machine treats both alike.
"""

from __future__ import annotations

import compileall
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from bench.folders import FOLDER, ROOT
from bench.pages import Page, parser, show
from bench.programs import SPARKGEN
from common.command import run
from gotools import gotools
from sparkgen import __version__

CHART = ROOT / "charts" / "spark-app"
EXAMPLE = ROOT / "examples" / "python-pi" / "app.yaml"
RESULTS = FOLDER / "render.md"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two commands timed in turn; times in seconds, one per round."""

    title: str
    goal: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    ours_name: str
    theirs_name: str

    @property
    def ratio(self) -> float:
        """The median over the rounds of ours divided by theirs."""
        return statistics.median(a / b for a, b in zip(self.ours, self.theirs, strict=True))


def main(arguments: list[str] | None = None) -> int:
    """Run all comparisons, print them, and keep them with `--write`."""
    made = parser(__doc__, RESULTS, rounds=15, what="number of pairs of cold starts")
    made.add_argument(
        "--documents", type=int, default=500, help="number of documents in one call (default 500)"
    )
    options = made.parse_args(arguments)
    helm = str(gotools.ensure("helm"))
    # As pip and uv leave it; a checkout stays uncompiled where PYTHONDONTWRITEBYTECODE is set.
    compileall.compile_dir(ROOT / "sparkgen", quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        chart = like_sized_chart(Path(folder) / "chart")
        comparisons = [
            one_document(
                *(helm, "one document", "at most 3", "the plain chart", options.rounds, str(chart)),
            ),
            one_document(
                *(helm, "one document, with sparkgen's chart", "", "`charts/spark-app`", options.rounds),
                *(str(CHART), "-f", str(EXAMPLE)),
            ),
            *many_documents(helm, chart, Path(folder), options.documents),
            repository_check(helm, chart, Path(folder)),
            *differences(helm, chart, Path(folder)),
        ]
    show(RESULTS, report(comparisons), write=options.write)
    return 0


def timed(command: list[str], folder: Path | None = None) -> float:
    """Seconds that a command takes as a whole process, in `folder` or here; it must succeed."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder)
    return time.perf_counter() - started


def like_sized_chart(folder: Path) -> Path:
    """A chart whose templates give the example's objects, with the values that a real chart would read."""
    rendered = run(SPARKGEN, "render", str(EXAMPLE))
    templates = folder / "templates"
    templates.mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: bench\nversion: 0.1.0\n", encoding="utf-8")
    shutil.copy(EXAMPLE, folder / "values.yaml")
    name = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))["metadata"]["name"]
    for index, text in enumerate(rendered.split("\n---\n")):
        escaped = text.replace("{{", '{{ "{{" }}')
        templated = escaped.replace(f": {name}\n", ": {{ .Values.metadata.name }}\n")
        (templates / f"object-{index}.yaml").write_text(templated, encoding="utf-8")
    return folder


def one_document(helm: str, title: str, goal: str, theirs_name: str, rounds: int, *chart: str) -> Comparison:
    """One document, one process each: helm renders a chart, with further arguments."""
    ours_command, theirs_command = [SPARKGEN, "render", str(EXAMPLE)], [helm, "template", "bench", *chart]
    timed(ours_command), timed(theirs_command)
    pairs = [(timed(ours_command), timed(theirs_command)) for _ in range(rounds)]
    return compared(title, goal, pairs, "`sparkgen render app.yaml`", f"`helm template` of {theirs_name}")


def copies(count: int, place: Callable[[int], Path], name: str) -> None:
    """Write so many documents like the example, each of its own name, which begins with `name`."""
    text = EXAMPLE.read_text(encoding="utf-8")
    old = yaml.safe_load(text)["metadata"]["name"]
    for index in range(count):
        place(index).parent.mkdir(parents=True, exist_ok=True)
        copy = text.replace(f"name: {old}\n", f"name: {name}-{index}\n", 1)
        place(index).write_text(copy, encoding="utf-8")


def sampled(
    ours: list[str], theirs: list[str], count: int, folder: Path | None = None
) -> tuple[float, float]:
    """The seconds of our one call for `count` documents, and of as many of theirs: of a tenth, times ten."""
    return timed(ours, folder), sum(timed(theirs) for _ in range(sample(count))) * count / sample(count)


def sample(count: int) -> int:
    """How many of so many calls of helm are made."""
    return max(count // 10, 1)


def calls(count: int) -> str:
    """How the page names so many calls of helm."""
    return f"{count} calls of `helm template` (computed from {sample(count)})"


def many_documents(helm: str, chart: Path, folder: Path, count: int, rounds: int = 5) -> list[Comparison]:
    """Many documents in one call against as many calls; helm is called for a tenth of them in each round.

    Both print, and both write files: like is compared with like.
    """
    documents = folder / "documents"
    copies(count, lambda index: documents / f"app-{index:04}.yaml", "python-pi")
    ours, theirs = [SPARKGEN, "render", str(documents), "-q"], [helm, "template", "bench", str(chart)]
    printed, written = [], []
    for index in range(rounds):
        printed.append(sampled(ours, theirs, count))
        outputs = [folder / f"theirs-{index}" / str(call) for call in range(sample(count))]
        seconds = sum(timed([*theirs, "--output-dir", str(output)]) for output in outputs)
        written.append((timed([*ours, "-o", str(folder / f"ours-{index}")]), seconds * count / sample(count)))
    titles = f"{count} documents, printed", f"{count} documents, as files"
    return [
        compared(titles[0], "at most 0.1", printed, "one `sparkgen render DIR`", calls(count)),
        compared(
            *(titles[1], "", written, "one `sparkgen render DIR -o OUT`"),
            f"{calls(count)} with `--output-dir`",
        ),
    ]


def repository_check(helm: str, chart: Path, folder: Path, count: int = 200, rounds: int = 5) -> Comparison:
    """`render --check -R` on a repository that is up to date, as each pull request's CI calls it.

    Ten teams, an environment, `count` documents. helm is called for a tenth of them in each round.
    """
    apps, output = folder / "repository", folder / "deploy"
    (apps / "environments").mkdir(parents=True)
    (apps / "environments" / "prod.yaml").write_text("metadata: {target: argocd}\n", encoding="utf-8")
    copies(count, lambda index: apps / f"team-{index % 10}" / f"app-{index}" / "app.yaml", "app")
    render = [SPARKGEN, "render", "-R", str(apps), "-o", str(output)]
    timed(render)
    theirs = [helm, "template", "bench", str(chart)]
    pairs = [sampled([*render, "--check"], theirs, count) for _ in range(rounds)]
    title, ours = f"{count} up-to-date documents, checked", "one `sparkgen render --check -R DIR -o OUT`"
    return compared(title, "", pairs, ours, calls(count))


def differences(helm: str, chart: Path, folder: Path, count: int = 200, rounds: int = 5) -> list[Comparison]:
    """`sparkgen diff` on documents that did not change: with what is rendered, and with a revision."""
    place = folder / "differences"
    copies(count, lambda index: place / "documents" / f"app-{index:04}.yaml", "python-pi")
    timed([SPARKGEN, "render", "documents", "-o", "deploy", "-q"], place)
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for arguments in (["init", "-q"], ["add", "documents"], ["commit", "-q", "-m", "documents"]):
        timed([*git, *arguments], place)
    theirs = [helm, "template", "bench", str(chart)]
    found = []
    for option, value in (("--rendered", "deploy"), ("--from", "HEAD")):
        ours = [SPARKGEN, "diff", option, value, "documents"]
        pairs = [sampled(ours, theirs, count, place) for _ in range(rounds)]
        title = f"{count} unchanged documents, `diff {option}`"
        found.append(compared(title, "", pairs, f"one `sparkgen diff {option} {value} DIR`", calls(count)))
    return found


def compared(
    title: str, goal: str, pairs: list[tuple[float, float]], ours_name: str, theirs_name: str
) -> Comparison:
    """A comparison from its pairs of times."""
    ours, theirs = zip(*pairs, strict=True)
    return Comparison(title, goal, ours, theirs, ours_name, theirs_name)


def report(comparisons: list[Comparison]) -> str:
    """The page, with a row for each comparison."""
    page = Page(RESULTS.name)
    page.setting(f"sparkgen {__version__}, Python {platform.python_version()}")
    page.rows(map(_row, comparisons))
    return page.text()


def _row(item: Comparison) -> tuple[str, ...]:
    ours = f"{item.ours_name}: {statistics.median(item.ours) * 1000:.0f} ms"
    theirs = f"{item.theirs_name}: {statistics.median(item.theirs) * 1000:.0f} ms"
    return item.title, ours, theirs, f"**{item.ratio:.2f}**", item.goal
