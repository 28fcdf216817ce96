"""Real nodes: each is a network, mount and process namespace with its containerd, kubelet and kube-proxy.

The first process of the process namespace (`init`) collects dead processes. When it is killed, the kernel
kills all processes of the node, including those of containers, and removes the mounts with the last process.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from cluster import cgroups, configs, network, ociimage, processes
from cluster.ociimage import Image
from cluster.plan import DNS_SERVICE, Layout, Node
from common import progress
from common.cachedir import ToolError

PROGRAMS = ("containerd", "kubelet", "kube-proxy")
"""The node's programs, in the order of their start."""

BOUND = ("containerd", "containerd-shim-runc-v2", "ctr", "kubelet", "kube-proxy")
"""The tools in each node's /run/bin."""

CTR = ("/run/bin/ctr", "--namespace=k8s.io")
"""The start of a ctr command, with the containerd namespace of the kubelet's images."""


def process_names(node: Node) -> tuple[str, ...]:
    """The names of the node's processes, `init` first."""
    return tuple(f"{node.name}-{program}" for program in ("init", *PROGRAMS))


def pid_file(layout: Layout, node: Node, program: str) -> Path:
    """The pid file of one of the node's processes."""
    return layout.pids / f"{node.name}-{program}.pid"


def enter(layout: Layout, node: Node) -> list[str]:
    """The prefix of a command that is to run on the node. Raises ToolError if the node does not run."""
    identity = processes.read(pid_file(layout, node, "init"))
    if identity is None or not processes.alive(identity):
        raise ToolError(f"{node.name} is not running; start it: make cluster-up")
    return ["nsenter", f"--target={identity.pid}", "--mount", "--net", "--pid", "--uts", "--"]


def configure(layout: Layout, node: Node) -> None:
    """Write the node's files to the folders that it mounts."""
    var, pki = layout.node_var(node), Path("/var/lib/kubelet/pki")
    for name in ("lib/kubelet/pki", "lib/containerd/hosts", "lib/cni/net.d", "log/pods", "tmp"):
        (var / name).mkdir(parents=True, exist_ok=True)
    for name in ("mnt", "srv"):
        (layout.node(node) / name).mkdir(exist_ok=True)
    for source, target in {
        "ca.crt": "ca.crt",
        f"{node.name}.crt": "node.crt",
        f"{node.name}.key": "node.key",
        "kube-proxy.crt": "kube-proxy.crt",
        "kube-proxy.key": "kube-proxy.key",
    }.items():
        shutil.copy(layout.pki / source, var / "lib/kubelet/pki" / target)
    files = {
        "lib/kubelet/kubeconfig": configs.kubeconfig("node", pki),
        "lib/kubelet/proxy.kubeconfig": configs.kubeconfig("kube-proxy", pki),
        "lib/kubelet/config.yaml": configs.kubelet(cgroups.of_node(node)),
        "lib/kubelet/proxy.yaml": configs.kube_proxy(node),
        "lib/kubelet/resolv.conf": f"nameserver {DNS_SERVICE}\n",
        "lib/cni/net.d/10-sparkgen.conflist": configs.cni(node),
        "lib/containerd/config.toml": configs.containerd(),
    }
    for name, content in files.items():
        (var / name).write_text(content)


def start_init(layout: Layout, node: Node, tools: Mapping[str, Path]) -> None:
    """Create the node's namespaces, if they do not exist."""
    file = pid_file(layout, node, "init")
    if processes.alive(processes.read(file)):
        return
    configure(layout, node)
    cgroups.make(node)
    own = {name: tools[name] for name in BOUND}
    script = layout.node(node) / "init.sh"
    script.write_text(configs.node_init(layout.node(node), own))
    command = [
        *network.enter(node.network_namespace),
        *("unshare", "--mount", "--propagation=private", "--uts", "--pid", "--fork", "--mount-proc"),
        *("--kill-child", "sh", str(script)),
    ]
    processes.start(command, layout.logs / f"{node.name}-init.log", file, forks=True)
    _wait_for(lambda: _mounted(layout, node), f"{node.name}'s mounts", layout, node, "init")
    _run(layout, node, "hostname", node.name)


