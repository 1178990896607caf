"""A JSON Schema, compiled as tools' schemas are: `nullable` is understood, and nothing is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import jsonschema_rs

from litany_engine.door.nullable import accept_null

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litany_stubs.words import JSON


def compile_schema(schema: Mapping[str, JSON]) -> Any:
    """The validator of a schema.

    Raises:
        ValueError: it is not a JSON Schema, or names a document elsewhere; the cause is one line.
    """
    try:
        return jsonschema_rs.validator_for(accept_null(dict(schema)), retriever=_refuse_to_fetch)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(str(error).split("\n", 1)[0]) from error


def _refuse_to_fetch(uri: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to another document ({uri}); put the definition under $defs")
