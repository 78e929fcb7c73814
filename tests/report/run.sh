#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh UNRELU [SHOTS]: makes pages of all kinds and looks at them in headless Chromium (browser.py
# says what for); with SHOTS, pictures of them go to that folder. Where there is no Chromium charts
# are read as XML, and it ends with 77, as it does where there is no Python.
set -eu

unrelu=$(realpath "$1")
here=$(realpath "${0%/*}")
shots=${2:+$(realpath -m "$2")}
skip() {
    echo "skipped: $1"
    exit 77
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || echo -)
command -v python3 > /dev/null || skip "Python is not installed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# names that would run as scripts, one column without zeros, one of ties, missing cells
"$unrelu" generate gaussian -q -d 5 -n 800 --seed 3 -o plant
"$unrelu" sample -q plant/truth.npz -n 4000 --seed 4 -o plain.csv
awk -F, -v OFS=, 'NR == 1 {
        print "lead", "<script>hostile=1</script>", "\"</script><img src=x onerror=hostile=1>\"",
              "${hostile=1}", "it'\''s & <b>", "warm"
    } NR > 1 { print $1, NR % 9 ? $2 : "", $3, int(2 * $4), $5 * $5, $1 + 8 - $2 }' \
    plain.csv > samples.csv
"$unrelu" fit -q samples.csv --rank auto -o gaussian.npz > /dev/null
"$unrelu" report -q gaussian.npz samples.csv -o gaussian.html
"$unrelu" report -q plant/truth.npz plain.csv -o planted.html

# a column whose values are all the same
awk -F, -v OFS=, 'NR > 1 { $1 = ($1 > 0) * 3 } { print }' plain.csv > same.csv
"$unrelu" report -q plant/truth.npz same.csv -o same.html

# a transform, and cells with limits of their own
awk -F, -v OFS=, 'NR == 1 { print "lead", "<b>zinc</b>" } NR > 1 {
        a = exp($1 - 1); b = exp($2 - 1); print NR % 2 ? (a < 0.5 ? "ND" : a) : a < 0.8 ? "<0.8" : a, b
    }' plain.csv > limits.csv
"$unrelu" fit -q limits.csv --limit lead=0.5 --transform boxcox -o limits.npz > /dev/null
"$unrelu" report -q limits.npz limits.csv --limit lead=0.5 -o limits.html

# cells above limits and between two, in three columns; eleven with numbers in the map, some of them
# nearly always hidden
"$unrelu" sample -q plant/truth.npz -n 300 --seed 9 | awk -F, -v OFS=, 'NR == 1 { print "lead", "iron", "tin" }
    NR > 1 {
        a = exp($1); b = exp($3); h = int(2 * b) / 2
        print (a < 1.2 ? "<1.2" : a > 3 ? ">3" : a), (NR % 5 ? b : h ".." (h + .5)), ($5 > 1 ? $5 : NR % 2 ? "<1" : "<1.5")
    }' > ends.csv
"$unrelu" fit -q ends.csv --transform log -o ends.npz > /dev/null
"$unrelu" report -q ends.npz ends.csv -o ends.html
"$unrelu" generate gaussian -q -d 11 -n 900 --kappa 4 --bias normal --seed 3 -o eleven
"$unrelu" fit -q eleven/x.npy --drop -o eleven.npz > /dev/null
"$unrelu" report -q eleven.npz eleven/x.npy -o eleven.html

"$unrelu" generate gaussian -q -d 30 -n 2000 -o wide
"$unrelu" fit -q wide/x.npy -o wide.npz > /dev/null
"$unrelu" report -q wide.npz wide/x.npy -o wide.html

"$unrelu" generate network -q -d 6 -k 3 -m 2 -n 1000 --noise 0.1 -o net
"$unrelu" recover -q net/x.npy net/a.npy -o network.npz > /dev/null
"$unrelu" report -q network.npz net/x.npy net/a.npy -o network.html

"$unrelu" generate mixture -q -d 8 -p 3 -n 1000 -o mix
"$unrelu" unmix -q mix/x.npy -o mixture.npz > /dev/null
"$unrelu" report -q mixture.npz -o mixture.html

# many columns: a map that is a picture
"$unrelu" generate gaussian -q -d 60 -k 9 -n 500 -o many
"$unrelu" report -q many/truth.npz many/x.npy -o many.html

"$unrelu" reproduce figure1 -q --quick -o . > /dev/null
"$unrelu" reproduce two-layer -q --quick --runs 1 -o . > /dev/null

python3 -B "$here/browser.py" "$browser" ${shots:+--shots "$shots"} ./*.html
[ "$browser" != - ] || skip "Chromium is not installed"
