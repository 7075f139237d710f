"""Sources that a stranger gives: files of one name in several folders, queries that fail, long tables of pyarrow."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from separatrix import DataError, StorageError
from separatrix.data import Encoder, open, origins, parquet_child, read_table
from separatrix.data.frames import Frames
from separatrix.data.progress import Progress, Telling
from separatrix.files.layout import block_rows

N = 300
rng = np.random.default_rng(0)
FRAME = pl.DataFrame(
    {
        "a": rng.normal(size=N),
        "b": rng.normal(size=N),
        "c": rng.choice(["u", "v"], size=N),
        "y": rng.integers(0, 2, size=N),
    }
)


def partitions(folder, *frames, ending="parquet"):
    """A file of the same name for each of some days, and their pattern."""
    for day, frame in enumerate(frames, start=1):
        place = folder / f"day={day}"
        place.mkdir(exist_ok=True)
        getattr(frame, {"parquet": "write_parquet", "csv": "write_csv", "arrow": "write_ipc"}[ending])(
            place / f"part.{ending}"
        )
    return str(folder / "*" / f"part.{ending}")


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path, ending):
    with open(partitions(tmp_path, FRAME, FRAME[:0], ending=ending), "y") as rows:
        assert rows.notes == [f"{os.path.join('day=2', 'part.' + ending)} has no rows, and is passed over."]
    with pytest.raises(DataError, match=rf"day=2/part.{ending} has no column 'a', which day=1/part.{ending} has"):
        open(partitions(tmp_path, FRAME, FRAME.drop("a"), ending=ending), "y")
    wrong = FRAME.with_columns(a=pl.when(pl.int_range(N) == 17).then(pl.lit(np.inf)).otherwise("a"))
    with pytest.raises(DataError, match=rf"row 18 of day=2/part.{ending}, column 'a': inf is not finite"):
        open(partitions(tmp_path, FRAME, wrong, ending=ending), "y")
    with pytest.raises(DataError, match=r"name a pattern, such as folder/\*\*/\*.parquet"):
        open(tmp_path, "y")


def test_a_damaged_file_is_told_apart_by_its_folder(tmp_path):
    pattern = partitions(tmp_path, FRAME, FRAME)
    os.truncate(tmp_path / "day=2" / "part.parquet", 500)
    with pytest.raises(DataError, match=r"day=2/part.parquet cannot be read as Parquet"):
        open(pattern, "y")
    pattern = partitions(tmp_path, FRAME, FRAME, ending="csv")
    with (tmp_path / "day=2" / "part.csv").open("ab") as file:
        file.write(b"1,\0,u,1\n")
    with pytest.raises(DataError, match=r"day=2/part.csv: line 302 has a NUL byte"):
        open(pattern, "y")


def test_hidden_files_of_a_folder_are_left_out(tmp_path):
    FRAME.write_parquet(tmp_path / "part.parquet")
    (tmp_path / "._part.parquet").write_bytes(b"what another system wrote beside it")
    with open(tmp_path, "y") as rows:
        assert len(rows) == N


def test_a_query_that_fails_is_said_in_a_line():
    for query in (FRAME.lazy().select("nope"), FRAME.lazy().with_columns(pl.col("c").cast(pl.Int64))):
        with pytest.raises(DataError, match=r"the query cannot be read: .*('c'|nope)") as caught:
            open(query, "y")
        assert "\n" not in str(caught.value)


def test_what_a_stream_of_the_user_raises_is_not_hidden():
    class Broken:
        def to_batches(self):
            yield FRAME
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        open(Broken(), "y")


OTHERS = {
    "List": pl.concat_list("a", "b"),
    "Struct": pl.struct("a", "b"),
    "Binary": pl.lit(b"x"),
    "Duration": pl.duration(days=pl.int_range(N)),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("where", ["a query", "a file"])
def test_columns_that_no_classifier_takes_are_named(kind, where, tmp_path):
    frame = FRAME.with_columns(other=OTHERS[kind], whole=pl.int_range(N) % 7 + 0.0)
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=rf"Column 'other' holds {kind}.*, not numbers or text"):
        open(frame.lazy() if where == "a query" else tmp_path / "a.parquet", "y")


@pytest.mark.parametrize("columns", [np.array(["b", "a"]), {"a", "b"}, ("a", "b"), pl.Series(["a", "b"])], ids=type)
def test_names_come_in_any_collection(columns, tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")
    for _ in range(2):
        with open(tmp_path / "a.parquet", "y", columns=columns, cache=tmp_path / "rows") as rows:
            assert rows.encoder.names == ["a", "b"]
    for given in (columns, (name for name in columns)):
        with open(tmp_path / "a.parquet", "y", drop=given) as rows:
            assert {name.split("=")[0] for name in rows.encoder.names} == {"c"}


@pytest.mark.parametrize("wrong", ["columns", "drop"])
def test_one_name_is_not_taken_for_its_letters(wrong):
    for given in ("ab", [1, 2], 5):
        with pytest.raises(DataError, match=f"{wrong} is a list of the names of columns"):
            open(FRAME.lazy(), "y", **{wrong: given})


def test_a_long_table_of_one_batch_comes_in_pieces(monkeypatch):
    seen, put = [], Frames._put
    monkeypatch.setattr(Frames, "_put", lambda self, table, *rest: (seen.append(table.n_rows), put(self, table, *rest)))
    monkeypatch.setattr(origins, "ROWS", 70)

    class Table:
        def to_batches(self):
            return [FRAME]

    with open(Table(), "y") as rows, open(FRAME.lazy(), "y") as expected:
        assert np.array_equal(rows.X[:], expected.X[:])
    assert max(seen) == 70


def test_objects_of_pyarrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    table = FRAME.to_arrow()
    FRAME.write_parquet(tmp_path / "a.parquet")
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=70))
    with open(FRAME.lazy(), "y") as expected:
        for source in (table, pa.concat_tables([table[:9], table[9:9], table[9:]]), stream, dataset.dataset(tmp_path)):
            with open(source, "y") as rows:
                assert np.array_equal(rows.X[:], expected.X[:])
                assert rows.encoder.to_dict() == expected.encoder.to_dict()


def test_a_change_inside_a_file_is_seen_though_its_time_was_set_back(tmp_path):
    """Between the two ends that are compared; the system keeps a time that nobody can set."""
    source, cache = tmp_path / "a.csv", tmp_path / "rows"
    long = pl.DataFrame({"a": np.round(rng.normal(size=40_000), 6), "y": rng.integers(0, 2, size=40_000)})
    for value in (0.5, 0.25):
        status = source.stat() if source.exists() else None
        long = long.with_columns(a=pl.when(pl.int_range(40_000) == 20_000).then(value).otherwise("a"))
        text = long.write_csv(float_precision=6)
        assert len(text) > 2 * origins.ENDS + 2000
        source.write_text(text)
        if status is not None:
            assert status.st_size == source.stat().st_size
            os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
        with open(source, "y", cache=cache) as rows:
            assert rows.X[20_000, 0] == value


def test_a_draft_is_removed_though_the_kept_file_is_used(tmp_path):
    FRAME.write_parquet(tmp_path / "a.parquet")
    for _ in range(2):
        (tmp_path / ".rows.00000000.tmp").write_text("what a kill left")
        open(tmp_path / "a.parquet", "y", cache=tmp_path / "rows").close()
        assert sorted(os.listdir(tmp_path)) == ["a.parquet", "rows"]


def test_a_kept_file_with_a_damaged_block_says_what_to_do(tmp_path):
    numbers = {f"x{j}": rng.normal(size=2 * block_rows(50)) for j in range(50)}
    pl.DataFrame(numbers).with_columns(y=pl.int_range(pl.len()) % 2).write_parquet(tmp_path / "a.parquet")
    with open(tmp_path / "a.parquet", "y", cache=tmp_path / "rows") as rows:
        place, expected = int(rows.X._ring.index["offset"][1]), rows.X[:]
    with (tmp_path / "rows").open("r+b") as file:
        file.seek(place)
        file.write(b"\xff\xff")
    again = open(tmp_path / "a.parquet", "y", cache=tmp_path / "rows")
    with again as rows, pytest.raises(StorageError, match=r"block 2 of 2 .* remove the file first if it was kept"):
        rows.X[:]
    os.unlink(tmp_path / "rows")
    with open(tmp_path / "a.parquet", "y", cache=tmp_path / "rows") as rows:
        assert np.array_equal(rows.X[:], expected)


def test_each_thing_that_is_done_has_its_own_clock(monkeypatch):
    times = iter([0.0, 10.0, 20.0, 21.0])
    monkeypatch.setattr("separatrix.data.progress.monotonic", lambda: next(times))
    told = []
    tell = Telling(told.append)
    for what, done in (("reading rows", 50), ("reading rows", 100), ("writing rows", 30)):
        tell(what, done, None if what == "reading rows" else 100)
    assert [progress.seconds for progress in told] == [10.0, 20.0, 1.0]
    assert str(told[1]) == "reading rows: 100, 5 a second"
    assert str(told[2]) == "writing rows: 30 of 100, 30 a second, 2 s left"
    assert str(Progress("reading rows", 0, 100, 1.0)) == "reading rows: 0 of 100"


@pytest.mark.parametrize("name", ["*", ""])
def test_a_column_of_any_name_is_that_column(tmp_path, name):
    """To polars "*" is all columns, and a column without a name is one to be given a name."""
    frame = FRAME.rename({"a": name}).with_columns(pl.col("c").cast(pl.Categorical))
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ipc(tmp_path / "rows.arrow")
    for source in (tmp_path / "rows.parquet", tmp_path / "rows.arrow", frame):
        for columns, expected in ((None, [name, "b", "c=u"]), ([name, "c"], [name, "c=u"]), (["b"], ["b"])):
            with open(source, "y", columns=columns) as rows:
                assert rows.encoder.names == expected
                if name in expected:
                    assert np.array_equal(np.asarray(rows.X[:])[:, 0], FRAME["a"])
        with open(source, "y", drop=[name]) as rows:
            assert rows.encoder.names == ["b", "c=u"]
    table = read_table(tmp_path / "rows.parquet", target="y")
    encoder = Encoder.fit(table)
    X, _ = encoder.transform(table)
    for rows in (frame, frame.to_pandas(), frame.to_dicts()):
        assert np.array_equal(encoder.transform(rows)[0], X)
    assert table.drop([name]).names == ["b", "c"]
    labelled = frame.with_columns(frame["c"].alias(name))
    labelled.write_parquet(tmp_path / "labels.parquet")
    assert read_table(tmp_path / "labels.parquet", target=name).names == ["b", "c", "y"]


def test_a_name_that_is_a_pattern_is_refused(tmp_path):
    frame = FRAME.rename({"a": "^a.*$"})
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    for read in (lambda file: open(file, "y"), lambda file: read_table(file, target="y")):
        for file in ("rows.parquet", "rows.csv"):
            with pytest.raises(DataError, match=rf"{file}: the column '\^a\.\*\$' has the name of a pattern.*Rename"):
                read(tmp_path / file)


def test_the_file_without_a_target_is_named(tmp_path):
    with pytest.raises(DataError, match=r"day=2/part.parquet has no target column 'y'"):
        open(partitions(tmp_path, FRAME, FRAME.drop("y")), "y")


def test_rows_that_polars_cannot_decode_are_not_left_out(tmp_path):
    """It panics in a thread of its own: what came before is not all."""
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "files").mkdir()
    for at, kind in enumerate((pa.float64(), pa.decimal256(60, 2), pa.float64())):
        table = pa.table({"x": pa.array(np.arange(N) % 7 + 0.5).cast(kind), "y": np.arange(N) % 2})
        with pa.ipc.new_file(str(tmp_path / "files" / f"{at}.arrow"), table.schema) as file:
            file.write_table(table)
    with pytest.raises(DataError, match=r"1.arrow cannot be read: it is damaged"):
        open(tmp_path / "files", "y")
    path, n = tmp_path / "a.parquet", 100_000
    frame = pl.DataFrame({"x": np.arange(n) % 7 + 0.5, "y": np.random.default_rng(0).integers(0, 2, n)})
    frame.write_parquet(path, row_group_size=20_000, compression="zstd")
    raw = bytearray(path.read_bytes())
    at = pytest.importorskip("pyarrow.parquet").ParquetFile(path).metadata.row_group(4).column(1).dictionary_page_offset
    raw[at + 512 : at + 536] = bytes(24)
    path.write_bytes(raw)
    for source, name in ((path, "a.parquet"), (pl.scan_parquet(path), "the query")):
        with pytest.raises(DataError, match=f"{name} cannot be read"):
            open(source, "y")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_fewer_rows_than_a_file_promises_are_an_error(ending, tmp_path, monkeypatch):
    """Whatever the reason: no version of polars is trusted to say it."""
    path = tmp_path / f"a.{ending}"
    FRAME.write_parquet(path) if ending == "parquet" else FRAME.write_ipc(path)
    text = Path(parquet_child.__file__).read_text()
    program = tmp_path / "decoder.py"
    program.write_text(text.replace("put(frame))", "put(frame[1:]))"))
    assert program.read_text() != text
    monkeypatch.setattr(parquet_child, "__file__", str(program))
    monkeypatch.setattr(origins, "put_batches", lambda query, rows, put: put(query.collect()[1:]))
    with pytest.raises(DataError, match=rf"a.{ending} cannot be read.*it says that it has {N} rows, and {N - 1} came"):
        open(path, "y")
