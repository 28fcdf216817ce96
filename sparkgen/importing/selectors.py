"""Finds selectors, in copied values, of labels that the pods no longer have."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.document import Node
from sparkgen.errors import Path
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Entry, Outcome
from sparkgen.schema.identity import KUBEFLOW_GROUP

_REASON = "selects pods by a label of kubeflow's operator, which the pods do not have any more"
_STEP = "import again with --keep-labels, or select by spark-role or sparkgen.dev/application"


def tell_selectors(draft: Draft) -> None:
    """Report each selector on a label of the operator, unless the labels are kept."""
    if draft.choices.labels:
        return
    for place, source in [*draft.copied.items()]:
        for path, node in _selected(source.node):
            target = (*place, *path)
            draft.entries.append(
                Entry(Outcome.CHANGED, (*source.path, *path), node.position, target, _REASON, _STEP)
            )
            draft.comments.setdefault(target, []).append(_REASON)


def _selected(root: Node) -> Iterator[tuple[Path, Node]]:
    """Yields the operator's labels in `matchLabels` and `matchExpressions` below a node, with their paths."""
    waiting: list[tuple[Path, Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if path[-1:] == ("matchLabels",):
            for key, child in node.entries.items():
                if key.startswith(KUBEFLOW_GROUP):
                    yield (*path, key), child
        elif path[-2:-1] == ("matchExpressions",):
            key_node = node.entries.get("key")
            if key_node is not None and key_node.text.startswith(KUBEFLOW_GROUP):
                yield (*path, "key"), key_node
        else:
            parts = node.entries.items() if node.is_mapping else enumerate(node.items)
            waiting += [((*path, key), child) for key, child in parts]
