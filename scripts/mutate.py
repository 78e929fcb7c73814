#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests hold the tolerances? Moves named constants by a factor of 100 and runs tests.

    scripts/mutate.py 'test_unique|test_recover' src/network/problem/tolerance.h:UR_HINGE
    scripts/mutate.py 'test_pattern' src/network/pattern/pattern.c      (all that it defines)

The first argument says by a regular expression which tests of ctest are run. A constant is a
'#define NAME 1e-6' or a 'static const double NAME = 1e-6'. All work is done on a copy of the tree
in build-mutate; the first call builds it. Prints a row a constant: its value, and for each direction
the tests that failed, or 'NOT NOTICED'. Exit status 1 where something was not noticed.
"""
import os
import re
import subprocess
import sys

FACTORS = (100, 0.01)
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPY = os.path.join(TOP, "build-mutate", "tree")
BUILD = os.path.join(TOP, "build-mutate", "build")


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def constants(text):
    """(name, start, end) of every value that can be moved"""
    for found in re.finditer(r"^#define\s+(\w+)\s+\(?(" + NUMBER + r")\)?(?=\s|$)", text, re.M):
        yield found.group(1), found.start(2), found.end(2)
    for statement in re.finditer(r"static const (?:double|float) ([^;\[\]{}]*);", text):
        for found in re.finditer(r"(\w+)\s*=\s*(" + NUMBER + r")\s*(?=,|$|/\*)", statement.group(1), re.M):
            start = statement.start(1)
            yield found.group(1), start + found.start(2), start + found.end(2)


def prepare(tests):
    os.makedirs(COPY, exist_ok=True)
    run("rsync", "-rlpgoD", "--checksum", "--delete", "--exclude=/build*", "--exclude=/.git", TOP + "/", COPY + "/", check=True)
    made = run("cmake", "-S", COPY, "-B", BUILD, "-DUNRELU_BENCH=OFF")
    if made.returncode:
        sys.exit(made.stdout)
    listed = run("ctest", "--test-dir", BUILD, "-N", "-R", tests).stdout
    names = re.findall(r"Test +#\d+: (\S+)", listed)
    if not names:
        sys.exit(f"no test matches '{tests}'")
    targets = [name for name in names if name.startswith("test_")]
    return targets + (["unrelu", "golden_arrays"] if len(targets) < len(names) else [])


def failing(targets, tests):
    built = run("cmake", "--build", BUILD, "-j", "2", "--target", *targets)
    if built.returncode:
        return ["does not compile"]
    ran = run("ctest", "--test-dir", BUILD, "-j", "2", "-R", tests).stdout
    return re.findall(r"^\s*\d+ - (\S+) \(", ran, re.M)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tests, places = sys.argv[1], sys.argv[2:]
    targets = prepare(tests)
    before = failing(targets, tests)
    if before:
        sys.exit(f"these fail as they are: {before}")
    unnoticed = 0
    for place in places:
        path, _, wanted = place.partition(":")
        file = os.path.join(COPY, path)
        with open(file) as handle:
            text = handle.read()
        for name, start, end in constants(text):
            if wanted and name != wanted:
                continue
            row = [path, name, text[start:end]]
            for factor in FACTORS:
                with open(file, "w") as handle:
                    handle.write(text[:start] + repr(float(text[start:end]) * factor) + text[end:])
                failed = failing(targets, tests)
                unnoticed += not failed
                row.append(f"x{factor:g}: " + (", ".join(failed) if failed else "NOT NOTICED"))
            with open(file, "w") as handle:
                handle.write(text)
            print(" | ".join(row), flush=True)
    sys.exit(unnoticed > 0)


if __name__ == "__main__":
    main()
