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
        self._found, self._base = found, base

    def __getattr__(self, name: str) -> Callable[..., None]:
        """A function that passes an event on, by the name of the method; it is made at the first event."""
        hooks = [
            getattr(invariant, name)
            for invariant in self._found
            if getattr(type(invariant), name) is not getattr(self._base, name)
        ]

        def call(*args: Any, **kwargs: Any) -> None:
            for hook in hooks:
                hook(*args, **kwargs)

        setattr(self, name, call)
        return call
