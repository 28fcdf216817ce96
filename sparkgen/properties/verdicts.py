"""The verdicts on Spark properties, and the rows of their table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What happens to a property in `sparkConf`."""

    FIELD = "field"
    """Nothing reads the property: the document has a field in its place."""
    PASSED = "passed on"
    """Spark gets the property unchanged."""
    READ = "read"
    """Read by sparkgen in `sparkConf`."""
    DONE = "done by sparkgen"
    """Set by sparkgen, whatever value the document has."""
    NO_EFFECT = "no effect"
    """Nothing reads the property."""
    REFUSED = "refused"
    """Spark does not start with the property."""


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
    """The verdict on a property, or on all properties whose names begin with a name that ends in a dot.

    `reason`: why it has no effect, or what sets it. `step`: the next step. `fields`: where `import` puts the
    value, below the spec; `*` is the rest of the name. `remark`: how the field's meaning differs. `lost`: its
    loss matters, unless its value is one of `same`.
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
        """Whether the verdict is on all properties that begin with the name."""
        return self.name.endswith(".")

    @property
    def advice(self) -> str:
        """The next step for a document that has the property."""
        if self.verdict is Verdict.FIELD:
            return self.step
        return f"delete it: {self.reason}" + (f"; {self.step}" if self.step else "")
