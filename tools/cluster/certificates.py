"""The cluster's keys and certificates, made by openssl: one authority for this cluster only."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from cluster.plan import NODES, USED
from common.command import run

DAYS = "30"
"""The days for which certificates are valid: no test cluster lives longer."""
PAST_SECONDS = 24 * 3600
"""Certificates are valid from this long ago, so that a program whose clock is behind accepts them, too."""

AUTHORITY_CONFIG = """[ca]
default_ca = authority
[authority]
dir = {folder}
database = $dir/index.txt
new_certs_dir = $dir
certificate = $dir/ca.crt
private_key = $dir/ca.key
default_md = sha256
policy = anything
unique_subject = no
rand_serial = yes
[anything]
commonName = supplied
organizationName = optional
"""
"""The configuration of `openssl ca`. (`openssl x509` needs no file, but cannot set the start of validity.)"""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate to make: the file's name, its subject, and its names and addresses."""

    name: str
    subject: str
    names: tuple[str, ...] = ()


def wanted() -> tuple[Certificate, ...]:
    """All certificates of the cluster."""
    service = "kubernetes.default.svc"
    api = ("kubernetes", "kubernetes.default", service, f"{service}.cluster.local", "localhost")
    control = [family.control for family in USED]
    addresses = ("127.0.0.1", *control, *(family.api_service for family in USED))
    registry = tuple(f"IP:{address}" for address in ("127.0.0.1", *control))
    nodes = (
        Certificate(
            node.name,
            f"/O=system:nodes/CN=system:node:{node.name}",
            (f"DNS:{node.name}", *(f"IP:{address}" for address in node.addresses)),
        )
        for node in NODES
    )
    return (
        Certificate(
            "apiserver",
            "/CN=kube-apiserver",
            (*(f"DNS:{name}" for name in api), *(f"IP:{address}" for address in addresses)),
        ),
        Certificate("admin", "/O=system:masters/CN=admin"),
        Certificate("kubelet-client", "/O=system:masters/CN=apiserver-kubelet-client"),
        Certificate("kube-controller-manager", "/CN=system:kube-controller-manager"),
        Certificate("kube-scheduler", "/CN=system:kube-scheduler"),
        Certificate("kube-proxy", "/CN=system:kube-proxy"),
        Certificate("coredns", "/O=system:masters/CN=coredns"),
        Certificate("kwok", "/O=system:masters/CN=kwok"),
        Certificate("front-proxy", "/CN=front-proxy"),
        Certificate("registry", "/CN=registry", registry),
        *nodes,
    )


def extensions(certificate: Certificate) -> str:
    """The text of openssl's extension file."""
    lines = [
        "basicConstraints=CA:FALSE",
        "keyUsage=digitalSignature,keyEncipherment",
        "extendedKeyUsage=serverAuth,clientAuth",
    ]
    if certificate.names:
        lines.append(f"subjectAltName={','.join(certificate.names)}")
    return "\n".join(lines) + "\n"


def make_authority(folder: Path) -> None:
    """Make the certificate authority in `folder`, if it is missing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / "ca.crt").exists():
        (folder / "ca.cnf").write_text(AUTHORITY_CONFIG.format(folder=folder))
        (folder / "index.txt").write_text("")
        (folder / "ca.ext").write_text("basicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=hash\n")
        _request(folder, "ca", "/CN=sparkgen-cluster")
        _issue(folder, "ca", "-selfsign")


def make(folder: Path) -> None:
    """Make whatever is missing in `folder`: the authority, the service accounts' key, the certificates."""
    make_authority(folder)
    if not (folder / "sa.pub").exists():
        _key(folder / "sa.key")
        run("openssl", "pkey", "-in", str(folder / "sa.key"), "-pubout", "-out", str(folder / "sa.pub"))
    for certificate in wanted():
        if not (folder / f"{certificate.name}.crt").exists():
            issue(folder, certificate)


def _key(path: Path) -> None:
    # Elliptic curves, not RSA: a dozen RSA keys would take longer than the rest of the start.
    run(
        *("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-out", str(path)),
    )


def issue(folder: Path, certificate: Certificate) -> None:
    """Make a key and a certificate in `folder`, which has the authority. Existing ones are replaced."""
    (folder / f"{certificate.name}.ext").write_text(extensions(certificate))
    _request(folder, certificate.name, certificate.subject)
    _issue(folder, certificate.name)


def _request(folder: Path, name: str, subject: str) -> None:
    key, request = folder / f"{name}.key", folder / f"{name}.csr"
    _key(key)
    run("openssl", "req", "-new", "-key", str(key), "-subj", subject, "-out", str(request))


def _issue(folder: Path, name: str, *options: str) -> None:
    start = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() - PAST_SECONDS))
    run(
        *("openssl", "ca", "-batch", "-notext", "-config", str(folder / "ca.cnf"), *options),
        *("-startdate", start, "-days", DAYS, "-extfile", str(folder / f"{name}.ext")),
        *("-in", str(folder / f"{name}.csr"), "-out", str(folder / f"{name}.crt")),
    )
