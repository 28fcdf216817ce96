"""The invariant about executors whose files are not available."""

from __future__ import annotations

from simulator.invariants.invariant import Invariant


class EndsWithoutFiles(Invariant):
    """An application without registered executors fails if its executors cannot get their files."""

    name = "ends-without-files"

    def without_files(self) -> None:
        world = self.world
        if world.over or world.has_failed or not world.what_is_missing():
            return
        if world.driver is None or not world.driver.registered:
            tried = world.cluster.without_files
            raise self.broken(
                f"no executor can get its files, {tried} have tried, and the application is not stopped"
            )
