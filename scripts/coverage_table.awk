#!/usr/bin/awk -f
# SPDX-License-Identifier: Apache-2.0
# coverage_table.awk -v floor=95 FILES.CSV: docs/coverage.md from the table of files that gcovr
# writes (name, lines, lines reached, ...). Fails where fewer than 'floor' % of the lines of src, of
# cli, or of both are reached.
BEGIN { FS = "," }
FNR > 1 {
    folder = $1
    sub(/\/[^\/]*$/, "", folder)
    top = $1
    sub(/\/.*/, "", top)
    add(folder, $2, $3)
    add(top "/ in all", $2, $3)
    add("src/ and cli/", $2, $3)
    if (100 * $3 < floor * $2)
        below[$1] = row("`" $1 "`", $2, $3)
}

function add(name, lines, reached) { all[name] += lines; hit[name] += reached }

# rounded down, so that what is below the floor never reads as the floor
function row(name, lines, reached)
{
    return sprintf("| %s | %d | %d | %.1f |", name, lines, reached, int(1000 * reached / lines) / 10)
}

function head(first) { printf "\n| %s | lines | reached | %% |\n|---|---:|---:|---:|\n", first }

# names in the order of their bytes: awk has no order of its own
function print_sorted(rows,    name, names, count, i, j)
{
    for (name in rows) {
        for (i = count++; i > 0 && names[i - 1] > name; i--)
            names[i] = names[i - 1]
        names[i] = name
    }
    for (j = 0; j < count; j++)
        print rows[names[j]]
}

END {
    print "<!-- written by make coverage -->"
    print "# Coverage\n"
    print "Lines of code that the tests reach, measured by `make coverage` (gcc and gcovr), which fails where they are"
    print "fewer than " floor " % of `src/`, of `cli/` or of both. The tests are those of `make test`, some calls that fail"
    print "among them (`tests/faults/`), without numbers, bits as recorded, installation and kill -9."
    print "That a line is reached does not say that a test would notice an error in it: what tests are held against is in"
    print "[design.md](design.md#tests)."
    head("in all")
    for (name in all)
        if (name ~ / /)
            totals[name] = row(name, all[name], hit[name])
        else
            folders[name] = row("`" name "/`", all[name], hit[name])
    print_sorted(totals)
    head("folder")
    print_sorted(folders)
    print "\n## Files below " floor " %"
    head("file")
    print_sorted(below)
    for (name in totals)
        if (100 * hit[name] < floor * all[name]) {
            printf "\n%s: %d of %d lines are reached, fewer than %s %%.\n", name, hit[name], all[name], floor
            failed = 1
        }
    exit failed
}
