"""The texts of the cluster's configuration files, and the arguments of its programs. All functions are pure.

Most files are Python values dumped as JSON, which these programs read as YAML.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cluster.plan import (
    API_SERVER,
    CONTROL_ADDRESS,
    DNS_SERVICE,
    IPV6,
    POD_NETWORK,
    PRIMARY,
    SERVICE_NETWORK,
    USED,
    Layout,
    Node,
)

PAUSE_IMAGE = "docker.io/sparkgen/busybox:1"
"""The image that keeps a pod's namespaces, and that tests use as a small container; see images.busybox."""

HOSTS = "/var/lib/containerd/hosts"
"""The folder on each node with a subfolder, with hosts.toml, for each registry that its containerd uses."""

EVERY_ADDRESS = "::" if PRIMARY is IPV6 else "0.0.0.0"  # noqa: S104 - of namespaces that nothing outside can reach
"""The address on which the cluster's programs listen: all addresses of their namespace."""

KWOK_ANNOTATION = "kwok.x-k8s.io/node"

GRACE_SECONDS = 12
"""Seconds after which a silent node counts as dead: short, so that tests need not wait long."""

LEASE_SECONDS = 8
"""Seconds for which a node's lease is valid; kubelet and kwok renew it after a quarter of that."""


def text(value: Any) -> str:
    """The text of a configuration file with this value."""
    return json.dumps(value, indent=2) + "\n"


def kubeconfig(user: str, pki: Path) -> str:
    """A kubeconfig for the user whose certificate is named `user`."""
    return text(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "sparkgen",
                    "cluster": {"server": API_SERVER, "certificate-authority": str(pki / "ca.crt")},
                }
            ],
            "users": [
                {
                    "name": user,
                    "user": {
                        "client-certificate": str(pki / f"{user}.crt"),
                        "client-key": str(pki / f"{user}.key"),
                    },
                }
            ],
            "contexts": [{"name": "sparkgen", "context": {"cluster": "sparkgen", "user": user}}],
            "current-context": "sparkgen",
        }
    )


def audit_policy() -> str:
    """The audit policy: log each call of a service account outside kube-system, once, without bodies."""
    return text(
        {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "omitStages": ["RequestReceived"],
            "rules": [
                {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]},
                {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
                {"level": "None"},
            ],
        }
    )


def etcd(layout: Layout) -> list[str]:
    """The arguments of etcd."""
    return [
        *("--data-dir", str(layout.etcd), "--log-level", "warn"),
        *("--listen-client-urls", "http://127.0.0.1:2379"),
        *("--advertise-client-urls", "http://127.0.0.1:2379"),
        *("--listen-peer-urls", "http://127.0.0.1:2380"),
        "--unsafe-no-fsync",  # the data is useless after a power cut, and so slow disks have no effect
    ]


GANG_API = "scheduling.k8s.io/v1alpha2"
"""The API for groups of pods that are placed together: alpha in Kubernetes 1.36, and off by default."""


def api_server(layout: Layout, *, gangs: bool = True) -> list[str]:
    """The arguments of kube-apiserver. `gangs`: this version supports gangs."""
    pki = layout.pki
    settings = {
        "etcd-servers": "http://127.0.0.1:2379",
        "advertise-address": CONTROL_ADDRESS,
        "bind-address": EVERY_ADDRESS,
        "secure-port": 6443,
        "tls-cert-file": pki / "apiserver.crt",
        "tls-private-key-file": pki / "apiserver.key",
        "client-ca-file": pki / "ca.crt",
        "kubelet-client-certificate": pki / "kubelet-client.crt",
        "kubelet-client-key": pki / "kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP,Hostname",
        "service-account-key-file": pki / "sa.pub",
        "service-account-signing-key-file": pki / "sa.key",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-cluster-ip-range": SERVICE_NETWORK,
        "authorization-mode": "Node,RBAC",
        "enable-aggregator-routing": "true",  # call webhooks by their pods: there is no kube-proxy beside it
        "allow-privileged": "true",
        # One authority signs clients and the front proxy: without names, any client could be the proxy.
        "requestheader-allowed-names": "front-proxy",
        "requestheader-client-ca-file": pki / "ca.crt",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": pki / "front-proxy.crt",
        "proxy-client-key-file": pki / "front-proxy.key",
        "audit-policy-file": layout.config("audit-policy.yaml"),
        "audit-log-path": layout.audit_log,
        # The line is written before the answer: a test that has the answer can read the line.
        "audit-log-mode": "blocking-strict",
        **({"feature-gates": "GenericWorkload=true", "runtime-config": f"{GANG_API}=true"} if gangs else {}),
    }
    return [f"--{name}={value}" for name, value in settings.items()]


