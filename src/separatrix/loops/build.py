"""Compile the loops: native/*.c to one shared library for each level of processor.

``python -m separatrix.loops.build`` does it in place, for a checkout that is installed as editable; hatch_build.py does
it for wheels, and reads this file by its path. So it imports nothing but the standard library.

The libraries call nothing but libc and libm, and no Python: one build serves all versions. Sums are written with fixed
lanes and the compiler may not reorder or fuse (no -ffast-math, at compile time nor at link time, where it would turn
on flush-to-zero in the caller's threads; no fused multiply-add unless the source says fma): every level gives the same
bits.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

COMMAND = "python -m separatrix.loops.build"
NATIVE = Path(__file__).parent / "native"
LIBRARIES = Path(__file__).parent / "lib"
MANIFEST = "manifest.json"  # {file name: SHA-256} of the libraries; empty in a pure build

FLAGS = (
    *("-O3", "-std=c11", "-fopenmp-simd", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-pass-failed"),
)
X86_LEVELS = ("v2", "v3", "v4")
OTHER_LEVELS = ("plain",)  # arm64 and the rest: what every such processor has
OLDEST_MACOS = "11.0"

NO_COMPILER = f"""separatrix compiles its loops when it is installed, and found no C compiler that can
(tried CC, cc, gcc, clang; gcc 11 or clang 12 is new enough), nor the Python package ziglang, which brings one. Either
  - install a compiler (Debian, Ubuntu: apt install gcc; macOS: xcode-select --install), or
  - pip install ziglang, and install separatrix again (without --no-build-isolation pip fetches it by itself), or
  - set SEPARATRIX_PURE=1 while installing: slow loops in Python, nothing to compile.
