"""Reading parameters: unknown, missing and mistyped ones are refused before anything runs.

A request refused here does not use up its idempotency key.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from samples.processor.errors import ApiError, Body
from samples.processor.wire import Form, Raw

Reader = Callable[[str, Raw], Any]

MAX_METADATA_KEYS, MAX_METADATA_KEY, MAX_METADATA_VALUE = 50, 40, 500


@dataclass(frozen=True)
class Field:
    read: Reader
    required: bool = False


Fields = Mapping[str, Field]


def read(form: Form, fields: Fields) -> Body:
    for name in form:
        if name not in fields and name != "expand":
            raise ApiError(f"Received unknown parameter: {name}", code="parameter_unknown", param=name)
    for name, field in fields.items():
        if field.required and name not in form:
            raise ApiError(f"Missing required param: {name}.", code="parameter_missing", param=name)
    values = {name: fields[name].read(name, raw) for name, raw in form.items() if name != "expand"}
    values["expand"] = texts("expand", form["expand"]) if "expand" in form else []
    return values


def text(name: str, raw: Raw) -> str:
    if not isinstance(raw, str):
        raise ApiError(f"Invalid string: {name}", param=name)
    if raw == "":
        raise ApiError(
            f"You passed an empty string for '{name}'. We assume empty values are an attempt to unset "
            f"a parameter; however '{name}' cannot be unset. You should remove '{name}' from your "
            "request or supply a non-empty value.",
            code="parameter_invalid_empty",
            param=name,
        )
    return raw


def whole_number(name: str, raw: Raw) -> int:
    if not isinstance(raw, str) or not re.fullmatch(r"-?[0-9]{1,18}", raw):
        raise ApiError(f"Invalid integer: {raw}", code="parameter_invalid_integer", param=name)
    return int(raw)


def positive(name: str, raw: Raw) -> int:
    number = whole_number(name, raw)
    if number < 1:
        raise ApiError(
            "This value must be greater than or equal to 1.",
            code="parameter_invalid_integer",
            param=name,
        )
    return number


def boolean(name: str, raw: Raw) -> bool:
    if raw not in ("true", "false"):
        raise ApiError(f"Invalid boolean: {raw}", param=name)
    return raw == "true"


def one_of(*choices: str) -> Reader:
    def reader(name: str, raw: Raw) -> str:
        if raw not in choices:
            raise ApiError(f"Invalid {name}: must be one of {', '.join(choices)}", param=name)
        return str(raw)

    return reader


def texts(name: str, raw: Raw) -> list[str]:
    if isinstance(raw, str):
        raise ApiError("Invalid array", param=name)
    return [text(f"{name}[{index}]", value) for index, value in raw.items()]


def group(**fields: Field) -> Reader:
    """A nested object with fields of its own."""

    def reader(name: str, raw: Raw) -> Body:
        if isinstance(raw, str):
            raise ApiError("Invalid object", param=name)
        values = read(raw, fields)
        values.pop("expand")
        return values

    return reader


def metadata(name: str, raw: Raw) -> dict[str, str]:
    """The pairs to change; an empty value removes its key, see `merge_metadata`."""
    if isinstance(raw, str):
        if raw == "":
            return {"": ""}
        raise ApiError("Invalid object", param=name)
    if len(raw) > MAX_METADATA_KEYS:
        raise ApiError(f"You can have up to {MAX_METADATA_KEYS} metadata keys.", param=name)
    for key, value in raw.items():
        if len(key) > MAX_METADATA_KEY or not isinstance(value, str) or len(value) > MAX_METADATA_VALUE:
            raise ApiError(
                f"Metadata keys have at most {MAX_METADATA_KEY} characters and values at most "
                f"{MAX_METADATA_VALUE}: {key}",
                param=f"{name}[{key}]",
            )
    return {key: str(value) for key, value in raw.items()}


def merge_metadata(old: dict[str, str], change: dict[str, str] | None) -> dict[str, str]:
    if change is None:
        return old
    if change == {"": ""}:
        return {}
    return {key: value for key, value in {**old, **change}.items() if value != ""}


def created(name: str, raw: Raw) -> dict[str, int]:
    """A moment, or bounds: `created[gte]=…`."""
    if isinstance(raw, str):
        moment = whole_number(name, raw)
        return {"gte": moment, "lte": moment}
    for bound in raw:
        if bound not in ("gt", "gte", "lt", "lte"):
            raise ApiError(f"Received unknown parameter: {name}[{bound}]", param=name)
    return {bound: whole_number(f"{name}[{bound}]", value) for bound, value in raw.items()}


def page_size(name: str, raw: Raw) -> int:
    number = whole_number(name, raw)
    if not 1 <= number <= 100:
        raise ApiError("This value must be between 1 and 100.", code="parameter_invalid_integer", param=name)
    return number


OPTIONAL_TEXT = Field(text)
METADATA = Field(metadata)
PAGE: dict[str, Field] = {
    "limit": Field(page_size),
    "starting_after": OPTIONAL_TEXT,
    "ending_before": OPTIONAL_TEXT,
    "created": Field(created),
}
