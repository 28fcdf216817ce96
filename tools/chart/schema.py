"""charts/spark-app/values.schema.json: the document's schema as Helm needs it.

The same form, less the prose (Helm compiles it at each call) and the names of what is used once, and with
three differences. Two are Helm's: `global` is a key of every chart's values, and a null may stand for any
optional value, because `--set x=null` and an overlay's `x:` reach the schema as null where `sparkgen render`
deletes the key. The third is what rules say of properties and a schema can say as well: the chart has no
template for these rules.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sparkgen.schema.store import ANNOTATIONS, bundle
from sparkgen.semantics import rules_conffiles, rules_metadata, rules_sizes

Schema = dict[str, Any]

PROSE = ANNOTATIONS - {"$defs", "$schema"}
NULL: Schema = {"type": "null"}
DEFINITION = "#/$defs/"
BLANKS = "\\t-\\r\\x1c- \\x85\\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""What Python's `strip` takes, inside a class of a pattern: Go's and JavaScript's own classes differ."""
SETTINGS = {
    "memorySize": rules_sizes.MEMORY_SETTINGS,
    "amountOfCpu": rules_sizes.CPU_SETTINGS,
    "duration": rules_sizes.DURATION_SETTINGS,
    "factor": rules_sizes.FACTOR_SETTINGS,
}
"""The definition of a grammar -> the properties whose texts are in it (SG101, SG102, SG103, SG105)."""
INLINE = 400
"""Characters of a definition up to which its only reader has it in its place."""


def values_schema() -> Schema:
    """The chart's schema, one file without references to others."""
    full = bundle()
    schema: Schema = _bare(full)
    schema["$defs"] = {name: _bare(full["$defs"][name]) for name in sorted(_reached(schema, full["$defs"]))}
    schema["title"] = "A document of `sparkgen render`, as Helm values"
    schema["properties"]["global"] = {"type": ["object", "null"]}
    _say_of_properties(schema["$defs"])
    _share_nulls(schema)
    _inline(schema)
    return schema


def _say_of_properties(definitions: dict[str, Schema]) -> None:
    """Put into the schema what rules say of sparkConf (SG101 to SG106, SG122) and of other names.

    These are hadoopConf's (SG123), those of files (SG128), and those of labels and annotations (SG323). What
    sparkConf gets is in an `allOf`, beside what the document's schema has there. A pattern says nothing about
    a null.
    """
    label = definitions["labelValue"]
    counts = rules_sizes.COUNT_SETTINGS.items()
    settings = {
        _one_of("spark.app.id"): {"pattern": label["pattern"], "maxLength": label["maxLength"]},
        _one_of(*rules_sizes.SWITCHES): {
            "pattern": f"^[{BLANKS}]*([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])[{BLANKS}]*$"
        },
        _one_of(*(name for name, _ in counts)): {"pattern": f"^[{BLANKS}]*[0-9]{{1,9}}[{BLANKS}]*$"},
        _one_of(*(name for name, least in counts if least)): {"pattern": "[1-9]"},
        **{_one_of(*texts): {"$ref": DEFINITION + grammar} for grammar, texts in SETTINGS.items()},
    }
    names: Schema = {
        "sparkConf": {"pattern": rf"^spark\.[^{BLANKS}]*$"},
        "hadoopConf": {"not": {"pattern": r"^spark\."}},
        "sparkConfFiles": {"not": {"enum": sorted(rules_conffiles.INSTEAD)}},
    }
    for field, allowed in names.items():
        definitions["applicationSpec"]["properties"][field]["allOf"] = [{"propertyNames": allowed}]
    _say_of_metadata(definitions)
    definitions["applicationSpec"]["properties"]["sparkConf"]["allOf"] += [{"patternProperties": settings}]


def _say_of_metadata(definitions: dict[str, Schema]) -> None:
    """Put into the schema which names and values no label or annotation has (SG323)."""
    whole = [
        _literal(name) + ("" if name.endswith("/") else "$")
        for name, why in rules_metadata.RESERVED.items()
        if not why.options
    ]
    definitions["allowedName"] = {"not": {"pattern": f"^({'|'.join(whole)})"}}
    definitions["allowedOptions"] = {
        "patternProperties": {
            f"^{_literal(name)}$": {"not": {"pattern": _listed(why.options)}}
            for name, why in rules_metadata.RESERVED.items()
            if why.options
        }
    }
    names: Schema = {"$ref": f"{DEFINITION}allowedName"}
    values: Schema = {"allOf": [{"$ref": f"{DEFINITION}allowedOptions"}]}
    definitions["labelKey"] |= names
    definitions["annotationKey"] |= names
    for field in ("labels", "annotations"):
        definitions[field] |= values
        definitions["ObjectMeta"]["properties"][field] |= {"propertyNames": names, **values}


