"""``separatrix lab``: a page for this machine, of drawn points or of two columns of a table, until Ctrl-C."""

import _thread
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from cli.commandline import run, write_table

from separatrix.cli.lab import points


def started(*words):
    """The command in a process of its own, and the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "separatrix", "lab", "--no-browser", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
    assert address, line + process.stderr.read()
    return process, address[0]


def beginning(address):
    """What the page begins with."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request("GET", f"/?{parts.query}")
    reply = connection.getresponse()
    reply.read()
    connection.request("GET", "/start.json", headers={"Cookie": reply.headers["Set-Cookie"].partition(";")[0]})
    found = json.loads(connection.getresponse().read())
    connection.close()
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent to a group there")
def test_two_columns_of_a_table_until_control_c(tmp_path):
    table = write_table(tmp_path / "t.csv")
    process, address = started(table, "--target", "kind", "--x", "width", "--y", "length")
    try:
        found = beginning(address)
        assert found["names"] == ["width", "length"]
        assert found["classes"] == ["cat", "dog"]
        lines = [line.split(",") for line in table.read_text().splitlines()[1:]]
        assert found["X"] == [[float(line[2]), float(line[1])] for line in lines]
        assert found["y"] == [int(line[-1] == "dog") for line in lines]
    finally:
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert text.endswith("The lab has ended.\n")
    assert "Traceback" not in errors


def test_rows_with_gaps_in_the_two_columns_are_left_out_and_counted(tmp_path):
    path = tmp_path / "t.csv"
    cells = [(f"{i}.5" if i % 5 else "", f"{i * i % 17}.25", "ab"[i % 2]) for i in range(40)]
    path.write_text("p,q,kind\n" + "".join(f"{p},{q},{kind}\n" for p, q, kind in cells))
    found = points(str(path), "kind", None, None, None)
    assert found["X"] == [[float(p), float(q)] for p, q, _ in cells if p]
    assert found["y"] == ["ab".index(kind) for p, _, kind in cells if p]
    assert found["note"] == "Rows with gaps in these columns are left out: 8."


def test_a_port_that_is_taken_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("lab", "--no-browser", "--port", str(port))
    assert done.exit_code == 4
    assert f"Port {port} cannot be listened on" in done.output
    assert "choose another" in done.output


def test_a_browser_that_stays_in_the_terminal_is_served(monkeypatch):
    """A browser without windows returns when it is left: the lab must be there meanwhile."""
    seen = []

    def stays(address):
        seen.append(beginning(address)["settings"])
        _thread.interrupt_main()  # Ctrl-C

    monkeypatch.setattr("webbrowser.open", stays)
    done = run("lab")
    assert "perceptron" in seen[0]
    assert done.output.endswith("The lab has ended.\n")


def test_a_column_that_is_no_number_is_named(tmp_path):
    done = run("lab", write_table(tmp_path / "t.csv"), "--target", "kind", "--x", "colour", "--no-browser")
    assert done.exit_code == 2
    assert "'colour'" in done.output
    assert "length" in done.output


def test_options_of_a_table_need_a_table():
    done = run("lab", "--target", "kind", "--no-browser")
    assert done.exit_code == 2
    assert "name the file" in done.output.replace("\n", " ")


def test_a_table_with_one_column_of_numbers_is_told_so(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(20)))
    done = run("lab", path, "--target", "kind", "--no-browser")
    assert done.exit_code == 4
    assert "two columns of numbers" in done.output