def controller_manager(layout: Layout) -> list[str]:
    """The arguments of kube-controller-manager."""
    settings = {
        "kubeconfig": layout.config("kube-controller-manager.kubeconfig"),
        "service-account-private-key-file": layout.pki / "sa.key",
        "root-ca-file": layout.pki / "ca.crt",
        "use-service-account-credentials": "true",
        "leader-elect": "false",
        "cluster-cidr": POD_NETWORK,
        "allocate-node-cidrs": "false",  # a node's addresses depend on its number
        "node-monitor-grace-period": f"{GRACE_SECONDS}s",
        "kube-api-qps": 200,
        "kube-api-burst": 400,
    }
    return [f"--{name}={value}" for name, value in settings.items()]


def scheduler(layout: Layout, *, gangs: bool = True) -> list[str]:
    """The arguments of kube-scheduler. `gangs`: this version supports gangs."""
    return [
        *(["--feature-gates=GenericWorkload=true,GangScheduling=true"] if gangs else []),
        f"--kubeconfig={layout.config('kube-scheduler.kubeconfig')}",
        *("--leader-elect=false", "--kube-api-qps=500", "--kube-api-burst=1000"),
    ]


def kwok(layout: Layout, stages: Path) -> list[str]:
    """The arguments of kwok; the file `stages` describes how its nodes and pods behave."""
    return [
        *("--config", str(stages), "--kubeconfig", str(layout.config("kwok.kubeconfig"))),
        *("--manage-all-nodes=false", f"--manage-nodes-with-annotation-selector={KWOK_ANNOTATION}=fake"),
        *("--cidr", PRIMARY.fakes, "--node-ip", CONTROL_ADDRESS, "--server-address", "127.0.0.1:10347"),
        # Leases are renewed after a quarter of this: with kwok's default of 40 s, a small delay would exceed
        # the controllers' 12 s, a fake node would count as dead, and its pods would never be Ready again.
        f"--node-lease-duration-seconds={LEASE_SECONDS}",
    ]


def corefile(layout: Layout) -> str:
    """CoreDNS's configuration: the cluster's names; all others are refused, because there is no uplink."""
    reverse = " ".join("ip6.arpa" if family is IPV6 else "in-addr.arpa" for family in USED)
    return f""".:53 {{
  bind {CONTROL_ADDRESS}
  errors
  kubernetes cluster.local {reverse} {{
    kubeconfig {layout.config("coredns.kubeconfig")} sparkgen
    ttl 5
  }}
}}
"""


def dns_objects() -> str:
    """The Service of CoreDNS for pods. CoreDNS is not a pod, so its endpoints are written here."""
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
    ]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": "kube-system"},
        "spec": {"clusterIP": DNS_SERVICE, "ports": ports},
    }
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kube-dns",
            "namespace": "kube-system",
            "labels": {"kubernetes.io/service-name": "kube-dns"},
        },
        "addressType": f"IPv{PRIMARY.version}",
        "endpoints": [{"addresses": [CONTROL_ADDRESS], "conditions": {"ready": True}}],
        "ports": ports,
    }
    return text({"apiVersion": "v1", "kind": "List", "items": [service, endpoints]})


