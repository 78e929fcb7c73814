#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests hold the tolerances? Moves named constants by a factor of 100 and runs tests.

    scripts/mutate.py                                        (every constant of src)
    scripts/mutate.py src/network/problem/tolerance.h:UR_HINGE src/cone
    scripts/mutate.py --tests 'test_unique|golden' src/network/verdict
    scripts/mutate.py --list                                 (what is moved, what is left out and why)

A constant is '#define NAME 1e-6' or 'static const double NAME = 1e-6', also one of several, also an
expression. All work is done on a copy of the tree in build-mutate, where each constant is multiplied
by a factor that is 1 unless the environment says otherwise: one build serves for all. Each test runs
once as it is, which says what constants it reads. A constant is then moved, up and down, and the tests
that read it run, the nearest and shortest first, until one fails. Prints a row a constant: its value, and for each
direction the test that failed, or 'NOT NOTICED' (with 'slower' where a test ran into its limit). Exit
status 1 where something was not noticed. Needs Python and rsync.

Left out is what no test can hold: constants of mathematics, what follows from the precision of doubles,
and what only sets the pace of a search whose outcome is judged by something else. The last says so itself,
in the comment before it or beside it: 'Pace:', and what judges. Nothing that decides a verdict, a
certificate, a number of neurons or a standard error may say it.
"""
import argparse
import glob
import json
import os
import re
import resource
import subprocess
import sys
import time

FACTORS = (100, 0.01)
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(TOP, "build-mutate")
COPY = os.path.join(WORK, "tree")
BUILD = os.path.join(WORK, "build")
NUMBER = r"[-+]?(?:0x[0-9a-fA-F.]+p[-+]?\d+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"

# not run unless asked for: what takes minutes, or looks at other things than results
SLOW = r"numbers|allocation|install|^report$|folders|docs_cli|fuzz|concurrent"

# What is no tolerance, and what initialises tables, which a factor cannot do: names, or places. Constants of
# mathematics are known by their digits.
LEFT_OUT = {
    "BLOCKS": "a size of buffers", "UR_WHY": "a size of buffers",
    "COLUMNS_AVX2": "a switch", "UR_PANEL_AVX2": "a switch",
    "UR_NO_EXPONENT": "a mark", "UR_LARGEST_EXPONENT": "a mark", "UR_EXP_SHIFT": "a trick of rounding",
    "UR_STEPHENS_A": "of a published table", "UR_STEPHENS_C": "of a published table",
    "src/model/ranges.c:ROUNDING": "in a table of constants", "src/model/ranges.c:WHOLE_MOST": "in a table of constants",
    "UR_LN2_HIGH": "a constant of mathematics", "UR_LN2_LOW": "a constant of mathematics",
}
DIGITS_OF_MATHEMATICS = 14
INTEGERS = {"UR_FEWEST_ROWS", "UR_LEAST_HELD"} # others are compared with doubles

HOOKS = """/* made by scripts/mutate.py */
#include <stdio.h>
#include <stdlib.h>
double ur_mutate_factor[%(count)d];
unsigned char ur_mutate_read[%(count)d];
static const char *records;
__attribute__((constructor)) static void begin(void)
{
    const char *moved = getenv("UR_MUTATE");
    int which = -1;
    double factor = 1;
    for (int i = 0; i < %(count)d; i++) ur_mutate_factor[i] = 1;
    if (moved && sscanf(moved, "%%d:%%lf", &which, &factor) == 2) ur_mutate_factor[which] = factor;
    records = getenv("UR_MUTATE_READ");
}
__attribute__((destructor)) static void end(void)
{
    FILE *file = records ? fopen(records, "a") : NULL;
    for (int i = 0; file && i < %(count)d; i++)
        if (ur_mutate_read[i]) fprintf(file, "%%d ", i);
    if (file) fclose(file);
}
"""


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def declared(text):
    """(start, end, [(name, type, value)]) of every statement that gives constants"""
    for found in re.finditer(r"^#define[ \t]+(\w+)[ \t]+((?:" + NUMBER + r")|\((?:" + NUMBER + r")\))(?=\s|$)", text, re.M):
        kind = "int" if found.group(1) in INTEGERS else "double"
        yield found.start(), found.end(), [(found.group(1), kind, found.group(2))]
    for found in re.finditer(r"^[ \t]*static const (double|float) ([^;\[\]{}]*);", text, re.M):
        parts = re.sub(r"/\*.*?\*/", "", found.group(2), flags=re.S).split(",")
        pairs = [[side.strip() for side in part.split("=")] for part in parts]
        if all(len(pair) == 2 and re.search(r"\d|UR_|DBL_", pair[1]) for pair in pairs):
            yield found.start(), found.end(), [(name, found.group(1), value) for name, value in pairs]


def pace(text, start, end):
    """why a statement only sets the pace of a search: what its comment says after 'Pace:', or None"""
    before = re.search(r"/\*((?:(?!\*/).)*)\*/\s*$", text[:start], re.S)
    beside = re.match(r"[ \t]*/\*((?:(?!\*/).)*)\*/", text[end:], re.S)
    for comment in (beside, before):
        said = comment and re.search(r"\b[Pp]ace: *(.*)", re.sub(r"\s*\n\s*\*\s*", " ", comment.group(1)), re.S)
        if said:
            return "pace: " + said.group(1).strip().rstrip(".")
    return None


def left_out(place, value):
    for known in (place, place.split(":")[1]):
        if known in LEFT_OUT:
            return LEFT_OUT[known]
    if "DBL_EPSILON" in value:
        return "derived from the precision of doubles"
    if len(re.sub(r"[eE].*|\D", "", value).lstrip("0")) >= DIGITS_OF_MATHEMATICS:
        return "a constant of mathematics"
    return None


def constants():
    """[(place, value, reason to leave it out or None)] of the whole of src"""
    found = []
    for path in sorted(glob.glob(os.path.join(TOP, "src", "**", "*.[ch]"), recursive=True)):
        with open(path) as file:
            text = file.read()
            for start, end, several in declared(text):
                for name, _, value in several:
                    place = f"{os.path.relpath(path, TOP)}:{name}"
                    found.append((place, value, left_out(place, value) or pace(text, start, end)))
    return found


def instrument(path, numbers):
    """the text of a file in which each constant asks for its factor, and says that it was read"""
    with open(os.path.join(TOP, path)) as file:
        text = file.read()
    made, at, used = "", 0, False
    for start, end, several in sorted(declared(text)):
        lines = []
        for name, kind, value in several:
            number = numbers.get(f"{path}:{name}")
            if number is not None:
                value = f"((ur_mutate_read[{number}] = 1), ({kind})(ur_mutate_factor[{number}] * ({value})))"
                lines.append(f"#define {name} {value}")
                used = True
            elif text[start:end].lstrip().startswith("#"):
                lines.append(text[start:end])
            else: # of others that are moved it is not a constant of C any more
                lines.append(f"#define {name} (({kind})({value}))")
        made += text[at:start] + "\n".join(lines) + ("" if text[start:end].startswith("#") else "\n")
        at = end
    head = "extern double ur_mutate_factor[];\nextern unsigned char ur_mutate_read[];\n"
    return (head if used else "") + made + text[at:]


def write_changed(path, text):
    if os.path.exists(path):
        with open(path) as file:
            if file.read() == text:
                return
    with open(path, "w") as file:
        file.write(text)


def prepare(numbers):
    os.makedirs(COPY, exist_ok=True)
    changed = sorted({place.partition(":")[0] for place, _, _ in constants()})
    kept = [f"--exclude=/{path}" for path in changed] + ["--exclude=/src/base/mutate.c"]
    run("rsync", "-rlpgoD", "--checksum", "--delete", "--exclude=/build*", "--exclude=/.git", *kept, TOP + "/", COPY + "/", check=True)
    for path in changed:
        write_changed(os.path.join(COPY, path), instrument(path, numbers))
    write_changed(os.path.join(COPY, "src/base/mutate.c"), HOOKS % {"count": len(numbers)})
    made = run("cmake", "-S", COPY, "-B", BUILD, "-DUNRELU_BENCH=OFF", "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG -w")
    if made.returncode:
        sys.exit(made.stdout)


def listed(wanted):
    """{name: (command, folder)} of the tests"""
    tests = json.loads(run("ctest", "--test-dir", BUILD, "--show-only=json-v1").stdout)["tests"]
    chosen = {}
    for test in tests:
        name = test["name"]
        if re.search(wanted, name) if wanted else not re.search(SLOW, name):
            folder = [p["value"] for p in test.get("properties", []) if p["name"] == "WORKING_DIRECTORY"]
            chosen[name] = (test["command"], folder[0] if folder else BUILD)
    if not chosen:
        sys.exit(f"no test matches '{wanted}'")
    return chosen


def build(tests, jobs):
    targets = [name for name in tests if name.startswith("test_")]
    if len(targets) < len(tests):
        targets += ["unrelu", "golden_arrays"]
    built = run("cmake", "--build", BUILD, "-j", str(jobs), "--target", *targets)
    if built.returncode:
        sys.exit("\n".join(line for line in built.stdout.splitlines() if "error" in line) or built.stdout)


def play(test, limit, **environment):
    """does it pass, fail, or take longer than limit (CPU seconds); and how long it took"""
    command, folder = test
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        os.setsid()
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command[2:] if command[0].endswith("limit.sh") else command, cwd=folder, text=True, errors="replace",
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limited,
                               env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment})
    failed = False
    for line in process.stderr:
        if re.search(r"\[  (FAILED|ERROR)", line):
            failed = True
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            break
    process.stderr.close()
    status = process.wait()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    if not failed and status and took >= limit - 1:
        return "slow", took
    return "fails" if failed or status not in (0, 77) else "passes", took


def readings(tests, numbers):
    """{test: {"took": seconds, "reads": [places]}}: each runs once as it is, where it changed since"""
    path = os.path.join(WORK, "readings.json")
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
    places = {number: place for place, number in numbers.items()}
    for name, test in tests.items():
        program = [word for word in test[0] if os.path.isfile(word) and word.startswith(BUILD)]
        stamp = max([os.path.getmtime(word) for word in program], default=0)
        if known.get(name, {}).get("stamp") == stamp:
            continue
        record = os.path.join(WORK, "read.txt")
        if os.path.exists(record):
            os.remove(record)
        how, took = play(test, 600, UR_MUTATE_READ=record)
        if how != "passes":
            print(f"{name} {how} as it is: not used", file=sys.stderr, flush=True)
            known[name] = {"stamp": stamp, "took": took, "reads": []}
            continue
        read = open(record).read().split() if os.path.exists(record) else []
        known[name] = {"stamp": stamp, "took": took, "reads": sorted({places[int(number)] for number in read})}
        with open(path, "w") as file:
            json.dump(known, file, indent=1)
    return {name: known[name] for name in tests}


def verdict(place, number, factor, tests, known, patience):
    slow, tried = [], 0
    near = set(re.split(r"\W|_", place.lower()))
    def order(name): # what a test and a file have in their names is what the test is about
        return known[name]["took"] / (1 + 4 * len(near & set(name.split("_"))))
    readers = sorted((name for name in tests if place in known[name]["reads"]), key=order)
    for name in readers:
        took = known[name]["took"]
        how, spent = play(tests[name], int(10 + 5 * took), UR_MUTATE=f"{number}:{factor}")
        if how == "fails":
            return True, name
        if how == "slow":
            slow.append(name)
        tried += spent
        if patience and tried > patience:
            return False, f"NOT NOTICED (in {patience:g} s)"
    return False, ("NOT NOTICED" if readers else "NOT READ") + (f" (slower: {', '.join(slow)})" if slow else "")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("places", nargs="*", default=["src"], help="FOLDER, FILE or FILE:NAME")
    words.add_argument("--tests", metavar="REGEX", help="which tests of ctest are run; all but the slow ones")
    words.add_argument("--patience", type=float, metavar="SECONDS", help="of CPU time, for each constant and direction")
    words.add_argument("--jobs", type=int, default=2, help="of the build")
    words.add_argument("--list", action="store_true", help="only say what is moved and what is left out")
    asked = words.parse_args()

    every = constants()
    if asked.list:
        for place, value, reason in every:
            print(f"{place} | {value} | {reason or 'moved'}")
        return
    numbers = {place: i for i, place in enumerate(place for place, _, reason in every if not reason)}
    prepare(numbers)
    tests = listed(asked.tests)
    build(tests, asked.jobs)
    known = readings(tests, numbers)
    unnoticed = 0
    for place, value, reason in every:
        path, _, name = place.partition(":")
        if reason or not any(place == p or path == p or path.startswith(p.rstrip("/") + "/") for p in asked.places):
            continue
        row = [place, value]
        for factor in FACTORS:
            noticed, text = verdict(place, numbers[place], factor, tests, known, asked.patience)
            unnoticed += not noticed
            row.append(f"x{factor:g}: {text}")
        print(" | ".join(row), flush=True)
    sys.exit(unnoticed > 0)


if __name__ == "__main__":
    main()
