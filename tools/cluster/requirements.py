"""The requirements of the machine: root, Linux, and commands from Debian packages."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from cluster.plan import FAMILIES, FAMILY, NAME
from common import progress
from common.cachedir import ToolError

PACKAGES = {
    "buildah": "buildah",
    "busybox": "busybox-static",
    "conntrack": "conntrack",
    "curl": "curl",
    "git": "git",
    "ip": "iproute2",
    "jq": "jq",
    "java": "openjdk-17-jre-headless",
    "iptables": "iptables",
    "mmdebstrap": "mmdebstrap",
    "mount": "mount",
    "nsenter": "util-linux",
    "openssl": "openssl",
    "redis-server": "redis-server",
    "runc": "runc",
    "skopeo": "skopeo",
    "sysctl": "procps",
    "tini": "tini",
}
"""Command -> the Debian package that has it."""

CNI_PLUGINS = Path("/usr/lib/cni/bridge")
"""A file of the package containernetworking-plugins, whose commands are not on the PATH."""

CLUSTER_NAME = re.compile(r"sparkgen-[a-z0-9-]{1,20}")
"""Valid names of clusters; the prefix keeps `down` from removing other folders."""

INSTALL = "make cluster-requirements"


def missing_packages(
    find: Callable[[str], object], cni: bool, packages: Mapping[str, str] = PACKAGES
) -> list[str]:
    """The Debian packages to install, sorted: `find(command)` is falsy for a missing command."""
    lacking = {package for command, package in packages.items() if not find(command)}
    if not cni:
        lacking.add("containernetworking-plugins")
    return sorted(lacking)


def explain(
    platform: str, user: int, packages: list[str], name: str = NAME, family: str = FAMILY
) -> str | None:
    """Why no cluster named `name` can run here, and what to do about it; None if it can."""
    if family not in FAMILIES:
        return (
            f"SPARKGEN_FAMILY={family!r} is not a family of addresses. Choose one of: {', '.join(FAMILIES)}."
        )
    if not CLUSTER_NAME.fullmatch(name):
        return (
            f"SPARKGEN_CLUSTER={name!r} is not a valid name for a test cluster, because `down` removes "
            "folders by this name. Choose sparkgen- followed by up to 20 of a-z, 0-9 and '-'."
        )
    if platform != "linux":
        return (
            f"the test cluster needs Linux; this is {platform}. "
            "Use a Linux machine, or name a cluster of your own: KUBECONFIG=... make e2e."
        )
    if user != 0:
        return (
            "the test cluster needs root, for network namespaces and mounts. "
            "Run it as root (sudo -E make ...), or name a cluster of your own: KUBECONFIG=... make e2e."
        )
    if packages:
        return f"Debian packages are missing: {', '.join(packages)}. Install them: {INSTALL}"
    return None


def check() -> None:
    """Raise ToolError if a requirement of the cluster is missing."""
    packages = missing_packages(_find, CNI_PLUGINS.exists())
    if problem := explain(sys.platform, os.geteuid(), packages):
        raise ToolError(problem)


def install() -> None:
    """Install the missing packages. Raises ToolError if this is not possible."""
    if problem := explain(sys.platform, os.geteuid(), []):
        raise ToolError(problem)
    packages = missing_packages(_find, CNI_PLUGINS.exists())
    if not packages:
        progress.say("nothing to install: every requirement is there")
        return
    if not shutil.which("apt-get"):
        raise ToolError(
            f"this machine has no apt-get. Install these with its own package manager: {', '.join(packages)}"
        )
    # The packages must not start services: the cluster runs the programs that it needs itself.
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    steps = {
        "reading the lists of packages": ["apt-get", "update", "-qq"],
        f"installing {', '.join(packages)}": [
            *("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)
        ],
    }
    for title, command in steps.items():
        code, output = progress.run(title, command, environment=settings)
        if code:
            last = "\n".join(output.strip().splitlines()[-10:])
            raise ToolError(
                f"cannot install {', '.join(packages)}:\n{last}\nFix the cause, then run: {INSTALL}"
            )
    check()


def _find(command: str) -> str | None:
    # Debian has some of the commands in sbin, which is not on every PATH.
    return shutil.which(command, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")