In a checkout, {COMMAND} compiles again."""


class BuildError(Exception):
    """Nothing could be compiled; the message says what to do."""


def fingerprint() -> str:
    """SHA-256 of what the libraries are made of: the C sources, and how they are compiled."""
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for source in sorted(NATIVE.iterdir()):
        if source.suffix in (".c", ".h", ".inc"):
            text = source.read_bytes()
            digest.update(f"\n{source.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def pure() -> bool:
    """Whether SEPARATRIX_PURE asks for the Python references in place of compiled loops."""
    return os.environ.get("SEPARATRIX_PURE", "0") not in ("", "0")


def target() -> str:
    """SEPARATRIX_ZIG_TARGET: the machine to compile for, as zig names it, such as x86_64-linux-gnu.2.17."""
    return os.environ.get("SEPARATRIX_ZIG_TARGET", "")


def machine() -> tuple[str, str]:
    """(processor, system) that is compiled for."""
    if target():
        processor, system = target().split("-")[:2]
        return processor, {"macos": "darwin"}.get(system.split(".")[0], system.split(".")[0])
    processor = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(processor, processor), platform.system().lower()


def levels() -> tuple[str, ...]:
    """The libraries for the processor that is compiled for, lowest level first."""
    return X86_LEVELS if machine()[0] == "x86_64" else OTHER_LEVELS


def _march(level: str, command: Sequence[str]) -> list[str]:
    """The flag that lets a compiler use the instructions of a level; zig writes the name in its own way."""
    if level not in X86_LEVELS:
        return []
    return [f"-march=x86_64_{level}" if "ziglang" in command else f"-march=x86-64-{level}"]


def library_name(level: str, system: str) -> str:
    """The file of the library of one level."""
    return f"loops_{level}" + {"darwin": ".dylib", "windows": ".dll"}.get(system, ".so")


def zig() -> list[str]:
    """The compiler of the Python package ziglang, or nothing."""
    return [sys.executable, "-m", "ziglang", "cc"] if find_spec("ziglang") is not None else []


def system_compiler() -> list[str]:
    """CC, cc, gcc or clang: the first that compiles a line with our flags for the highest level, or nothing."""
    named = [shlex.split(os.environ["CC"])] if os.environ.get("CC") else []
    for command in [*named, ["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]) and _works(command):
            return command
    return []


def _works(command: Sequence[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("#include <math.h>\n#include <stdint.h>\ndouble probe(double x) { return fabs(x); }\n")
        flags = [*FLAGS, *_shared(), *_march(levels()[-1], command)]
        done = subprocess.run([*command, *flags, "probe.c", "-o", "probe"], cwd=folder, capture_output=True)
        return done.returncode == 0


def compiler() -> list[str]:
    """The command that compiles C here; raises `BuildError` where there is none."""
    found = zig() if target() else system_compiler() or zig()
    if not found:
        raise BuildError(NO_COMPILER)
    return [*found, "-target", target()] if target() else found


def needs_zig() -> bool:
    """Whether only the package ziglang, which is not here yet, could compile."""
    return not pure() and not zig() and (bool(target()) or not system_compiler())


def platform_tag() -> str:
    """The last part of the name of a wheel: where its libraries run."""
    processor, system = machine()
    if system == "darwin":
        return f"macosx_{OLDEST_MACOS.replace('.', '_')}_{'arm64' if processor == 'aarch64' else processor}"
    if target() and system == "linux":
        libc, _, version = target().split("-")[2].partition(".")
        kind = "musllinux" if libc.startswith("musl") else "manylinux"
        return f"{kind}_{(version or '2.17').replace('.', '_')}_{processor}"
    if target() and system == "windows":
        return {"x86_64": "win_amd64", "aarch64": "win_arm64"}[processor]
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _shared() -> list[str]:
    """Flags of a shared library, on each system."""
    system = machine()[1]
    if system == "windows":
        return ["-shared"]
    if system == "darwin":
        return ["-shared", "-fPIC", f"-mmacosx-version-min={OLDEST_MACOS}"]
    return ["-shared", "-fPIC", "-Wl,-z,noexecstack"]


def _libm(command: Sequence[str]) -> list[str]:
    """Flags to link with libc and libm.

    On Linux zig would first make stubs of them, which takes half a minute; every Python process has loaded them.
    """
    system = machine()[1]
    if system == "linux" and "ziglang" in command:
        return ["-nostdlib"]
    return [] if system == "windows" else ["-lm"]


def build(into: Path, extra: Sequence[str] = ()) -> list[Path]:
    """Compile every level into a folder, with extra flags; gives the files, the last of which lists the others.

    Files are replaced whole, so that a process that runs the old library keeps it.
    """
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into, prefix="building-") as scratch:
        made = [] if pure() else _compile_all(Path(scratch), extra)
        manifest = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in made}
        (Path(scratch) / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        names = [*manifest, MANIFEST]
        for old in into.iterdir():
            if old.is_file() and old.name not in names:
                old.unlink()
        return [(Path(scratch) / name).replace(into / name) for name in names]


def _compile_all(scratch: Path, extra: Sequence[str]) -> list[Path]:
    """Objects of every source and level, side by side, then a link for each level."""
    command, system = compiler(), machine()[1]
    flags = [*FLAGS, *(flag for flag in _shared() if flag == "-fPIC"), *extra, f'-DSOURCES="{fingerprint()}"']
    jobs, links, made = [], [], [scratch / library_name(level, system) for level in levels()]
    for level, library in zip(levels(), made, strict=True):
        objects = {str(source): str(scratch / f"{source.stem}_{level}.o") for source in sorted(NATIVE.glob("*.c"))}
        compile_one = [*command, *flags, *_march(level, command)]
        jobs += [[*compile_one, "-c", source, "-o", into] for source, into in objects.items()]
        links.append([*command, *_shared(), *extra, *objects.values(), "-o", str(library), *_libm(command)])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for batch in (jobs, links):
            list(pool.map(_run, batch))
    return made


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{shlex.join(command)}\nfailed:\n{done.stdout}{done.stderr}")


def main() -> None:
    """Compile in place, and say what was made."""
    try:
        for file in build(LIBRARIES, sys.argv[1:]):
            print(file)
    except BuildError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
