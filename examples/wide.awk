# SPDX-License-Identifier: Apache-2.0
# awk -f wide.awk results.csv > wide.csv: of a table with a row for each result, as the Water Quality Portal and the USGS
# hand them out (WQX, legacy and 3.0), one with a row for each sample and a column for each characteristic, in the cells of
# which values below a limit say so. Results that are repeated in a sample are counted on standard error: the first stays.

# cells of the line, without quotes; returns how many
function split_line(line, cell,    n, i, c, is_quoted) {
    n = 1
    cell[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"" && is_quoted && substr(line, i + 1, 1) == "\"") {
            cell[n] = cell[n] c
            i++
        } else if (c == "\"")
            is_quoted = !is_quoted
        else if (c == "," && !is_quoted)
            cell[++n] = ""
        else
            cell[n] = cell[n] c
    }
    return n
}

# the place of the first of these names, 0: none is there
function find(names,    n, i, name) {
    n = split(names, name, " ")
    for (i = 1; i <= n; i++)
        if (name[i] in place)
            return place[name[i]]
    return 0
}

function at(where) {
    return where ? cell[where] : ""
}

function quote(text) {
    gsub(/"/, "\"\"", text)
    return "\"" text "\""
}

# a quoted text may go over several lines
{
    sub(/\r$/, "")
    line = is_open ? line " " $0 : $0
    quotes = line
    is_open = gsub(/"/, "", quotes) % 2
    if (is_open)
        next
    if (line == "")
        next
    width = split_line(line, cell)
}

columns == 0 {
    sub(/^\357\273\277/, "", cell[1])
    for (i = 1; i <= width; i++)
        place[cell[i]] = i
    sample = find("ActivityIdentifier Activity_ActivityIdentifier")
    what = find("CharacteristicName Result_Characteristic")
    part = find("ResultSampleFractionText Result_SampleFraction")
    value = find("ResultMeasureValue Result_Measure")
    unit = find("ResultMeasure/MeasureUnitCode Result_MeasureUnit")
    seen = find("ResultDetectionConditionText Result_ResultDetectionCondition")
    limit = find("DetectionQuantitationLimitMeasure/MeasureValue DetectionLimit_MeasureA")
    limit_unit = find("DetectionQuantitationLimitMeasure/MeasureUnitCode DetectionLimit_MeasureUnitA")
    if (!sample || !what || !value) {
        print "wide.awk: no columns ActivityIdentifier, CharacteristicName and ResultMeasureValue, nor those of WQX 3.0" > "/dev/stderr"
        is_wrong = 1
        exit 1
    }
    columns = 1
    next
}

{
    name = at(what) (at(part) == "" ? "" : " " at(part))
    name = name ((unit_of = at(unit) == "" ? at(limit_unit) : at(unit)) == "" ? "" : " " unit_of)
    result = at(value)
    condition = tolower(at(seen))
    if (condition ~ /above/)
        result = ">" (at(limit) == "" ? result : at(limit))
    else if (condition != "" && condition !~ /^detected/)
        result = at(limit) == "" ? "ND" : "<" at(limit)
    if (!(at(sample) in row_of)) {
        row_of[at(sample)] = ++rows
        id[rows] = at(sample)
    }
    if (!(name in column_of)) {
        column_of[name] = ++all
        title[all] = name
    }
    key = row_of[at(sample)] SUBSEP column_of[name]
    if (key in found)
        repeated++
    else
        found[key] = result
}

END {
    if (is_wrong)
        exit 1
    printf "sample"
    for (j = 1; j <= all; j++)
        printf ",%s", quote(title[j])
    print ""
    for (i = 1; i <= rows; i++) {
        printf "%s", quote(id[i])
        for (j = 1; j <= all; j++)
            printf ",%s", (i SUBSEP j) in found ? found[i SUBSEP j] : ""
        print ""
    }
    if (repeated)
        print "wide.awk: " repeated " repeated results of a sample left out" > "/dev/stderr"
}
