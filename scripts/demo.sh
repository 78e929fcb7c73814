#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh BUILD: plants a rectified Gaussian in the setting of the paper, learns it back by the
# default and by the paper's algorithm, and prints both side by side; then plants a two-layer
# network and recovers it from inputs and labels, and a mixture and unmixes its samples, and prints
# their verdicts and errors.
set -euo pipefail

build=$1
unrelu=$build/unrelu
out=$build/demo
d=5 n=200000 seed=1

# value of a number in a JSON object on standard input
field() { sed -n "s/.*\"$1\": \([-+.0-9eE]*\|null\)[,}].*/\1/p"; }

# first line of a file, as a paragraph
verdict() { sed -n 1p "$1" | fold -s -w 76 | sed 's/^/  /; s/ *$//'; }

mkdir -p "$out"
"$unrelu" generate gaussian -q -d $d -n $n --seed $seed -o "$out"

for method in efficient paper; do
    "$unrelu" fit -q "$out/x.npy" --method $method --seed $seed --json -o "$out/$method.npz" \
        > "$out/$method.fit.json"
    "$unrelu" compare -q "$out/truth.npz" "$out/$method.npz" --json > "$out/$method.compare.json"
done

row() { # title file key
    printf '%s\t%s\t%s\n' "$1" "$(field "$3" < "$out/efficient.$2.json")" \
        "$(field "$3" < "$out/paper.$2.json")"
}

echo
echo "A planted rectified Gaussian x = ReLU(W z + b), d = $d, n = $n,"
echo "learned back from its samples:"
echo
{
    row 'error of b' compare b_error
    row 'error of Sigma' compare sigma_error
    row 'KL(model || truth)' compare kl
    row 'seconds' fit seconds
} | awk -F '\t' '
    function number(x) { return x == "null" ? "none" : sprintf("%.4g", x) }
    BEGIN { printf "  %-20s %12s %12s %16s\n", "", "default", "paper", "paper / default" }
    {
        ratio = $2 > 0 && $3 > 0 ? sprintf("%.1f", $3 / $2) : ""
        printf "  %-20s %12s %12s %16s\n", $1, number($2), number($3), ratio
    }'

net=$out/network
"$unrelu" generate network -q -d 20 -k 10 -m 12 -n 200 --seed $seed -o "$net"
"$unrelu" recover -q "$net/x.npy" "$net/a.npy" --seed $seed -o "$net/net.npz" > "$net/recover.txt"
"$unrelu" compare -q "$net/truth.npz" "$net/net.npz" --json > "$net/compare.json"

echo
echo "A planted network a = U ReLU(V x) of 20 inputs, 10 neurons and 12 labels,"
echo "recovered from 200 samples of x and a:"
echo
verdict "$net/recover.txt"
for what in V U; do
    printf '  largest error of %s: %.2g\n' $what "$(field ${what}_max < "$net/compare.json")"
done

mix=$out/mixture unmixed=yes
"$unrelu" generate mixture -q -d 12 -p 8 -n 400 --seed $seed -o "$mix"
echo
echo "A planted mixture x = A ReLU(W z + b) of 8 units in 12 columns, unmixed from"
echo "400 samples of x:"
echo
"$unrelu" unmix -q "$mix/x.npy" --seed $seed -o "$mix/mix.npz" > "$mix/unmix.txt" || {
    [ $? = 2 ] # built without Clp, as it said
    unmixed=no
}
if [ $unmixed = yes ]; then
    "$unrelu" compare -q "$mix/truth.npz" "$mix/mix.npz" --json > "$mix/compare.json"
    verdict "$mix/unmix.txt"
    printf '  largest error of A: %.2g\n' "$(field A_max < "$mix/compare.json")"
    printf '  error of b: %.2g |W|, error of Sigma: %.2g |W|^2 (these fall as 1 / sqrt(n))\n' \
        "$(field b_error < "$mix/compare.json")" "$(field sigma_error < "$mix/compare.json")"
fi

cat << END

The models (numpy.load opens them) are $out/efficient.npz,
$net/net.npz and
$mix/mix.npz, the data are beside them. Try next:

  $unrelu show $out/efficient.npz
  $unrelu fit $out/x.npy --rank auto
  $unrelu sample $out/efficient.npz -n 5
  $unrelu recover $net/x.npy $net/a.npy --method tensor --signs projection
  $unrelu show $mix/mix.npz
  $unrelu help
END
