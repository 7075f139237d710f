"""Build hook: compile the loops of src/separatrix/loops/native when a wheel or an editable install is made."""

from __future__ import annotations

import runpy
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = "separatrix/loops/lib"


class CompileLoops(BuildHookInterface[Any]):
    """A wheel for all Pythons of one platform, or for every platform under SEPARATRIX_PURE=1."""

    _scratch: tempfile.TemporaryDirectory[str] | None = None  # where the libraries of this wheel are compiled

    @property
    def _build(self) -> SimpleNamespace:
        return SimpleNamespace(**runpy.run_path(str(Path(self.root, "src/separatrix/loops/build.py"))))

    def dependencies(self) -> list[str]:
        """Ask for ziglang, which brings a C compiler, only where there is none."""
        if self.target_name != "wheel" or not self._build.needs_zig():
            return []
        print(
            "separatrix: no C compiler that can be used here, so ziglang from PyPI compiles the loops", file=sys.stderr
        )
        return ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile in place for an editable install, else into a folder that only goes into the wheel."""
        if self.target_name != "wheel":
            return
        build = self._build
        editable = version == "editable"
        if not editable:
            self._scratch = tempfile.TemporaryDirectory(prefix="separatrix-loops-")
        into = Path(self.root, "src", INSIDE) if self._scratch is None else Path(self._scratch.name)
        try:
            made = build.build(into)
        except build.BuildError as error:
            sys.exit(f"\n{error}\n")
        if not editable:
            build_data["force_include"] |= {str(file): f"{INSIDE}/{file.name}" for file in made}
        if not build.pure():
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{build.platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel holds the libraries now."""
        if self._scratch is not None:
            self._scratch.cleanup()
