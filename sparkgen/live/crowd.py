"""The facts about many runs of a namespace, from lists: the requests do not grow with the runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from sparkgen import contract
from sparkgen.cluster import Cluster, ClusterError
from sparkgen.live import gangs
from sparkgen.live.facts import Shared, Started, started, started_by_spark
from sparkgen.live.gangs import Gang
from sparkgen.live.places import is_of_some
from sparkgen.live.values import UNREAD, Run, name_of, uid_of
from sparkgen.objects import ObjectView
from sparkgen.thread_map import Once

FEW = 20
"""The most runs of a namespace of which each is asked for by itself.

So many take some ten round trips, as AT_ONCE are read at the same time. The lists take four requests, and
more where the namespace has more than 500 Events: then they would be slower.
"""
MOST_LOGS = 1_000
"""The most logs of a namespace that are read if it has more runs. A running driver has one that is read."""
_NOT_FOUND = 404
_OF_APPLICATIONS = f"{contract.LABEL_APPLICATION},!{contract.LABEL_RUN}"
"""The label selector of tunings: other ConfigMaps of applications belong to a run."""


class Crowd(Shared):
    """What the runs of a namespace share if they are more than FEW.

    `tell`: called with a sentence about each list that cannot be read, or is too large. The rows then show
    less. Several threads may call it.
    """

    def __init__(
        self, cluster: Cluster, namespace: str, runs: Iterable[Run], tell: Callable[[str], None]
    ) -> None:
        super().__init__(cluster)
        self._namespace = namespace
        self._tell = tell
        self._known = {uid_of(item) for run in runs for item in (run.workload, *run.drivers[:1])}
        self._logs = itertools.count(1)
        events = Once(self._events_by_uid)
        self.events = lambda _, item: events(item["kind"]).get(uid_of(item), ())
        tunings = Once[str, Mapping[str, Started]](
            lambda selector: {name_of(one): started(one) for one in self._config_maps(selector)}
        )
        self.started = lambda named: tunings(_OF_APPLICATIONS).get(named[0], (None, None))
        properties = Once[str, Mapping[str, int | None]](
            lambda selector: {name_of(one): started_by_spark(one) for one in self._config_maps(selector)}
        )
        self.started_by_spark = lambda named: properties(contract.LABEL_RUN).get(named[0])
        self.events_of_replica_sets = Once(lambda _: self._events_about("ReplicaSet"))
        self._groups = Once(self._gangs_by_name)
        self.gang = self._gang

    def log(self, run: Run, name: str, *, previous: bool = False) -> str:
        """Returns the end of a log of the run's driver; "" if it may not be read, or too many were."""
        if next(self._logs) > MOST_LOGS:
            limit = f"only {MOST_LOGS:,} logs were read in {self._namespace}"
            self._tell(f"{limit}; to see more reasons, name applications")
            return ""
        return super().log(run, name, previous=previous)

    def _events_by_uid(self, kind: str) -> Mapping[str, Sequence[ObjectView]]:
        """Returns the Events about the runs' objects or pods of a kind, by the uid of these."""
        found: dict[str, list[ObjectView]] = {}
        for event in self._events_about(kind):
            uid = str((event.get("involvedObject") or {}).get("uid") or "")
            if uid in self._known:
                found.setdefault(uid, []).append(event)
        return found

    def _events_about(self, kind: str) -> Sequence[ObjectView]:
        return self._list("v1", "Event", fields=f"involvedObject.kind={kind}")

    def _config_maps(self, selector: str) -> Sequence[ObjectView]:
        return self._list("v1", "ConfigMap", selector)

    def _gangs_by_name(self, version: str) -> Mapping[str, Gang]:
        return {name_of(one): gangs.read_as(version, one) for one in self._list(version, "PodGroup")}

    def _gang(self, named: tuple[str, ...]) -> Gang:
        _, name, *versions = named
        found = (self._groups(version).get(name) for version in versions)
        return next(filter(None, found), gangs.read_as(versions[0], {}))

    def _list(
        self, api_version: str, kind: str, selector: str = "", fields: str = ""
    ) -> Sequence[ObjectView]:
        """Returns objects of the namespace; none, and tells why, if they cannot be read."""
        try:
            return self.cluster.list(api_version, kind, self._namespace, selector, fields, brief=True)
        except ClusterError as error:
            if error.status not in UNREAD and not is_of_some(error):
                raise
            if error.status != _NOT_FOUND:
                self._tell(f"{error}; reasons and numbers of executors that need them are not shown")
            return ()