def start_containerd(layout: Layout, node: Node, images: Mapping[str, Image]) -> None:
    """Start the node's containerd, and load the images that it lacks."""
    if not processes.alive(processes.read(pid_file(layout, node, "containerd"))):
        # It searches its shim on the PATH, on which the machine's own containerd may have another shim.
        path = f"PATH=/run/bin:{os.environ.get('PATH', os.defpath)}"
        command = ["env", path, "/run/bin/containerd", "-c", "/var/lib/containerd/config.toml"]
        _start(layout, node, "containerd", command)
    what = f"{node.name}'s containerd"
    _wait_for(lambda: _run(layout, node, *CTR, "version").returncode == 0, what, layout, node, "containerd")
    load_images(layout, node, images)


def start_kubelet(layout: Layout, node: Node) -> None:
    """Start the node's kubelet and kube-proxy, if they do not run."""
    if not processes.alive(processes.read(pid_file(layout, node, "kubelet"))):
        command = [
            *("/run/bin/kubelet", "--kubeconfig=/var/lib/kubelet/kubeconfig"),
            *("--config=/var/lib/kubelet/config.yaml", f"--hostname-override={node.name}"),
            *(f"--node-ip={','.join(node.addresses)}", "--v=2"),
        ]
        _start(layout, node, "kubelet", command)
    if not processes.alive(processes.read(pid_file(layout, node, "kube-proxy"))):
        command = ["/run/bin/kube-proxy", "--config=/var/lib/kubelet/proxy.yaml"]
        _start(layout, node, "kube-proxy", command)


def images_on(layout: Layout, node: Node) -> dict[str, str]:
    """The images of the node's containerd: name -> digest."""
    lines = _run(layout, node, *CTR, "images", "list").stdout.decode().splitlines()[1:]
    return {name: digest for name, _, digest, *_ in (line.split() for line in lines)}


def load_images(layout: Layout, node: Node, images: Mapping[str, Image]) -> None:
    """Load the images that the node lacks, all at once, so that shared layers are sent and unpacked once.

    A name that refers to another image, from an older recipe, then refers to the new one. Raises ToolError
    if this fails.
    """
    there = images_on(layout, node)
    lacking = {name: image for name, image in images.items() if there.get(name) != ociimage.digest(image)}
    if not lacking:
        return
    progress.say(f"loading {', '.join(lacking)} into {node.name} ...")
    said = _import(layout, node, lacking)
    there = images_on(layout, node)
    left = [name for name, image in lacking.items() if there.get(name) != ociimage.digest(image)]
    if said or left:
        raise ToolError(
            f"cannot load {', '.join(left or lacking)} into {node.name}: "
            f"{said or 'they are missing afterwards'}"
        )


def remove_images(layout: Layout, node: Node, names: Sequence[str]) -> None:
    """Remove images of these names from the node, with all content that no other image needs."""
    _run(layout, node, *CTR, "images", "remove", "--sync", *names)


def _import(layout: Layout, node: Node, images: Mapping[str, Image]) -> str:
    """Import images. Returns ctr's error, or "" if it succeeded."""
    blobs = _run(layout, node, *CTR, "content", "list", "--quiet").stdout.decode().split()
    command = [*enter(layout, node), *CTR, "images", "import", "-"]
    # Through a pipe, because the node cannot read the cache's folder.
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, cwd="/"
        ) as process,
    ):
        pipe = cast(IO[bytes], process.stdin)
        with contextlib.suppress(BrokenPipeError), pipe:  # ctr has ended; its exit code reports it
            ociimage.write(pipe, images, set(blobs))
        code = process.wait()
        errors.seek(0)
        return errors.read().decode().strip() or "ctr failed" if code else ""


def stop(layout: Layout, node: Node) -> list[str]:
    """Kill all processes of the node, including those of containers. Returns the names of those that ran."""
    names = [
        program
        for program in ("init", *reversed(PROGRAMS))
        if processes.stop(pid_file(layout, node, program), kill=True)
    ]
    return [f"{node.name}-{name}" for name in names]


def _start(layout: Layout, node: Node, program: str, command: list[str]) -> None:
    log = layout.logs / f"{node.name}-{program}.log"
    file = pid_file(layout, node, program)
    processes.start([*enter(layout, node), *command], log, file, forks=True)


def _run(layout: Layout, node: Node, *command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*enter(layout, node), *command], capture_output=True, cwd="/", check=False)


def _mounted(layout: Layout, node: Node) -> bool:
    # The last file that the script creates before it becomes tini.
    return _run(layout, node, "test", "-e", "/run/bin/.ready").returncode == 0


def _wait_for(condition: Callable[[], bool], what: str, layout: Layout, node: Node, program: str) -> None:
    log = layout.logs / f"{node.name}-{program}.log"
    processes.wait_until(condition, what, log, seconds=20, pause=0.05)
