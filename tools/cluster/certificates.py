"""The cluster's keys and certificates, made by openssl: one authority, good for this one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cluster.plan import API_SERVICE, CONTROL_ADDRESS, NODES
from cluster.requirements import run

DAYS = "30"
"""A test cluster that is older than this is not one."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate to make: the file's name, its subject, and the names and addresses it is good for."""

    name: str
    subject: str
    names: tuple[str, ...] = ()


def wanted() -> tuple[Certificate, ...]:
    """Every certificate of the cluster."""
    service = "kubernetes.default.svc"
    api = ("kubernetes", "kubernetes.default", service, f"{service}.cluster.local", "localhost")
    addresses = ("127.0.0.1", CONTROL_ADDRESS, API_SERVICE)
    nodes = (
        Certificate(
            node.name,
            f"/O=system:nodes/CN=system:node:{node.name}",
            (f"DNS:{node.name}", f"IP:{node.address}"),
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


def make(folder: Path) -> None:
    """Make in `folder` what is not there yet: the authority, the service accounts' key, the certificates."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    authority = (folder / "ca.key", folder / "ca.crt")
    if not authority[1].exists():
        _key(authority[0])
        run(
            *("openssl", "req", "-x509", "-new", "-sha256", "-days", DAYS, "-subj", "/CN=sparkgen-cluster"),
            *("-key", str(authority[0]), "-out", str(authority[1])),
        )
    if not (folder / "sa.pub").exists():
        _key(folder / "sa.key")
        run("openssl", "pkey", "-in", str(folder / "sa.key"), "-pubout", "-out", str(folder / "sa.pub"))
    for certificate in wanted():
        if not (folder / f"{certificate.name}.crt").exists():
            _sign(folder, certificate)


def _key(path: Path) -> None:
    # Elliptic, not RSA: a dozen RSA keys would take longer than the rest of the start.
    run(
        *("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-out", str(path)),
    )


def _sign(folder: Path, certificate: Certificate) -> None:
    base = str(folder / certificate.name)
    _key(Path(f"{base}.key"))
    Path(f"{base}.ext").write_text(extensions(certificate))
    run(
        *("openssl", "req", "-new", "-key", f"{base}.key", "-subj", certificate.subject),
        *("-out", f"{base}.csr"),
    )
    run(
        *("openssl", "x509", "-req", "-in", f"{base}.csr", "-days", DAYS, "-extfile", f"{base}.ext"),
        *("-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key"), "-CAcreateserial"),
        *("-out", f"{base}.crt"),
    )
