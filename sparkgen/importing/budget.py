"""Limits how much the commands of a call copy from files that any number of them can name."""

from __future__ import annotations

from dataclasses import dataclass, field

from sparkgen.document import Node
from sparkgen.importing.expansion import WORD

MOST_COPIED = 16 << 20
"""The most characters of other files that the commands of a call may copy to their applications together.

Each property, and each value of a pod template or a request, counts WORD more. So a thousand commands can
have a spark-defaults.conf of 100 properties, and ten can have one of 10,000.
"""
_READ = 4
"""The cost of reading a character of a text that is not valid, in characters that are copied."""
BEYOND = (
    f"all applications of a call together get at most {MOST_COPIED >> 20} MiB of properties and templates"
)
BEYOND_STEP = "move this command and those after it to another script, and import that in a call of its own"


class Beyond(Exception):
    """Raised if an application would copy more from other files than the call may still copy."""


@dataclass(slots=True)
class Budget:
    """The characters of other files that the applications of a call may still copy; negative at the end."""

    left: int = field(default_factory=lambda: MOST_COPIED)

    def take(self, size: int, values: int) -> None:
        """Subtract the cost of a copy with so many characters and values. Raises `Beyond` if it is too much.

        Then nothing more can be copied. The first copy is never too much: a file has a limit of its own.
        """
        cost = size + WORD * values
        if self.left < MOST_COPIED and cost > self.left:
            self.left = -1
            raise Beyond
        self.left -= cost

    def take_node(self, node: Node | None, text: str) -> None:
        """Subtract the cost of a node that was read from a text; None if it could not be. Raises `Beyond`."""
        if node is None:
            self.take(_READ * len(text), 0)
            return
        size, values, waiting = len(text), 0, [node]
        while waiting:
            part = waiting.pop()
            size, values = size + len(part.text) + sum(map(len, part.entries)), values + 1
            waiting += part.entries.values() if part.is_mapping else part.items
        self.take(size, values)
