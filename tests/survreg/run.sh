#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU: fits real data that R's packages hold (MASS: 214 pieces of glass, in which elements may be absent; survival:
# Tobin's durable goods) and compares with R: b, scale, their standard errors and the likelihood with survreg, correlations
# with an integral and a maximisation in R (reference.R). 77: R or one of the packages is not installed.
set -eu

unrelu=$(realpath "$1")
here=$(realpath "${0%/*}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
Rscript -e 'library(MASS); library(survival)' > /dev/null 2>&1 || {
    echo "skipped: R with MASS and survival is not installed (apt-get install r-cran-mass r-cran-survival)"
    exit 77
}
Rscript "$here/reference.R" > wanted

# a row of JSON's numbers for each column
numbers() { # FILE COLUMNS
    "$unrelu" fit -q "$1" --columns "$2" --angles likelihood --errors model --json > fit.json
    for key in b scale loglik b_se scale_se; do
        grep -o "\"$key\": \[[^]]*" fit.json | sed 's/.*\[//; s/,//g'
    done | awk -v names="$2" '{ for (j = 1; j <= NF; j++) line[j] = line[j] " " $j; n = NF }
        END { split(names, name, ","); for (j = 1; j <= n; j++) print name[j] line[j] }'
}
{
    numbers fgl.csv Mg,K,Ba,Fe
    "$unrelu" fit -q fgl.csv --columns Mg,K,Ba,Fe --angles likelihood --correlations all |
        awk '/^correlations/ { on = 1; next } on && NF > 3 { print $1 "-" $2, $3 } on && NF == 0 { exit }'
    numbers tobin.csv durable
} > got

# both maximise to far below 1e-5; correlations are printed with two digits
awk -v near=1e-5 -v printed=0.0051 'NR == FNR { wanted[$1] = $0; next }
    {
        n = split(wanted[$1], w, " ")
        if (n < NF) { print "R has no", $1; bad = 1; next }
        for (i = 2; i <= NF; i++) {
            off = w[i] - $i
            if (off < 0) off = -off
            if (off > (NF == 2 ? printed : near)) { print "differs:", $0, "; R:", wanted[$1]; bad = 1 }
        }
        seen++
    }
    END { print seen " rows compared with R"; exit bad || seen != 11 }' wanted got
