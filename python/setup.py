# SPDX-License-Identifier: Apache-2.0
"""Builds the C library by CMake, as everybody else does, and links it into the extension.

``UNRELU_BUILD`` names a CMake build to take the library from. Without it that is ``../build`` where
it was configured, else one of its own is made below ``build``.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
TOP = HERE.parent
HEADER = TOP / "include" / "unrelu" / "unrelu.h"


def version() -> str:
    text = HEADER.read_text()
    parts = (re.search(rf"UNRELU_VERSION_{p} (\d+)", text) for p in ("MAJOR", "MINOR", "PATCH"))
    return ".".join(part.group(1) for part in parts if part)


def cmake_build() -> Path:
    """A configured build of the library alone, or one that is there."""
    asked = os.environ.get("UNRELU_BUILD")
    for path in [Path(asked)] if asked else [TOP / "build"]:
        cache = path / "CMakeCache.txt"
        if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={TOP}\n" in cache.read_text():
            return path
    if asked:
        raise SystemExit(f"UNRELU_BUILD={asked} is no CMake build of {TOP}")
    path = HERE / "build" / "library"
    parts = [f"-DUNRELU_{part}=OFF" for part in ("CLI", "TESTS", "BENCH", "INSTALL")]
    subprocess.check_call(["cmake", "-S", str(TOP), "-B", str(path), *parts])
    return path


class BuildLibraryFirst(build_ext):
    def run(self) -> None:
        path = cmake_build()
        jobs = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
        command = ["cmake", "--build", str(path), "--target", "unrelu_static", "-j", jobs]
        subprocess.check_call(command)
        link = (path / "link_static.txt").read_text().split("\n")
        library, others = link[0], [word for word in link[1:] if word]
        for extension in self.extensions:
            extension.extra_objects = [library]
            extension.extra_link_args = others
            extension.depends = [library, str(HEADER)]
        super().run()


os.chdir(HERE)  # whoever calls: pip, or the top of the tree
setup(
    version=version(),
    cffi_modules=["ffi_build.py:ffibuilder"],
    cmdclass={"build_ext": BuildLibraryFirst},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