def _listed(options: Collection[str]) -> str:
    """A pattern for a list with commas that has one of these options, in upper or lower case."""
    words = (
        "".join(f"[{one.upper()}{one}]" if one.isalpha() else one for one in word) for word in sorted(options)
    )
    return f"(^|,)[{BLANKS}]*({'|'.join(words)})[{BLANKS}]*(,|$)"


def _one_of(*names: str) -> str:
    """A pattern for some properties of Spark."""
    rest = "|".join(_literal(name.removeprefix("spark.")) for name in names)
    return rf"^spark\.({rest})$"


def _literal(name: str) -> str:
    """A pattern for the name of a property, label or annotation."""
    return name.replace(".", r"\.")


def _mappings(value: Any) -> Iterator[Schema]:
    """All mappings of a schema, the outer ones first."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _mappings(one)


def _uses(schema: Schema) -> Counter[str]:
    """Reference to a whole definition -> how often it is there; 0 where others refer to parts of it."""
    found = Counter(_references(schema))
    parts = {reference for reference in found if reference.count("/") > 2}
    entered = {"/".join(part.split("/")[:3]) for part in parts}
    return Counter({name: count for name, count in found.items() if name not in parts | entered})


def _share_nulls(schema: Schema) -> None:
    """Let null into a definition where all that use it take null: once, and not at each use of it."""
    optional: dict[str, list[Schema]] = {}
    for one in _mappings(schema):
        if one.keys() == {"if", "else"} and one["if"] == NULL and one["else"].keys() == {"$ref"}:
            optional.setdefault(one["else"]["$ref"], []).append(one)
    uses = _uses(schema)
    for reference, places in optional.items():
        if len(places) == uses[reference] > 1:
            for place in places:
                place.clear()
                place["$ref"] = reference
            name = reference.removeprefix(DEFINITION)
            schema["$defs"][name] = {"if": NULL, "else": schema["$defs"][name]}


def _inline(schema: Schema) -> None:
    """Put small definitions that are used once where they are used, the innermost first."""
    while True:
        uses = _uses(schema)
        small = {
            DEFINITION + name: name
            for name, definition in schema["$defs"].items()
            if uses[DEFINITION + name] == 1 and len(json.dumps(definition)) <= INLINE
        }
        innermost = {
            reference: schema["$defs"][name]
            for reference, name in small.items()
            if not any(one.get("$ref") in small for one in _mappings(schema["$defs"][name]))
        }
        places = [one for one in _mappings(schema) if one.keys() == {"$ref"} and one["$ref"] in innermost]
        if not places:
            return
        for place in places:
            del schema["$defs"][small[place["$ref"]]]
            definition = innermost[place["$ref"]]
            place.clear()
            place.update(definition)


def _reached(schema: Any, definitions: Mapping[str, Any]) -> set[str]:
    """The definitions that a schema leads to."""
    names: set[str] = set()
    waiting = [schema]
    while waiting:
        for reference in _references(waiting.pop()):
            name = reference.split("/")[2]
            if name not in names:
                names.add(name)
                waiting.append(definitions[name])
    return names


def _references(value: Any) -> list[str]:
    return [one["$ref"] for one in _mappings(value) if isinstance(one.get("$ref"), str)]


def _bare(schema: Any) -> Any:
    """A schema without prose, its optional values nullable. The keys of `properties` are no keywords."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    result: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            required = schema.get("required", ())
            result[key] = {
                name: _bare(one) if name in required else _or_null(_bare(one)) for name, one in value.items()
            }
        elif key == "additionalProperties" and isinstance(value, dict):
            result[key] = _or_null(_bare(value))
        elif key == "if":
            result[key] = copy.deepcopy(value)
        elif key not in PROSE and key != "$defs":
            result[key] = _bare(value)
    return result


def _or_null(schema: Any) -> Any:
    """A schema that takes null, too. `if` and `else` keep Helm's message to what is wrong with the value.

    A reference with a type beside it leads to the pattern of a grammar, which says nothing about a null.
    """
    if not isinstance(schema, dict) or not schema:
        return schema
    kinds = schema.get("type")
    if kinds is None or "const" in schema:
        return {"if": NULL, "else": schema}
    result = {**schema, "type": [*([kinds] if isinstance(kinds, str) else kinds), "null"]}
    if "enum" in schema:
        result["enum"] = [*schema["enum"], None]
    return result
