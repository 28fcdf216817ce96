"""What `apply` does: check, render, preflight, and apply object by object. Knows no command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen import model, resources
from sparkgen.cli import output, placing
from sparkgen.cli.pipeline import agree, check
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.request import Request
from sparkgen.cluster import ClusterError, Place, connect
from sparkgen.cluster.marks import KILLED, apply_over
from sparkgen.errors import Severity, SparkgenError
from sparkgen.live.values import annotation_of
from sparkgen.preflight import Facts, Finding, Unknown, Wanted, gather, judge, needs
from sparkgen.preflight.judge import starts

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.document import Document

Object = dict[str, Any]
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "not checked"}


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for beside the documents. `timeout`: as in `30m`; `form`: of ObjectForm."""

    place: Place
    dry_run: bool = False
    wait: bool = False
    timeout: str = ""
    skip_preflight: bool = False
    force: bool = False
    form: str = "text"


@dataclass(frozen=True, slots=True)
class Applied:
    """An object as the server has it now, and what the apply came to: created, configured, unchanged."""

    item: Object
    result: str

    @property
    def name(self) -> str:
        """`job.batch/pi-51bb888d`, as kubectl names it."""
        return placing.full_name(self.item)


def apply(request: Request, options: Options) -> int:
    """Apply all documents; 1 if a document or the preflight has errors."""
    _agree(options)
    documents = _documents(request)
    if not documents:
        return 1
    cluster = connect(options.place)
    all_wanted = [_wanted(document, request.namespace or cluster.namespace) for document in documents]
    if options.wait and len(all_wanted) != 1:
        raise SparkgenError("--wait is about one application: apply them one by one, or leave it out")
    facts: list[Facts | None] = [None] * len(all_wanted)
    if not options.skip_preflight:
        facts = [gather(cluster, one, datetime.now(UTC), force=options.force) for one in all_wanted]
        pairs = zip(all_wanted, facts, strict=True)
        stopped = [_tell(one, judge(one, known), request) for one, known in pairs if known]
        if any(stopped):
            output.note("nothing was applied; --skip-preflight applies all the same")
            return 1
    done: list[Applied] = []
    for one in all_wanted:
        done += _apply(cluster, one, options)
    if options.form in ("json", "yaml"):
        output.write(placing.objects_text([one.item for one in done], options.form))
    return _end(cluster, all_wanted, facts, request, options)


def _agree(options: Options) -> None:
    """SparkgenError for options that exclude each other."""
    if options.wait and options.dry_run:
        raise SparkgenError("--dry-run starts nothing that --wait could wait for: leave one of them out")
    if options.timeout and not options.wait:
        raise SparkgenError("--timeout says how long to --wait: add it, or leave the time out")


def _documents(request: Request) -> Sequence[Document]:
    """The documents, if none has errors; what is wrong with them is shown."""
    stdin = Stdin()
    checked = check(request, stdin)
    shown = [one for one in checked.problems if not request.quiet or one.severity is Severity.ERROR]
    show(shown, request, stdin, on_stdout=False)
    if checked.errors:
        return ()
    agree(checked.documents, request.namespace)
    return checked.documents


def _wanted(document: Document, namespace: str) -> Wanted:
    described = model.describe(document.value, namespace)
    objects = tuple(resources.render(described))
    return Wanted(described.name, described.namespace, objects, document.value)


def _tell(wanted: Wanted, findings: Iterable[Finding], request: Request) -> bool:
    """Print what was found; whether anything of it stops the apply."""
    found = [one for one in findings if not request.quiet or one.severity is Severity.ERROR]
    if found:
        output.note(f"preflight of {wanted.name} in {wanted.namespace}:")
    for one in found:
        output.note(f"  {_WORDS[one.severity]}: {one.message}")
        if one.next_step:
            output.note(f"    next: {one.next_step}")
    return any(one.severity is Severity.ERROR for one in found)


