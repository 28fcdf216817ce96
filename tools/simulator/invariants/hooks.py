"""The hooks that the parts of the model call at each event; they do not depend on the invariants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class InvariantBroken(Exception):
    """An invariant does not hold; `text` describes the event."""

    def __init__(self, invariant: str, text: str) -> None:
        super().__init__(f"{invariant}: {text}")
        self.invariant = invariant
        self.text = text


class Invariants:
    """All invariants of one schedule: each event is passed to the invariants that check it.

    `base`: the class whose methods do nothing; an invariant that does not override a method is not called.
    """

    def __init__(self, found: Sequence[object], base: type) -> None:
        def those(name: str) -> list[Callable[..., None]]:
            return [
                getattr(invariant, name)
                for invariant in found
                if getattr(type(invariant), name) is not getattr(base, name)
            ]

        self.sent = _all(those("sent"))
        self.served = _all(those("served"))
        self.answered = _all(those("answered"))
        self.after_round = _all(those("after_round"))
        self.placed = _all(those("placed"))
        self.registers = _all(those("registers"))
        self.begins = _all(those("begins"))
        self.refuses = _all(those("refuses"))
        self.told = _all(those("told"))
        self.given_up = _all(those("given_up"))
        self.begins_quiet = _all(those("begins_quiet"))
        self.ends_quiet = _all(those("ends_quiet"))
        self.took_over = _all(those("took_over"))
        self.session_over = _all(those("session_over"))
        self.all_gone = _all(those("all_gone"))
        self.stuck = _all(those("stuck"))
        self.without_files = _all(those("without_files"))
        self.after_sweep = _all(those("after_sweep"))
        self.at_the_end = _all(those("at_the_end"))


def _all(hooks: list[Callable[..., None]]) -> Callable[..., None]:
    """A function that calls all of these hooks."""

    def call(*args: Any, **kwargs: Any) -> None:
        for hook in hooks:
            hook(*args, **kwargs)

    return call
