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
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from bench.pages import FOLDER, ROOT, opening, parser, table
from sparkgen import __version__

CHART = ROOT / "charts" / "spark-app"
EXAMPLE = ROOT / "examples" / "python-pi" / "app.yaml"
SPARKGEN = Path(sys.executable).with_name("sparkgen")
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
    helm = tool("helm")
    # As pip and uv leave it; a checkout stays uncompiled where PYTHONDONTWRITEBYTECODE is set.
    compileall.compile_dir(ROOT / "sparkgen", quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        chart = like_sized_chart(Path(folder) / "chart")
        comparisons = [
            cold_start(helm, chart, options.rounds),
            own_chart(helm, options.rounds),
            *many_documents(helm, chart, Path(folder), options.documents),
            repository_check(helm, chart, Path(folder)),
            *differences(helm, chart, Path(folder)),
        ]
    text = report(comparisons)
    print(text)
    if options.write:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(text, encoding="utf-8")
    return 0


def tool(name: str) -> str:
    """The path of a pinned tool, built if it is not there yet."""
    command = [sys.executable, str(ROOT / "tools" / "gotools" / "gotools.py"), "path", name]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def timed(command: list[str], folder: Path | None = None) -> float:
    """Seconds that a command takes as a whole process, in `folder` or here; it must succeed."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder)
    return time.perf_counter() - started


def like_sized_chart(folder: Path) -> Path:
    """A chart whose templates give the example's objects, with the values that a real chart would read."""
    rendered = subprocess.run(
        [str(SPARKGEN), "render", str(EXAMPLE)], check=True, capture_output=True, text=True
    ).stdout
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


def cold_start(helm: str, chart: Path, rounds: int) -> Comparison:
    """One document, one process each."""
    ours_command = [str(SPARKGEN), "render", str(EXAMPLE)]
    theirs_command = [helm, "template", "bench", str(chart)]
    timed(ours_command), timed(theirs_command)
    pairs = [(timed(ours_command), timed(theirs_command)) for _ in range(rounds)]
    names = ("`sparkgen render app.yaml`", "`helm template` of the plain chart")
    return compared("one document", "at most 3", pairs, *names)


def own_chart(helm: str, rounds: int) -> Comparison:
    """The same document through sparkgen's own chart: schema, rules, the run's hash, notes and hooks."""
    ours_command = [str(SPARKGEN), "render", str(EXAMPLE)]
    theirs_command = [helm, "template", "bench", str(CHART), "-f", str(EXAMPLE)]
    timed(ours_command), timed(theirs_command)
    pairs = [(timed(ours_command), timed(theirs_command)) for _ in range(rounds)]
    names = ("`sparkgen render app.yaml`", "`helm template` of `charts/spark-app`")
    return compared("one document, with sparkgen's chart", "", pairs, *names)


def copies(folder: Path, count: int) -> Path:
    """A folder with `count` documents like the example, each of its own name."""
    documents = folder / "documents"
    documents.mkdir()
    text = EXAMPLE.read_text(encoding="utf-8")
    name = yaml.safe_load(text)["metadata"]["name"]
    for index in range(count):
        copy = text.replace(f"name: {name}\n", f"name: {name}-{index}\n", 1)
        (documents / f"app-{index:04}.yaml").write_text(copy, encoding="utf-8")
    return documents


def many_documents(helm: str, chart: Path, folder: Path, count: int, rounds: int = 5) -> list[Comparison]:
    """Many documents in one call against as many calls; helm is called for a tenth of them in each round.

    Both print, and both write files: like is compared with like.
    """
    documents = str(copies(folder, count))
    sample = max(count // 10, 1)
    printed, written = [], []
    for index in range(rounds):
        ours = [str(SPARKGEN), "render", documents, "-q"]
        theirs = [helm, "template", "bench", str(chart)]
        printed.append((timed(ours), sum(timed(theirs) for _ in range(sample)) * count / sample))
        outputs = [folder / f"theirs-{index}" / str(call) for call in range(sample)]
        seconds = sum(timed([*theirs, "--output-dir", str(output)]) for output in outputs)
        written.append((timed([*ours, "-o", str(folder / f"ours-{index}")]), seconds * count / sample))
    calls = f"{count} calls of `helm template` (computed from {sample})"
    return [
        compared(f"{count} documents, printed", "at most 0.1", printed, "one `sparkgen render DIR`", calls),
        compared(
            f"{count} documents, as files",
            "",
            written,
            "one `sparkgen render DIR -o OUT`",
            f"{calls} with `--output-dir`",
        ),
    ]


def repository_check(helm: str, chart: Path, folder: Path, count: int = 200, rounds: int = 5) -> Comparison:
    """`render --check -R` on a repository that is up to date, as each pull request's CI calls it.

    Ten teams, an environment, `count` documents. helm is called for a tenth of them in each round.
    """
    apps, output = folder / "repository", folder / "deploy"
    (apps / "environments").mkdir(parents=True)
    (apps / "environments" / "prod.yaml").write_text("metadata: {target: argocd}\n", encoding="utf-8")
    text = EXAMPLE.read_text(encoding="utf-8")
    name = yaml.safe_load(text)["metadata"]["name"]
    for index in range(count):
        place = apps / f"team-{index % 10}" / f"app-{index}" / "app.yaml"
        place.parent.mkdir(parents=True)
        place.write_text(text.replace(f"name: {name}\n", f"name: app-{index}\n", 1), encoding="utf-8")
    render = [str(SPARKGEN), "render", "-R", str(apps), "-o", str(output)]
    theirs = [helm, "template", "bench", str(chart)]
    timed(render)
    check, sample = [*render, "--check"], max(count // 10, 1)
    pairs = [
        (timed(check), sum(timed(theirs) for _ in range(sample)) * count / sample) for _ in range(rounds)
    ]
    return compared(
        f"{count} up-to-date documents, checked",
        "",
        pairs,
        "one `sparkgen render --check -R DIR -o OUT`",
        f"{count} calls of `helm template` (computed from {sample})",
    )


def differences(helm: str, chart: Path, folder: Path, count: int = 200, rounds: int = 5) -> list[Comparison]:
    """`sparkgen diff` on documents that did not change: with what is rendered, and with a revision."""
    place = folder / "differences"
    place.mkdir()
    copies(place, count)
    timed([str(SPARKGEN), "render", "documents", "-o", "deploy", "-q"], place)
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for arguments in (["init", "-q"], ["add", "documents"], ["commit", "-q", "-m", "documents"]):
        timed([*git, *arguments], place)
    theirs, sample = [helm, "template", "bench", str(chart)], max(count // 10, 1)
    calls = f"{count} calls of `helm template` (computed from {sample})"
    found = []
    for option, value in (("--rendered", "deploy"), ("--from", "HEAD")):
        ours = [str(SPARKGEN), "diff", option, value, "documents"]
        pairs = [
            (timed(ours, place), sum(timed(theirs) for _ in range(sample)) * count / sample)
            for _ in range(rounds)
        ]
        title = f"{count} unchanged documents, `diff {option}`"
        found.append(compared(title, "", pairs, f"one `sparkgen diff {option} {value} DIR`", calls))
    return found


def compared(
    title: str, goal: str, pairs: list[tuple[float, float]], ours_name: str, theirs_name: str
) -> Comparison:
    """A comparison from its pairs of times."""
    ours, theirs = zip(*pairs, strict=True)
    return Comparison(title, goal, ours, theirs, ours_name, theirs_name)


def report(comparisons: list[Comparison]) -> str:
    """The table, as Markdown."""
    lines = [
        *opening(
            "Rendering, compared with Helm",
            "This page compares how long `sparkgen render`, `render --check` and `diff` take with "
            "`helm template`.",
            f"sparkgen {__version__}, Python {platform.python_version()}",
            "bench",
        ),
        "sparkgen and Helm run in turn, each call as a new process.",
        "Times are medians; the ratio is the median of the ratios of all pairs of runs.",
        "Compare ratios: machines differ.",
        "",
        "Helm renders two charts:",
        "",
        "- The *plain chart* is made from sparkgen's output: its templates are the rendered objects, and "
        "only the application's name is a value.",
        "  All comparisons with many documents use this chart.",
        "- `charts/spark-app` is sparkgen's own chart, which computes the objects from the document.",
        "",
        "With many documents, each round calls Helm for a tenth of the documents, and multiplies the time by "
        "ten.",
        "",
        table([("what", "sparkgen", "Helm", "sparkgen / Helm", "goal"), *map(_row, comparisons)]),
    ]
    return "\n".join(lines) + "\n"


def _row(item: Comparison) -> tuple[str, ...]:
    ours = f"{item.ours_name}: {statistics.median(item.ours) * 1000:.0f} ms"
    theirs = f"{item.theirs_name}: {statistics.median(item.theirs) * 1000:.0f} ms"
    return item.title, ours, theirs, f"**{item.ratio:.2f}**", item.goal
