#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every command of unrelu on tiny data, for those who watch it from outside: faults/run.sh and
# scripts/watch.sh read this file. It works in the folder where it is called.

# make_data UNRELU [ROWS]: the files that the commands below read, of 40 rows if not said
make_data() {
    local unrelu=$1 rows=${2:-40}
    (
        set -e
        "$unrelu" generate gaussian -q -d 3 -n "$rows" --bias normal -o g
        "$unrelu" generate network -q -d 3 -k 2 -m 2 -n "$rows" -o n
        "$unrelu" generate network -q -d 3 -k 2 -m 2 -n "$rows" --noise 0.1 -o noisy
        "$unrelu" generate mixture -q -d 3 -p 2 -n "$rows" -o m
        "$unrelu" sample -q g/truth.npz -n "$rows" -o g.csv
        gzip -c g.csv > g.csv.gz
        awk -F, 'NR > 1 { if (NR % 5 == 0) $1 = "<0.5"; if (NR % 7 == 0) $2 = ">1"; if (NR % 6 == 0) $3 = "0.2..0.9" }
            { print $1 "," $2 "," $3 }' g.csv > cells.csv
        awk -F, 'NR == 1 { print "site," $1 "," $1 "_nd," $2 "," $3 ",note" }
            NR > 1 { if (NR % 9 == 0) $2 = -9; if (NR % 4 == 0) $3 = 2
                print "s" int(NR / 3) "," $1 "," (NR % 5 == 0 ? "<" : "") "," $2 "," $3 ",=a" NR }' g.csv > sites.csv
        "$unrelu" fit -q g/x.npy -o fit.npz
        "$unrelu" fit -q cells.csv -o cells.npz
        "$unrelu" fit -q sites.csv --indicator _nd --na -9 --top 2 -o sites.npz
        "$unrelu" recover -q n/x.npy n/a.npy -o net.npz
        "$unrelu" generate network -q -d 3 -k 2 -m 1 -n 60 -o few
        "$unrelu" predict -q net.npz n/x.npy -o y.csv
        awk -F, 'NR == 1 { print $1 "," $2 ",rest"; next } { s = log(exp($1) + exp($2) + 1)
            printf "%.17g,%.17g,%.17g\n", $1 - s, $2 - s, -s }' y.csv > log.csv
        "$unrelu" export -q net.npz -o net.safetensors
        "$unrelu" summarize -q g/x.npy -o one.npz
        "$unrelu" summarize -q g.csv -o two.npz
        printf 'p cnf 3 2\n1 -2 0\n2 3 0\n' > f.cnf
        "$unrelu" hardness encode -q f.cnf -o inst.npz
        "$unrelu" hardness assign -q inst.npz 1 2 3 -o V.npy
        printf '1,2\n2,-1\n-1,3\n-3,-2\n3,3\n-2,1\n1,-4\n4,1\n' > wx.csv
        awk -F, '{ u = $1 + $2; v = $1 - $2; print (u > 0 ? u : 0) "," (v > 0 ? v : 0) }' wx.csv > wa.csv
        "$unrelu" reproduce figure1 -q --quick -o study
    ) > making 2>&1 || {
        cat making
        echo "the data could not be made"
        return 1
    }
}

# whether the command takes --threads
has_threads() {
    case $1 in
    fit | recover | certify | unmix | predict | sample | impute | check | summarize | generate | report | reproduce) ;;
    *) return 1 ;;
    esac
}

# every_command ACTION: calls ACTION NAME ARGUMENTS... for each; what they write goes to 'out'
every_command() {
    "$1" fit fit g.csv -o out/m.npz
    "$1" fit-gz fit g.csv.gz --json
    "$1" fit-robust fit g.csv --errors robust --json -o out/m.npz
    "$1" fit-cells fit cells.csv -o out/m.npz
    "$1" fit-summary fit one.npz -o out/m.npz
    "$1" fit-flags fit sites.csv --indicator _nd --na -9 --top 2 --complete --correlations all -o out/m.npz
    "$1" fit-bootstrap fit cells.csv --errors bootstrap:3 --json -o out/m.npz
    "$1" fit-cluster fit sites.csv --columns x1,x3 --errors cluster:site -o out/m.npz
    "$1" fit-judge fit g.csv --judge --exceed 1 -o out/m.npz
    "$1" recover recover n/x.npy n/a.npy --json -o out/m.npz
    "$1" recover-certify recover wx.csv wa.csv --certify -o out/m.npz
    "$1" recover-start recover n/x.npy n/a.npy --start net.safetensors -o out/m.npz
    "$1" recover-few recover few/x.npy few/a.npy -o out/m.npz
    "$1" recover-log recover n/x.npy log.csv --log-probabilities -o out/m.npz
    "$1" certify certify net.safetensors n/x.npy n/a.npy --json -o out/m.npz
    "$1" export-weights export net.npz -o out/net.safetensors
    "$1" export-graph export net.safetensors --float32 -o out/net.onnx
    "$1" recover-enumerate recover wx.csv wa.csv --method enumerate -o out/m.npz
    "$1" recover-noise recover noisy/x.npy noisy/a.npy -k 2 --noise gaussian -o out/m.npz
    "$1" unmix unmix m/x.npy -o out/m.npz
    "$1" unmix-separable unmix m/x.npy --method separable -o out/m.npz
    "$1" predict predict net.npz n/x.npy -o out/y.csv
    "$1" sample sample fit.npz -n 20 -o out/x.npy
    "$1" impute impute fit.npz g.csv -o out/x.csv
    "$1" impute-cells impute fit.npz cells.csv -o out/x.csv
    "$1" impute-texts impute sites.npz sites.csv --spreadsheet-safe -o out/x.csv
    "$1" impute-median impute fit.npz cells.csv --median -o out/x.csv
    "$1" impute-draws impute fit.npz cells.csv --draws 2 -o out/x.csv
    "$1" check check g.csv
    "$1" check-cells check cells.csv
    "$1" summarize summarize g/x.npy -o out/s.npz
    "$1" merge merge one.npz two.npz -o out/s.npz
    "$1" generate generate mixture -d 3 -p 2 -n 20 -o out
    "$1" plan plan gaussian -d 3 --error 0.1
    "$1" compare compare g/truth.npz fit.npz
    "$1" show show net.npz
    "$1" show-json show fit.npz --json
    "$1" report report fit.npz g.csv -o out/page.html
    "$1" report-cells report cells.npz cells.csv -o out/page.html
    "$1" report-network report net.npz n/x.npy n/a.npy -o out/page.html
    "$1" reproduce reproduce figure1 --quick -o out
    "$1" encode hardness encode f.cnf -o out/i.npz
    "$1" assign hardness assign inst.npz 1 2 3 -o out/V.npy
    "$1" decode hardness decode inst.npz V.npy
    "$1" help help fit
}
