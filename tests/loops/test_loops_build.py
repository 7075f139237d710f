"""Compiling the loops: which compiler, for which machine, and what is said where there is none."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from separatrix.loops import build, library

ROOT = Path(__file__).parents[2]
VARIABLES = ("CC", "SEPARATRIX_PURE", "SEPARATRIX_ZIG_TARGET", "PYTHONPATH")

needs_compiler = pytest.mark.skipif(not build.system_compiler(), reason="no C compiler here")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(build, "find_spec", lambda name: None)
    return tmp_path


@pytest.fixture
def one_source(monkeypatch, tmp_path):
    """Only the source that every library has, so that compiling takes no time."""
    (tmp_path / "native").mkdir()
    for name in ("common.h", "level.c"):
        shutil.copy(build.NATIVE / name, tmp_path / "native")
    monkeypatch.setattr(build, "NATIVE", tmp_path / "native")
    return tmp_path / "native"


# ---------------------------------------------------------------------- which compiler
def test_without_a_compiler_one_message_says_what_to_do(no_compiler):
    assert build.needs_zig()
    with pytest.raises(build.BuildError) as raised:
        build.build(no_compiler / "lib")
    for remedy in ("apt install gcc", "pip install ziglang", "SEPARATRIX_PURE=1", build.COMMAND):
        assert remedy in str(raised.value)


def test_a_compiler_that_does_not_know_the_levels_is_not_used(no_compiler):
    old = no_compiler / "cc"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert build.system_compiler() == []
    assert build.needs_zig()


def test_zig_serves_where_there_is_no_other(no_compiler, monkeypatch):
    monkeypatch.setattr(build, "find_spec", lambda name: object() if name == "ziglang" else None)
    assert not build.needs_zig()
    assert build.compiler() == [sys.executable, "-m", "ziglang", "cc"]
    assert build._march("v3", build.compiler()) == ["-march=x86_64_v3"]


def test_pure_needs_nothing_and_lists_nothing(no_compiler, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_PURE", "1")
    assert not build.needs_zig()
    (made,) = build.build(no_compiler / "lib")
    assert made.read_text() == "{}\n"


@needs_compiler
def test_the_compiler_of_the_environment_comes_first(monkeypatch):
    (name,) = build.system_compiler()
    monkeypatch.setenv("CC", f"{name} -g")
    assert build.compiler() == [name, "-g"]


# ---------------------------------------------------------------------- for which machine
@pytest.mark.parametrize(
    "target, tag, files",
    [
        ("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", ["loops_v2.so", "loops_v3.so", "loops_v4.so"]),
        ("aarch64-linux-gnu.2.28", "manylinux_2_28_aarch64", ["loops_plain.so"]),
        ("x86_64-linux-musl.1.2", "musllinux_1_2_x86_64", ["loops_v2.so", "loops_v3.so", "loops_v4.so"]),
        ("aarch64-macos.11.0", "macosx_11_0_arm64", ["loops_plain.dylib"]),
        ("x86_64-windows-gnu", "win_amd64", ["loops_v2.dll", "loops_v3.dll", "loops_v4.dll"]),
    ],
)
def test_a_target_of_zig_gives_the_tag_of_its_wheel(target, tag, files, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_ZIG_TARGET", target)
    assert build.platform_tag() == tag
    assert [build.library_name(level, build.machine()[1]) for level in build.levels()] == files


@pytest.mark.skipif(shutil.which("objdump") is None, reason="nothing here reads machine code")
@pytest.mark.parametrize(
    "loop", ["online_csr_f64_i32", "sgd_csr_f64_i32", "hinge_sweeps_f64_i32", "logistic_sweep_f64_i32"]
)
def test_compiled_loops_ask_for_rows_ahead(loop):
    """What only asks for memory has no result, and gcc has left it out before."""
    if library.library() is None:
        pytest.skip("a pure build")
    words = ["objdump", "-d", "--no-show-raw-insn", f"--disassemble={loop}", library.library()._name]
    code = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert f"<{loop}>:" in code
    assert "prefetch" in code or "prfm" in code


# ---------------------------------------------------------------------- compiling
@needs_compiler
def test_old_files_go_and_new_ones_are_listed(one_source, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "loops_v1.so").write_bytes(b"of an earlier version")
    made = build.build(tmp_path / "lib")
    assert sorted(file.name for file in made) == sorted(file.name for file in (tmp_path / "lib").iterdir())
    assert made[-1].name == build.MANIFEST
    for file in made[:-1]:
        assert build.fingerprint().encode() in file.read_bytes()  # the hash of the sources is in each library


@needs_compiler
def test_the_fingerprint_is_that_of_names_sources_and_flags(one_source, monkeypatch):
    seen = {build.fingerprint()}
    (one_source / "level.c").rename(one_source / "levels.c")
    seen.add(build.fingerprint())
    (one_source / "more.inc").write_text("")
    seen.add(build.fingerprint())
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-g"))
    seen.add(build.fingerprint())
    (one_source / "notes.txt").write_text("no source")
    assert len(seen) == 4
    assert build.fingerprint() in seen


@needs_compiler
def test_a_warning_is_an_error_that_shows_the_command_and_leaves_the_old_library(one_source, tmp_path):
    before = [file.read_bytes() for file in build.build(tmp_path / "lib")]
    (one_source / "bad.c").write_text("int f(void) { int unused; return 0; }\n")
    with pytest.raises(build.BuildError, match=r"(?s)-c .*bad\.c.*unused"):
        build.build(tmp_path / "lib")
    assert [(tmp_path / "lib" / name).read_bytes() for name in sorted(os.listdir(tmp_path / "lib"))] == before


# ---------------------------------------------------------------------- installing: minutes, so only when asked for
USE = """
import numpy as np, sys, threading
from separatrix import LogisticRegression, LinearSVC, Perceptron
from separatrix.loops import library
print("library", library.library() is not None)
X = np.vstack([np.eye(4), -np.eye(4)])
print(*LogisticRegression().fit(X, [0] * 4 + [1] * 4).predict(X))
"""


@pytest.mark.long
@pytest.mark.parametrize("how", ["compiler", "hidden compiler", "editable", "pure", "sdist"])
def test_installing_into_a_new_environment(how, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / "bin" / "python")
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".git", ".venv", "lib", ".*cache", "__pycache__"))
    environment = dict(os.environ)
    if how == "hidden compiler":
        environment["PATH"] = str(tmp_path / "env" / "bin")
    if how == "pure":
        environment["SEPARATRIX_PURE"] = "1"

    def run(*command, **settings):
        done = subprocess.run([python, *command], capture_output=True, text=True, cwd=tmp_path, **settings)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    given = [str(source)]
    if how == "editable":
        given = ["-e", str(source)]
    elif how == "sdist":
        run("-m", "pip", "install", "-q", "build")
        run("-m", "build", "--sdist", "--outdir", str(tmp_path / "dist"), str(source))
        given = [str(file) for file in (tmp_path / "dist").glob("*.tar.gz")]
    said = run("-m", "pip", "install", "-v", *given, env=environment)
    assert ("ziglang from PyPI compiles the loops" in said) == (how == "hidden compiler")
    packages = run("-m", "pip", "list").lower()
    assert "separatrix" in packages
    assert not {"numba", "llvmlite", "ziglang"} & set(packages.split())
    assert run("-c", USE).split() == ["library", str(how != "pure"), *"00001111"]
    if how != "editable":
        home = Path(run("-c", "import separatrix; print(separatrix.__path__[0])").strip())
        assert not (home / "loops" / "native").exists()
        (tag,) = home.parent.glob("separatrix-*.dist-info/WHEEL")
        assert ("Tag: py3-none-any" in tag.read_text()) == (how == "pure")


@pytest.mark.long
def test_no_compiler_no_network_and_no_isolation_is_one_message(tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "hatchling"], check=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", str(ROOT)],
        env={**os.environ, "PATH": str(tmp_path / "env" / "bin")},
        capture_output=True,
        text=True,
    )
    assert done.returncode
    said = done.stdout + done.stderr
    assert said.count("found no C compiler") == 1
    assert "Traceback" not in said
