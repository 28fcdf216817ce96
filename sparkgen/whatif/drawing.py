"""Plain SVG: axes, steps, points and bars, coloured by the classes of the page's style sheet."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sparkgen.whatif.outcome import Steps

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 24, 34


def escaped(text: str) -> str:
    """Text from outside, escaped for HTML and attributes, without characters that are not printable."""
    return html.escape("".join(letter for letter in text if letter.isprintable()))


@dataclass(frozen=True, slots=True)
class Scale:
    """Converts values to positions in a drawing."""

    most: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value."""
        return self.begin + (self.end - self.begin) * value / self.most

    def ticks(self) -> list[float]:
        """Round values for the axis: 0, and at most five more."""
        raw = self.most / 5
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw - 1e-12)
        return [step * count for count in range(int(self.most / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True)
class Chart:
    """Two axes from zero."""

    x: Scale
    y: Scale
    height: int = HEIGHT

    @classmethod
    def of(cls, x: float, y: float, height: int = HEIGHT) -> Chart:
        """Axes that reach these values."""
        return cls(
            Scale(max(x, 1e-9) * 1.02, LEFT, WIDTH - RIGHT),
            Scale(max(y, 1e-9) * 1.08, height - BOTTOM, TOP),
            height,
        )

    def svg(self, title: str, parts: Iterable[str], x_name: str, y_name: str) -> str:
        """The whole drawing; `title` is for screen readers."""
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{escaped(title)}">'
            f"{''.join(self._axes(x_name, y_name))}{''.join(parts)}</svg>"
        )

    def _axes(self, x_name: str, y_name: str) -> Iterable[str]:
        for tick in self.x.ticks():
            at = self.x(tick)
            yield f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{self.height - BOTTOM}"/>'
            yield f'<text x="{at:.1f}" y="{self.height - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>'
        for tick in self.y.ticks() if y_name else ():
            at = self.y(tick)
            yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            yield f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>'
        yield (
            f'<text class="name" x="{WIDTH - RIGHT}" y="{self.height - 4}" text-anchor="end">{x_name}</text>'
            f'<text class="name" x="4" y="12">{y_name}</text>'
        )

    def steps(self, values: Steps, end: float, kind: str) -> str:
        """The line of a number over time."""
        return f'<path class="line {kind}" d="{self.path(values, end)}"/>'

    def path(self, values: Steps, end: float) -> str:
        """The data of a path for a number over time."""
        drawn = [f"M{self.x(0):.1f} {self.y(0):.1f}"]
        for time, count in values:
            drawn.append(f"H{self.x(min(time, end)):.1f}V{self.y(count):.1f}")
        return "".join([*drawn, f"H{self.x(end):.1f}V{self.y(0):.1f}"])

    def point(self, x: float, y: float, kind: str, title: str) -> str:
        """A point with a tooltip."""
        return (
            f'<circle class="{kind}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="5">'
            f"<title>{escaped(title)}</title></circle>"
        )

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> str:
        """A line through points."""
        places = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return f'<polyline class="{kind}" points="{places}"/>'

    def label(self, x: float, y: float, text: str) -> str:
        """A text beside a point."""
        at = self.x(x)
        side = "end" if at > WIDTH * 0.6 else "start"
        return (
            f'<text x="{at + (-9 if side == "end" else 9):.1f}" y="{self.y(y) - 7:.1f}" '
            f'text-anchor="{side}">{escaped(text)}</text>'
        )


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle, in positions of a drawing."""
    sizes = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {sizes} rx="2"/>'


def bars(rows: Sequence[tuple[str, float, float, str]], end: float, row: int = 18) -> str:
    """Spans of time as rows: each has a label, its start, its end and a tooltip."""
    chart = Chart.of(end, 1, height=TOP + BOTTOM + row * len(rows))
    parts = []
    for place, (label, begin, until, title) in enumerate(rows):
        top, at = TOP + row * place, chart.x(begin)
        width = max(1.5, chart.x(until) - at)
        words = at + width + 5
        # The label is after its bar, or before it if there is no room.
        place_of = f'x="{words:.1f}"' if words < WIDTH * 0.7 else f'x="{at - 5:.1f}" text-anchor="end"'
        parts.append(
            f"<g>{box(at, top + 3, width, row - 6, 'replayed')}"
            f'<text {place_of} y="{top + row - 5}">{escaped(label)}</text><title>{escaped(title)}</title></g>'
        )
    return chart.svg("Stages over time", parts, "seconds", "")
