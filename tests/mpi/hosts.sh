#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hosts.sh UNRELU UNRELU_MPI: ranks on two hosts, each a network namespace of its own with a name of its
# own, that reach each other by TCP over a pair of virtual interfaces and nothing else. 77: this
# machine cannot make them (it takes root, iproute2 and Open MPI).
set -u

unrelu=$(realpath "$1")
with=$(realpath "$2")
"$(dirname "$(realpath "$0")")/mpirun.sh" 1 true || exit $?
a=unrelu-a-$$ b=unrelu-b-$$
work=$(mktemp -d)
# shellcheck disable=SC2317 # by the trap
end() {
    cd /
    ip netns del "$a"
    ip netns del "$b"
    rm -rf "$work"
} 2> /dev/null
trap end EXIT
cd "$work" || exit 1
if ! { command -v ip unshare && ip netns add "$a" && ip netns add "$b" &&
    ip -n "$a" link add veth0 type veth peer name veth0 netns "$b" &&
    unshare -u true; } > why 2>&1; then
    echo "no two hosts on this machine: $(tail -1 why)"
    exit 77
fi
# addresses that are set aside for examples; no route leads out of the two
ip -n "$a" addr add 192.0.2.1/24 dev veth0
ip -n "$b" addr add 192.0.2.2/24 dev veth0
for host in "$a" "$b"; do
    ip -n "$host" link set lo up
    ip -n "$host" link set veth0 up
done

# on HOST COMMAND...: on one of the two
cat > on << END
#!/bin/sh
case \$1 in
192.0.2.1) host=$a ;;
*) host=$b ;;
esac
shift
exec ip netns exec \$host unshare -u sh -c "hostname \$host; \$*"
END
chmod +x on
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=$work/on OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=192.0.2.0/24 \
    OMPI_MCA_oob_tcp_if_include=192.0.2.0/24 OMPI_MCA_orte_tmpdir_base=$work
on_both() { # 4 ranks, 2 on each
    ./on 192.0.2.1 mpirun -q --timeout 100 --oversubscribe -host 192.0.2.1:2,192.0.2.2:2 -n 4 "$@"
}
failures=0
complain() {
    echo "$*"
    failures=$((failures + 1))
}

[ "$(on_both hostname | sort | uniq -c | awk '{ print $1 $2 }')" = "2$a
2$b" ] || complain "not two ranks on each host: $(on_both hostname)"

"$unrelu" generate gaussian -d 6 -n 20000 --kappa 3 -o p -q || exit 1
"$unrelu" fit p/x.npy -o one.npz > /dev/null 2>&1
on_both "$with" fit p/x.npy -o two.npz > /dev/null 2> said || complain "fit: exit $?: $(cat said)"
"$unrelu" compare one.npz two.npz --json -q |
    tr ',' '\n' |
    awk -F ': ' '/"(b|sigma)_error"/ { n++; if (!($2 + 0 < 1e-12)) n = 9 } END { exit n != 2 }' ||
    complain "another model: $("$unrelu" compare one.npz two.npz)"

# what one rank refuses on the other host, and a host that is lost
"$unrelu" sample p/truth.npz -n 3000 -q -o x.csv && sed '3001s/^[^,]*/-7/' x.csv > bad.csv
on_both "$with" fit bad.csv -o no.npz > /dev/null 2> said
status=$?
grep -q '^unrelu: rank 3: bad.csv, part 4 of 4: row 3000' said || status=none
[ "$status" = 3 ] || complain "a refused cell: exit $status: $(cat said)"
header="{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 10), }"
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" > long.npy && truncate -s $((128 + 80000000000)) long.npy
on_both "$with" fit long.npy -o no.npz > out 2> said &
job=$!
for ((i = 0; i < 600; i++)); do # until both of the other host read
    read -ra members <<< "$(for pid in $(ip netns pids "$b"); do
        readlink "/proc/$pid"/fd/* | grep -q long.npy && echo "$pid"; done | tr '\n' ' ')"
    [ ${#members[@]} = 2 ] && break
    sleep 0.1
done
for pid in $(ip netns pids "$b"); do kill -KILL "$pid"; done
for ((i = 0; i < 100; i++)); do
    kill -0 $job 2> /dev/null || break
    sleep 0.1
done
kill -0 $job 2> /dev/null && complain "10 s after one host was lost the other still waits"
for pid in $(ip netns pids "$a"); do
    grep -qs '^State:.[^Z]' "/proc/$pid/status" && complain "a rank still runs" && kill -KILL "$pid"
done
wait $job && complain "a lost host: exit 0"
if [ -s out ] || [ -e no.npz ]; then complain "a lost host: something was written"; fi

[ $failures = 0 ] && echo "two hosts give the model of one"
exit $((failures > 0))