def _apply(cluster: Cluster, wanted: Wanted, options: Options) -> list[Applied]:
    """Apply the objects in their order: what a driver needs comes before it. A refusal ends it."""
    done: list[Applied] = []
    for item in wanted.objects:
        try:
            one = _apply_one(cluster, item, options)
        except ClusterError as error:
            if not done or options.dry_run:
                raise
            raise ClusterError(
                f"{error}. What stands above is applied; apply again when it is mended", error.status
            ) from error
        done.append(one)
        if options.form == "text":
            output.write(f"{one.name} {one.result}{' (dry run)' if options.dry_run else ''}\n")
        elif options.form == "name":
            output.write(f"{one.name}\n")
    return done


def _apply_one(cluster: Cluster, item: Any, options: Options) -> Applied:
    metadata = item["metadata"]
    try:
        live = cluster.get(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace", ""))
    except ClusterError as error:
        if error.status != 403:
            raise
        return Applied(apply_over(cluster, item, dry_run=options.dry_run, force=options.force), "applied")
    if live is not None and annotation_of(live, KILLED):
        return Applied(live, "unchanged (killed; another spec.run.id, or sparkgen run, runs it again)")
    new = apply_over(cluster, item, dry_run=options.dry_run, force=options.force)
    if live is None:
        return Applied(new, "created")
    same = live["metadata"]["resourceVersion"] == new["metadata"]["resourceVersion"]
    return Applied(new, "unchanged" if same or _alike(live, new) else "configured")


def _alike(live: Object, new: Object) -> bool:
    """Whether two states differ at most in who set what, and when."""
    return _content(live) == _content(new)


def _content(item: Object) -> Object:
    own = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid")
    metadata = {key: value for key, value in item["metadata"].items() if key not in own}
    return {**{key: value for key, value in item.items() if key not in ("status",)}, "metadata": metadata}


def _end(
    cluster: Cluster,
    all_wanted: Sequence[Wanted],
    facts: Sequence[Facts | None],
    request: Request,
    options: Options,
) -> int:
    """The next step; or the wait, and its exit code."""
    if options.dry_run:
        return 0
    for wanted, known in zip(all_wanted, facts, strict=True):
        if not request.quiet and options.form == "text" and not options.wait:
            output.note(_next_step(wanted, known, options.place))
    if not options.wait:
        return 0
    from sparkgen.cli import waiting  # noqa: PLC0415 - only with --wait

    wish = waiting.Wish(all_wanted[0].name, _job(all_wanted[0]), options.timeout, quiet=request.quiet)
    return waiting.wait(cluster, wish, options.place, all_wanted[0].namespace)


def _job(wanted: Wanted) -> str:
    """The name of the Job of the run; "" where a schedule or a Deployment runs it."""
    for item in wanted.objects:
        if item["kind"] == "Job" and needs.driver(item) is not None:
            return str(item["metadata"]["name"])
    return ""


def _next_step(wanted: Wanted, facts: Facts | None, place: Place) -> str:
    here = placing.options(place, wanted.namespace)
    workload = next((item for item in wanted.objects if needs.driver(item) is not None), None)
    if workload is None:
        return f"next: kubectl get pods{here}"
    if workload["kind"] == "CronJob":
        schedule = workload["spec"]["schedule"]
        return f'the schedule "{schedule}" starts it; next: sparkgen run {wanted.name}{here}   # now, once'
    job = _job(wanted)
    if workload["spec"].get("suspend"):
        return f"{job} is suspended; next: sparkgen run {wanted.name}{here}   # a run with its own arguments"
    known = facts.live.get((workload["kind"], workload["metadata"]["name"])) if facts else None
    if job and facts is not None and not starts(wanted, facts) and not isinstance(known, Unknown):
        return (
            f"{job} is there already, and is not run again; "
            f"next: sparkgen status {wanted.name}{here}, or sparkgen run {wanted.name}{here} for another run"
        )
    follow = f"sparkgen status {wanted.name}{here}"
    return f"next: {follow}; sparkgen wait {wanted.name}{here}" if job else f"next: {follow}"
