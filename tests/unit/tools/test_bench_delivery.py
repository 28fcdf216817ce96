"""How delivery is measured (tools/bench/delivery.py): what is counted, and the page."""

from __future__ import annotations

from pathlib import Path

from bench import delivery
from bench.delivery import BUILD, PUSH, Bench, Run


def test_each_change_is_another_script(tmp_path: Path) -> None:
    """Or nothing would be pushed, and no image built."""
    bench = Bench(tmp_path, "localhost:1", ())
    bench.change()
    before = (tmp_path / "etl.py").read_text()
    bench.change()
    assert (tmp_path / "etl.py").read_text() != before


def test_what_the_registry_has_is_counted(tmp_path: Path) -> None:
    """All of its blobs, and nothing else that it writes."""
    for name in ("data/docker/blobs/sha256/ab/abc/data", "data/docker/repositories/x/link"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(bytes(100))
    assert delivery.stored(Bench(tmp_path / "project", "localhost:1", ())) == 100


def test_the_page_has_ratios_within_each_round() -> None:
    """A noisy round treats both alike: the median is that of ratios, and not of seconds."""

    def one(scale: float) -> dict[str, Run]:
        return {PUSH: Run(scale, 4_000), BUILD: Run(2 * scale, 2_000)}

    text = delivery.page(one(5), [one(1), one(2), one(10)])
    assert "**0.50** (0.50 to 0.50)" in text
    assert f"| {PUSH} | 2.00 | 4,000 | 4,000 |" in text
