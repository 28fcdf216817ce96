"""The verdicts on Spark properties, and what a row of their table says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What becomes of a property in `sparkConf`."""

    FIELD = "field"
    """Nothing reads it: the document has a field in its place."""
    PASSED = "passed on"
    """Spark gets it unchanged."""
    READ = "read"
    """sparkgen reads it in `sparkConf`."""
    DONE = "done by sparkgen"
    """sparkgen decides it, whatever the property says."""
    NO_EFFECT = "no effect"
    """Nothing reads it here."""
    REFUSED = "refused"
    """With it, Spark does not start."""


class Form(Enum):
    """How a field has a property's value."""

    TEXT = "the text"
    LIST = "a list of the parts between commas"
    SWITCH = "true or false"
    SECONDS = "a number of seconds"
    MOUNTED_SECRET = "a Secret, mounted at the path"  # noqa: S105 - a phrase
    REFERENCE = "a variable from a key of a Secret"
    VARIABLE = "a variable"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a property, or on all that begin with a name that ends in a dot.

    `reason`: why it has no effect, or who does it. `step`: the next step. `fields`: where `import` puts the
    value, below the spec; `*` is the rest of the name. `remark`: what the field means otherwise. `lost`:
    something is lost without it, unless its value is one of `same`.
    """

    name: str
    verdict: Verdict
    reason: str = ""
    step: str = ""
    fields: tuple[str, ...] = ()
    form: Form = Form.TEXT
    remark: str = ""
    lost: bool = False
    same: tuple[str, ...] = ()

    @property
    def is_prefix(self) -> bool:
        """Whether it is about all properties that begin so."""
        return self.name.endswith(".")

    @property
    def advice(self) -> str:
        """The next step for somebody who has written the property."""
        if self.verdict is Verdict.FIELD:
            return self.step
        return f"delete it: {self.reason}" + (f"; {self.step}" if self.step else "")