def containerd() -> str:
    """The configuration of containerd, equal on all nodes, because each has its own /var and /run."""
    return f"""version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{PAUSE_IMAGE}"
[plugins."io.containerd.cri.v1.images".registry]
  config_path = "{HOSTS}"
[plugins."io.containerd.cri.v1.runtime"]
  # Not every machine lets root lower a process's OOM score, or has the hugetlb controller.
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["/usr/lib/cni"]
  conf_dir = "/var/lib/cni/net.d"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
"""


def hosts(address: str, *, tls: bool) -> str:
    """The hosts.toml for the registry at `address`, which a node's containerd reads at each pull."""
    scheme = "https" if tls else "http"
    authority = '  ca = "/var/lib/kubelet/pki/ca.crt"\n' if tls else ""
    return (
        f'server = "{scheme}://{address}"\n[host."{scheme}://{address}"]\n'
        f'  capabilities = ["pull", "resolve"]\n{authority}'
    )


def cni(node: Node) -> str:
    """The CNI configuration of a node: a bridge, addresses from its range, and host ports (also hairpin)."""
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": node.pods_in(family)}] for family in USED],
            "routes": [{"dst": family.everywhere} for family in USED],
        },
    }
    ports = {"type": "portmap", "snat": True, "capabilities": {"portMappings": True}}
    return text({"cniVersion": "1.0.0", "name": "sparkgen", "plugins": [bridge, ports]})


def kubelet(cgroup: str) -> str:
    """The kubelet's configuration; `cgroup` is the node's cgroup, which contains those of its pods."""
    pki = "/var/lib/kubelet/pki"
    return text(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": EVERY_ADDRESS,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": f"{pki}/ca.crt"},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "tlsCertFile": f"{pki}/node.crt",
            "tlsPrivateKeyFile": f"{pki}/node.key",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": cgroup,
            "failSwapOn": False,
            "failCgroupV1": False,
            "maxOpenFiles": 20000,  # the default needs a right that root in a container lacks
            "evictionHard": {},  # a nearly full disk of the machine must not evict test pods
            "imageGCHighThresholdPercent": 100,
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "clusterDNS": [DNS_SERVICE],
            "clusterDomain": "cluster.local",
            "resolvConf": "/var/lib/kubelet/resolv.conf",
            "volumePluginDir": "/var/lib/kubelet/volume-plugins",
            "nodeStatusUpdateFrequency": "2s",
            "nodeLeaseDurationSeconds": LEASE_SECONDS,
            "syncFrequency": "10s",
            "maxPods": 110,
        }
    )


def kube_proxy(node: Node) -> str:
    """The configuration of kube-proxy."""
    return text(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "clientConnection": {"kubeconfig": "/var/lib/kubelet/proxy.kubeconfig"},
            "bindAddress": EVERY_ADDRESS,
            "clusterCIDR": POD_NETWORK,
            "mode": "iptables",
            "hostnameOverride": node.name,
            "conntrack": {  # these settings are for the whole machine: leave them unchanged
                "maxPerCore": 0,
                "min": 0,
                "tcpEstablishedTimeout": "0s",
                "tcpCloseWaitTimeout": "0s",
            },
        }
    )


def node_init(folder: Path, binaries: dict[str, Path]) -> str:
    """The shell script that sets up a node's file systems, and then only collects dead processes.

    The node gets its own /run, /var, /mnt and /srv: so a hostPath there belongs to this node, and files of
    containerd, runc, CNI and the kubelet in their usual places are not the machine's, and do not remain.
    """
    lines = [
        "set -e",
        "mount --make-rshared /",  # the kubelet shares mounts with containers; / has no peers outside
        "mount -t tmpfs -o mode=755 tmpfs /run",
        "mkdir -p /run/bin /run/lock",
    ]
    for name, path in binaries.items():  # the cache may be below /var, which the mounts below hide
        lines += [f"touch /run/bin/{name}", f"mount --bind '{path}' /run/bin/{name}"]
    lines += [f"mount --bind '{folder / name}' /{name}" for name in ("mnt", "srv", "var")]
    lines += ["ln -sfn /run /var/run", "touch /run/bin/.ready", "exec tini -- sleep infinity"]
    return "\n".join(lines) + "\n"
