"""Rules about images and downloads, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen import contract
from sparkgen.errors import Path
from sparkgen.lint.findings import ERROR, INFO, PRODUCTION, WARNING, Finding, rule, shared_rule
from sparkgen.lint.subject import Subject
from sparkgen.lint.view import Container, View
from sparkgen.model import SERVER_KINDS
from sparkgen.semantics.software import is_latest, registry, with_registry


@shared_rule("SG220", WARNING, PRODUCTION, servers=SERVER_KINDS)
def digest(subject: View) -> Iterator[Finding]:
    """Images with a tag, which may be moved, and no digest."""
    for path, image, _ in _images(subject):
        if "@sha256:" not in image and image != contract.RUNTIME_IMAGE:
            yield Finding(
                path,
                "a tag can be moved to another image; a digest cannot",
                image,
                "name[:tag]@sha256:...",
                "add the digest: `docker buildx imagetools inspect IMAGE` prints it",
            )


@shared_rule("SG221", WARNING, PRODUCTION, servers=SERVER_KINDS)
def unqualified(subject: View) -> Iterator[Finding]:
    """Images without a registry: each node's configuration decides where they come from."""
    for path, image, _ in _images(subject):
        if not registry(image):
            yield Finding(
                path,
                "no registry is set: the node decides where the image comes from",
                image,
                "registry/name",
                f"for Docker Hub, write `docker.io/{image if '/' in image else f'library/{image}'}`",
            )


@shared_rule("SG222", ERROR, PRODUCTION, servers=SERVER_KINDS)
def registries(subject: View) -> Iterator[Finding]:
    """Images from registries that the repository's configuration does not allow (`settings.registries`)."""
    allowed = subject.settings.registries
    for path, image, _ in _images(subject):
        if allowed and not any(comes_from(image, one) for one in allowed):
            step = "copy the image to an allowed registry, and use that copy"
            yield Finding(
                path, "is from a registry that is not allowed here", image, ", ".join(allowed), step
            )


@shared_rule("SG223", INFO, PRODUCTION, servers=SERVER_KINDS)
def pull_policy(subject: View) -> Iterator[Finding]:
    """Pull policies with which two nodes may run different images of the same name."""
    told: set[Path] = set()
    for path, image, container in _images(subject):
        policy = container.spec.get("imagePullPolicy") or ("Always" if is_latest(image) else None)
        own = subject.where((*container.places, subject.root), "imagePullPolicy")
        place = own if subject.has(own) else path
        if place in told or policy == "Always" or (policy != "Never" and "@sha256:" in image):
            continue
        told.add(place)
        if policy == "Never":
            yield Finding(
                place,
                "a node that does not have the image can never run the pod",
                "Never",
                "Always, IfNotPresent",
                "delete it: with a digest, IfNotPresent is safe and fast",
            )
        else:
            yield Finding(
                place,
                "a node that has an older image with this tag keeps using it",
                str(policy or ""),
                "Always, or a digest",
                "use a digest, or set `imagePullPolicy: Always`",
            )


def comes_from(image: str, allowed: str) -> bool:
    """Whether an image's name is in an allowed registry, or a part of one, compared by whole components.

    `registry.example.com` contains `registry.example.com/a`, but not `registry.example.com.evil.io/a`.
    """
    first = allowed.partition("/")[0]
    is_registry = "." in first or ":" in first or first == "localhost"
    where = (allowed if is_registry else f"docker.io/{allowed}").rstrip("/").lower()
    name = with_registry(image).lower()
    # After a registry, a colon starts a port, and so names another registry.
    ends = (f"{where}/", f"{where}:", f"{where}@") if "/" in where else (f"{where}/",)
    return name.startswith(ends) or name == where


def _images(subject: View) -> Iterator[tuple[Path, str, Container]]:
    """Each image of the document, once: its path, its name, and a container that uses it."""
    told: set[tuple[Path, str]] = set()
    for _, container in subject.containers("spark", "init", "sidecar", "runtime"):
        path = _image_path(subject, container)
        image = str(container.spec.get("image", ""))
        if image and (path, image) not in told:
            told.add((path, image))
            yield path, image, container


def _image_path(subject: View, container: Container) -> Path:
    if container.kind == "runtime":
        return container.places[0]
    if container.kind == "spark":
        return subject.where((container.places[0], subject.root), "image")
    return subject.where(container.places, "image")


@rule("SG224", WARNING, PRODUCTION)
def download_at_start(subject: Subject) -> Iterator[Finding]:
    """Files that are fetched from the Internet at every start: they can be missing, slow, or changed."""
    for path, text in subject.facts.dependencies("packages"):
        yield _download(path, text, "is fetched from a Maven repository at every start")
    main = (subject.facts.path("mainApplicationFile"), subject.application.main_file or "")
    fields = ("jars", "pyFiles", "files", "archives")
    for path, text in (main, *(one for field in fields for one in subject.facts.dependencies(field))):
        if text.startswith(("http://", "https://", "ftp://")):
            yield _download(path, text, "is fetched at every start")


def _download(path: Path, text: str, message: str) -> Finding:
    step = "build it into the image, and refer to it with local://"
    return Finding(path, f"{message}: a run depends on a server that is not yours", text, next_step=step)


@rule("SG225", WARNING, PRODUCTION)
def plain_http(subject: Subject) -> Iterator[Finding]:
    """Code from an unencrypted connection, on which anyone on the way can change it."""
    fields = ("jars", "pyFiles", "files", "archives", "repositories")
    named = [found for field in fields for found in subject.facts.dependencies(field)]
    main = subject.application.main_file or ""
    for path, text in [(subject.facts.path("mainApplicationFile"), main), *named]:
        if text.startswith("http://"):
            message = "code is downloaded over a connection on which anyone can change it"
            yield Finding(path, message, text, next_step="use https, or build it into the image")
