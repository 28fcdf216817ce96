"""What holds where executors cannot have their files."""

from __future__ import annotations

from simulator.invariants.invariant import Invariant


class EndsWithoutFiles(Invariant):
    """An application whose executors cannot have their files, and of which none runs, fails."""

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
