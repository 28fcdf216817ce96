"""`.sparkgen.yaml`: the policy of a repository for its documents; configfile.py reads it.

```yaml
lint:
  profiles: [gitops, production]
  failOn: warning
  rules:
    SG220: off
  settings:
    registries: [registry.example.com/]
  overrides:
    - files: ["dev/*"]
      rules: {SG241: off}
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from sparkgen.errors import Severity
from sparkgen.lint.registry import DEFAULT_PROFILES, levels
from sparkgen.lint.settings import Settings

OFF = "off"

Levels = Mapping[str, Severity | None]
"""Code -> severity; None if the rule is off."""


@dataclass(frozen=True, slots=True)
class Override:
    """The policy for some files. `files`: patterns, relative to the folder of the configuration."""

    files: tuple[str, ...]
    profiles: tuple[str, ...] | None = None
    rules: Levels = field(default_factory=dict)

    def applies(self, file: str) -> bool:
        """Whether a pattern matches a path; `*` stands for any text, including slashes."""
        return any(fnmatchcase(file, pattern) for pattern in self.files)


@dataclass(frozen=True, slots=True)
class Config:
    """A policy. `fail_on`: the least severity for which the exit code is 1; None: it never is.

    `show`: the least severity that is shown; findings that fail are always shown.
    """

    profiles: tuple[str, ...] = DEFAULT_PROFILES
    fail_on: Severity | None = Severity.WARNING
    show: Severity = Severity.WARNING
    rules: Levels = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    overrides: tuple[Override, ...] = ()

    def levels(self, file: str) -> dict[str, Severity]:
        """Code -> severity of the rules for a file. The file's path is relative to the configuration.

        An override's profiles replace earlier profiles; for a rule, the last severity counts.
        """
        fitting = [override for override in self.overrides if override.applies(file)]
        profiles = self.profiles
        for override in fitting:
            profiles = profiles if override.profiles is None else override.profiles
        found: dict[str, Severity | None] = dict(levels(profiles))
        for rules in (self.rules, *(override.rules for override in fitting)):
            found.update(rules)
        return {code: severity for code, severity in found.items() if severity is not None}


@dataclass(frozen=True, slots=True)
class Policy:
    """A configuration with the options of the command line."""

    config: Config
    profiles: tuple[str, ...] = ()
    rules: Levels = field(default_factory=dict)

    def levels(self, file: str) -> dict[str, Severity]:
        """Code -> severity for a file; the command line's profiles replace the file's, overrides included."""
        config = self.config
        if self.profiles:
            overrides = tuple(replace(override, profiles=None) for override in config.overrides)
            config = replace(config, profiles=self.profiles, overrides=overrides)
        found: dict[str, Any] = {**config.levels(file), **self.rules}
        return {code: severity for code, severity in found.items() if severity is not None}
