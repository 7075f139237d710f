"""Parquet files with altered bytes: a table, or an error that names the file; the process goes on, and none is left."""

import gzip
import io
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from cli.commandline import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separatrix.data import parquet, parquet_child, read_chunks, read_table
from separatrix.errors import DataError

N = 40
FRAMES = {
    "numbers": pl.DataFrame({"a": [float(i * i % 11) if i % 7 else None for i in range(N)], "y": [0, 1] * (N // 2)}),
    "texts": pl.DataFrame({"b": ["x", None, "a longer text", "z"] * (N // 4), "y": ["u", "v"] * (N // 2)}),
    "nested": pl.DataFrame({"c": [[1, 2, 3][: i % 4] for i in range(N)], "y": [True, False] * (N // 2)}),
}
COMPRESSIONS = ("uncompressed", "snappy", "zstd", "gzip", "lz4", "brotli")


def written(frame, compression="zstd"):
    file = io.BytesIO()
    frame.write_parquet(file, compression=compression)
    return file.getvalue()


def negative_count(raw):
    """The first data page says that it has -64 values: polars asks for 2^61 bytes."""
    before = raw.index(b"\x2c\x15" + bytes([2 * N]))  # field 5, the page's header; its field 1, an i32: N as a zigzag
    return raw[: before + 2] + b"\x7f" + raw[before + 3 :]


@pytest.fixture
def children(monkeypatch):
    """The processes that were started."""
    started = []
    popen = subprocess.Popen

    def start(*args, **kwargs):
        started.append(popen(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return started


@pytest.fixture
def decoder(monkeypatch, tmp_path):
    """Put another program in the place of the decoder."""

    def replace(program):
        path = tmp_path / "decoder.py"
        path.write_text(f"import sys, time\nsys.stdout.buffer.write({parquet_child.READY!r})\n{program}")
        monkeypatch.setattr(parquet_child, "__file__", str(path))

    return replace


HANGS = "sys.stdout.buffer.flush()\ntime.sleep(600)\n"


@pytest.mark.parametrize("frame", ["numbers", "texts"])
@pytest.mark.parametrize("how", ["path", "gzip", "object", "standard input"])
def test_a_negative_count(how, frame, tmp_path, monkeypatch):
    raw = negative_count(written(FRAMES[frame]))
    path = tmp_path / "t.parquet"
    path.write_bytes(gzip.compress(raw) if how == "gzip" else raw)
    with path.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        source = {"object": io.BytesIO(raw), "standard input": "-"}.get(how, path)
        with pytest.raises(DataError, match="cannot be read as Parquet"):
            read_table(source, target="y")
    if how != "standard input":
        with pytest.raises(DataError, match="cannot be read as Parquet"):
            list(read_chunks(io.BytesIO(raw) if how == "object" else path, rows=7))


def test_the_command_says_so(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(negative_count(written(FRAMES["numbers"])))
    done = run("separable", path, "--target", "y")
    assert done.exit_code == 4
    assert "t.parquet cannot be read as Parquet" in done.stderr


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_altered_bytes(data):
    frame = data.draw(st.sampled_from(sorted(FRAMES)))
    raw = bytearray(written(FRAMES[frame], data.draw(st.sampled_from(COMPRESSIONS))))
    for place in data.draw(st.lists(st.integers(4, len(raw) - 9), min_size=1, max_size=3)):
        raw[place] = data.draw(st.sampled_from([raw[place] ^ 1, raw[place] ^ 128, 0, 127, 128, 255]))
    with suppress(DataError):
        if data.draw(st.booleans()):
            table = read_table(io.BytesIO(raw), format="parquet")
            assert table.n_rows == len(table.frame) > 0
            assert len(table.columns) == table.frame.width
        else:
            assert sum(chunk.n_rows for chunk in read_chunks(io.BytesIO(raw), rows=7, format="parquet")) > 0


@pytest.mark.parametrize("frame", FRAMES)
def test_what_is_sound_is_read_as_polars_does(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_child, "__file__", small_steps(tmp_path))
    raw = written(FRAMES[frame])
    assert read_table(io.BytesIO(raw)).frame.equals(FRAMES[frame])
    for rows in (1, 7, N, N + 1):
        chunks = list(read_chunks(io.BytesIO(raw), rows=rows))
        assert {chunk.n_rows for chunk in chunks[:-1]} <= {rows}
        assert pl.concat([chunk.frame for chunk in chunks]).equals(FRAMES[frame])
        assert [i for chunk in chunks for i in chunk.row_numbers] == list(range(1, N + 1))


def small_steps(folder):
    """The decoder, a few rows of these small tables at a time."""
    program = Path(parquet_child.__file__).read_text()
    path = folder / "decoder.py"
    path.write_text(program.replace("CELLS = 1 << 22", "CELLS = 24"))
    assert path.read_text() != program
    return str(path)


def test_a_file_object_is_read_from_where_it_is(tmp_path):
    path = tmp_path / "t.bin"
    path.write_bytes(b"before" + written(FRAMES["numbers"]))
    with path.open("rb") as file:
        file.seek(6)
        assert read_table(file, format="parquet").frame.equals(FRAMES["numbers"])
        file.seek(0)
        assert file.read() == path.read_bytes()


def test_no_rows():
    with pytest.raises(DataError, match="no rows"):
        read_table(io.BytesIO(written(FRAMES["numbers"].clear())))


def test_a_decoder_that_hangs(decoder, children, monkeypatch):
    decoder(HANGS)
    monkeypatch.setattr(parquet, "PATIENCE", 0.5)
    with pytest.raises(DataError, match="no rows come for 0 seconds"):
        read_table(io.BytesIO(written(FRAMES["numbers"])))
    assert [child.poll() is None for child in children] == [False]


def test_a_decoder_that_ends_within_a_message(decoder):
    decoder("sys.stdout.buffer.write((100).to_bytes(8, 'little') + b'part')")
    with pytest.raises(DataError, match="polars breaks off"):
        read_table(io.BytesIO(written(FRAMES["numbers"])))


def test_rows_that_end_in_a_complaint_are_no_table(decoder):
    rows = io.BytesIO()
    FRAMES["numbers"].write_ipc_stream(rows)
    messages = [rows.getvalue(), b"", b"the rest is damaged"]
    sent = b"".join(len(message).to_bytes(8, "little") + message for message in messages)
    decoder(f"sys.stdout.buffer.write({sent!r})")
    with pytest.raises(DataError, match="the rest is damaged"):
        read_table(io.BytesIO(written(FRAMES["numbers"])))


@pytest.mark.parametrize("executable", ["", "no such program", sys.executable])
def test_a_decoder_that_does_not_start(executable, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(parquet_child, "__file__", str(tmp_path / "nothing.py"))
    with pytest.raises(DataError, match="does not start"):
        read_table(io.BytesIO(written(FRAMES["numbers"])))


def test_more_rows_than_memory(monkeypatch):
    monkeypatch.setattr(parquet_child, "memory", lambda: 100)
    with pytest.raises(DataError, match="of memory that there are"):
        read_table(io.BytesIO(written(FRAMES["numbers"])))


def test_chunks_left_in_the_middle(children, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    chunks = read_chunks(io.BytesIO(written(FRAMES["numbers"])), rows=3)
    next(chunks)
    chunks.close()
    assert [child.poll() is None for child in children] == [False]
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C")
def test_interrupted(decoder, children, tmp_path, monkeypatch):
    """While it waits for the decoder, which sends the signal: polars, where it works itself, may swallow one."""
    decoder(f"import os, signal\nsys.stdout.buffer.flush()\nos.kill(os.getppid(), signal.SIGINT)\n{HANGS}")
    raw = written(FRAMES["numbers"])
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            read_table(io.BytesIO(raw))
    finally:
        signal.signal(signal.SIGINT, before)
    assert [child.poll() is None for child in children] == [False]
    assert not list(folder.iterdir())
