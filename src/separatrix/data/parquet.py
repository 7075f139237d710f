"""Parquet files, read by polars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars


@contextmanager
def explained_parquet(source: str) -> Iterator[None]:
    """Whatever polars makes of a damaged file, as one error that names the file."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise DataError(f"{source} cannot be read as Parquet: {str(error).splitlines()[0]:.200}.") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # polars' own failure, which is no Exception
            raise DataError(f"{source} cannot be read as Parquet: it is damaged.") from error
        raise


def plain_columns(frame: polars.DataFrame) -> polars.DataFrame:
    """Text for categories, floats for decimals, null for NaN; numbers, text and truth values are left as they are."""
    import polars as pl

    columns = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if isinstance(dtype, (pl.Categorical, pl.Enum)):
            columns.append(column.cast(pl.String))
        elif isinstance(dtype, pl.Decimal):
            columns.append(column.cast(pl.Float64))
        elif dtype.is_float():
            columns.append(column.fill_nan(None))
    return frame.with_columns(columns)
