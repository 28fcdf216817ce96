"""The page in a real browser: what its script does, and that nothing is wider than the screen."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sparkgen.eventlog import read_recording
from sparkgen.whatif import page
from sparkgen.whatif.candidates import from_sets
from sparkgen.whatif.price_file import prices_of
from sparkgen.whatif.study import Question, Study, study
from tests.unit.whatif.test_page import asked

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--force-device-scale-factor=1", "--dump-dom"),
)
PROBE = """<pre id=probe></pre><script>
var slider = document.getElementById("count"), words = document.getElementById("chosen");
var seen = {first: words.textContent, line: document.getElementById("chosen-line").getAttribute("d")};
seen.wider = [...document.querySelectorAll(".wide")].filter(
  box => box.querySelector("table") && box.scrollWidth > box.clientWidth).length;
var heads = [...document.querySelectorAll("th")];
var cost = heads.find(one => one.textContent.startsWith("cost"));
seen.heads = heads.map(one => one.textContent);
seen.cost = cost.getBoundingClientRect().right - window.innerWidth;
slider.value = 0;
slider.dispatchEvent(new Event("input"));
seen.last = words.textContent;
seen.said = slider.getAttribute("aria-valuetext");
seen.shown = slider.offsetWidth > 0;
seen.beyond = document.documentElement.scrollWidth - window.innerWidth;
seen.fetched = performance.getEntriesByType("resource").length;
document.getElementById("probe").textContent = JSON.stringify(seen);
</script></body>"""


def _long(folder: Path) -> Study:
    """A study with long names, and a search with prices on demand and on spot."""
    asked(folder, "x" * 60)
    prices = prices_of(
        b"{currency: USD, onDemand: {coreHour: 1, gibHour: 0}, spot: {coreHour: 0.3, gibHour: 0}}", "prices"
    )
    sets = ["spec.executor.instances=1,3", "spec.dynamicAllocation.enabled=false", "spec.executor.cores=8"]
    question = Question(from_sets(sets), search=True, sweep=True, prices=prices)
    return study(read_recording(str(folder / "log")), question)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed: apt-get install chromium")
@pytest.mark.parametrize("width", [1280, 500, 390])
def test_a_browser_shows_the_page(tmp_path: Path, width: int) -> None:
    """The slider is there and says what it draws; only drawings and tables scroll sideways."""
    file = tmp_path / "page.html"
    file.write_text(page.text(_long(tmp_path)).replace("</body>", PROBE), "utf-8")
    command = [str(BROWSER), *OPTIONS, f"--user-data-dir={tmp_path}", f"--window-size={width},900"]
    done = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout)
    assert found is not None, done.stderr
    seen: dict[str, Any] = json.loads(unescape(found[1]))
    assert seen["first"].startswith("2 executors: "), "as many as the recorded run had"
    assert seen["line"].startswith("M52.0 ")
    assert seen["last"] == seen["said"] != seen["first"]
    assert seen["last"].startswith("1 executor: ")
    assert (seen["shown"], seen["fetched"]) == (True, 0)
    assert seen["beyond"] <= 0
    assert seen["heads"][2:4] == ["cost in USD", "on spot"]
    assert seen["cost"] <= 0, "what a run costs is seen without scrolling"
    assert seen["wider"] == 0 or width < 1280
