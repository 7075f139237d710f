"""Tables: read from files, described, and encoded as the numbers that a classifier takes.

CSV, TSV and Parquet are read by polars, libsvm files by scikit-learn; each may be gzip-compressed or come from standard
input. `open` is for tables of any size. Needs ``pip install "separatrix[cli]"``.
"""

from separatrix.data.chunks import read_chunks
from separatrix.data.embedded import embedded
from separatrix.data.encoder import Encoder
from separatrix.data.opening import Rows, open
from separatrix.data.reading import read_table
from separatrix.data.table import Column, Table

__all__ = ["Column", "Encoder", "Rows", "Table", "embedded", "open", "read_chunks", "read_table"]
