"""The values of each column and their counts, as a file: what the cache needs to open a packed table again."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from xordal.data.large.gather import Survey
from xordal.data.large.store import DamagedStore


def write_surveys(path: Path, surveys: Sequence[Survey], kept: Sequence[NDArray[np.int64]]) -> None:
    """Write the values of each column, of whatever type, and their counts: a row of lists for each column."""
    with pa.OSFile(str(path), "wb") as file:
        for survey, own in zip(surveys, kept, strict=True):
            values = _as_arrow(survey.values)
            counts = pa.array(own[1:].tolist(), pa.int64())
            about = {
                "name": survey.name,
                "declared": str(int(survey.is_declared)),
                "missing": str(own[0]),
            }
            schema = pa.schema([("value", values.type), ("count", pa.int64())], metadata=about)
            with pa.ipc.new_stream(file, schema) as out:
                out.write_batch(pa.record_batch([values, counts], schema=schema))


def _as_arrow(values: Sequence[Any]) -> pa.Array:
    return pa.array(values) if values else pa.array([], pa.string())


def read_surveys(path: Path) -> list[Survey]:
    """Return what was written; DamagedStore where it is not that."""
    try:
        return _surveys(path)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedStore(f"its levels cannot be understood: {error}") from None


def _surveys(path: Path) -> list[Survey]:
    found = []
    with pa.OSFile(str(path), "rb") as file:
        while file.tell() < file.size():
            with contextlib.closing(pa.ipc.open_stream(file)) as stream:
                about = {key.decode(): value.decode() for key, value in stream.schema.metadata.items()}
                table = stream.read_all()
            counts = np.array([int(about["missing"]), *table["count"].to_pylist()], dtype=np.int64)
            is_declared = about["declared"] == "1"
            found.append(Survey(about["name"], table["value"].to_pylist(), is_declared, counts))
    return found
