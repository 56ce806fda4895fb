"""Checking a call's arguments against the tool's JSON Schema before the tool sees them."""

from __future__ import annotations

import difflib
from typing import Any

import re2  # type: ignore[import-untyped]
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]
from jsonschema.validators import extend  # type: ignore[import-untyped]
from referencing import Registry

from runs.tools.masking import fit
from sandboxes.errors import InvalidInput


def validate(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Give the arguments with the schema's defaults filled in; raises InvalidInput naming the field."""
    try:
        # An empty registry: a `$ref` to somewhere else is never fetched. Only the first fault is looked for,
        # because a hostile array may hold a million of them.
        fault = next(_Validator(schema, registry=Registry()).iter_errors(arguments), None)
    except RecursionError:
        raise InvalidInput("The arguments are nested too deep to be checked.", field="args") from None
    if fault is not None:
        raise _as_invalid(fault)
    return _defaults(schema) | arguments


def _defaults(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: row["default"] for name, row in properties.items() if isinstance(row, dict) and "default" in row}


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Any:
    """Match with RE2: a schema comes from a server, and its pattern must not hold up a worker."""
    if not isinstance(instance, str):
        return
    try:
        is_match = re2.search(pattern, instance) is not None
    except (re2.error, UnicodeEncodeError):
        return  # a pattern RE2 does not know is left to the tool itself
    if not is_match:
        yield ValidationError("pattern")


_Validator = extend(Draft202012Validator, {"pattern": _pattern})


def _as_invalid(fault: ValidationError) -> InvalidInput:
    if fault.validator == "additionalProperties":
        return _unknown_field(fault)
    if fault.validator == "required":
        name = next(name for name in fault.validator_value if name not in fault.instance)
        field = _field(fault, name)
        return InvalidInput(f"`{field}` is missing.", field=field)
    field = _field(fault)
    return InvalidInput(f"`{field}` {_rule(fault)}.", field=field)


def _unknown_field(fault: ValidationError) -> InvalidInput:
    known = list(fault.schema.get("properties", {}))
    unknown = fit(next(name for name in fault.instance if name not in known), 100)
    near = difflib.get_close_matches(unknown, known, n=1)
    hint = f"Did you mean `{near[0]}`?" if near else f"It takes {_listed(known)}."
    field = _field(fault, unknown)
    return InvalidInput(f"`{field}` is no field of this tool.", hint=hint, field=field)


def _field(fault: ValidationError, last: str | None = None) -> str:
    """Write where the fault is, like `rows[2].id`."""
    path = [*fault.absolute_path] + ([] if last is None else [last])
    written = ""
    for step in path:
        written += f"[{step}]" if isinstance(step, int) else f".{step}" if written else str(step)
    return fit(written, 200) or "args"


def _rule(fault: ValidationError) -> str:
    """Say what the schema asks for; never what was given, which may be huge or secret."""
    wanted = fault.validator_value
    match fault.validator:
        case "type":
            return f"must be of type {' or '.join([wanted] if isinstance(wanted, str) else wanted)}"
        case "enum":
            return f"must be one of {', '.join(str(value) for value in wanted)[:200]}"
        case "minimum":
            return f"must be at least {wanted}"
        case "maximum":
            return f"must be at most {wanted}"
        case "minLength" | "minItems":
            return f"must have at least {wanted} {'characters' if fault.validator == 'minLength' else 'items'}"
        case "maxLength" | "maxItems":
            return f"must have at most {wanted} {'characters' if fault.validator == 'maxLength' else 'items'}"
        case other:
            return f"does not fit the tool's schema ({other})"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:20]) or "no arguments"
