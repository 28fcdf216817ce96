"""Checks of what pods need from a cluster: nodes that they fit, volumes for their claims, images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sparkgen import contract
from sparkgen.errors import Severity
from sparkgen.objects import ObjectView
from sparkgen.preflight import claims, needs, nodes
from sparkgen.preflight.parts import items, mapping, maps
from sparkgen.preflight.values import ClusterFacts, Finding, Unknown, Wanted, unchecked
from sparkgen.runtime.allocator.pods.template import specs_by_pool
from sparkgen.semantics.software import with_registry


def fits(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds pods that fit no node, even an empty node; an autoscaler may add a node that they fit."""
    if isinstance(facts.nodes, Unknown) or not needs.starts(wanted, facts):
        return
    for group in needs.pods(wanted.objects):
        if group.role in ("driver", "executor") and (why := _misfit(group.template, facts.nodes)):
            yield Finding(
                "nodes",
                Severity.WARNING,
                f"no node of the cluster fits the {group.role}'s pod: {why}",
                f"in spec.{group.role}, request less or fix nodeSelector and tolerations; if an autoscaler "
                "adds such nodes, you can ignore this",
            )


def _misfit(template: ObjectView, there: Iterable[ObjectView]) -> str:
    """Why a pod fits no node; with pools, no node of any of them. "" if it fits one."""
    pools, there = specs_by_pool(template), tuple(there)
    if not pools:
        return nodes.misfit(template["spec"], there)
    found = {name: nodes.misfit(spec, there) for name, spec in pools.items()}
    return "; ".join(f"in pool {name}, {why}" for name, why in found.items()) if all(found.values()) else ""


def storage(_: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds claims that nothing will bind: the pods that mount them never start."""
    if isinstance(facts.storage, Unknown):
        return  # a user who may not read StorageClasses cannot fix the claim, either
    for name, claim in facts.storage.claims.items():
        used_by = next((one.used_by for one in facts.there if one.name == name), "driver")
        if why := claims.unbound(claim, facts.storage.classes, facts.storage.volumes):
            yield Finding(
                "storage",
                Severity.WARNING,
                f"the claim {name}, which the {used_by} mounts, is not bound: {why}",
                "create the claim again with a storageClassName that kubectl get storageclass lists, or ask "
                "for a volume",
            )


def images(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds images that no node reports: with `Never`, no node pulls them; else a pull cannot be checked."""
    asked = needs.images(needs.pods(wanted.objects))
    if isinstance(facts.nodes, Unknown):
        yield unchecked("images", f"whether nodes have {', '.join(asked)}", facts.nodes)
        return
    known = node_images(facts.nodes)
    absent = [image for image in asked if full_name(image) not in known]
    for image in absent:
        if asked[image] == "Never":
            yield Finding(
                "images",
                Severity.WARNING,
                f"no node reports that it has {image}, and imagePullPolicy: Never prevents a pull",
                "load the image on the nodes, or set spec.imagePullPolicy: IfNotPresent",
            )
    default = contract.RUNTIME_IMAGE
    if default in absent and asked[default] != "Never":
        yield Finding(
            "images",
            Severity.WARNING,
            f"no node reports that it has {default}, and no registry has it: the pods will not start",
            "delete spec.runtimeImage, and sparkgen writes a ConfigMap instead; or run sparkgen image build "
            "--push REGISTRY/sparkgen-runtime:1, and set spec.runtimeImage to that image",
        )
    pulled = [image for image in absent if asked[image] != "Never" and image != default]
    if pulled:
        these, them = ("these images", "them") if len(pulled) > 1 else ("this image", "it")
        reason = f"no node reports having {these}; the kubelet pulls {them} when the pod starts"
        yield unchecked("images", f"whether {', '.join(pulled)} can be pulled", Unknown(reason))


def node_images(all_nodes: Iterable[ObjectView]) -> frozenset[str]:
    """The names of the images that nodes report: at most 50 images a node (kubelet's nodeStatusMaxImages)."""
    return frozenset(
        str(name)
        for node in all_nodes
        for image in maps(mapping(node.get("status")).get("images"))
        for name in items(image.get("names"))
    )


def full_name(image: str) -> str:
    """An image's name as nodes report it: with registry and tag (distribution/reference, normalize.go)."""
    image = with_registry(image)
    return image if ":" in image.rpartition("/")[2] else f"{image}:latest"
