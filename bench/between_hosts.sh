#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two ranks on two hosts that are network namespaces of this machine (test/hosts/hosts.bash), connected by veth pairs and a bridge: latency,
# bandwidth and rate by TCP, of Tern and of Open MPI in turn, as medians over rounds and ratios, also of the best quarters. Each rank has a core of its own.
#
#     . build/test/env.sh && MPIRUN=$MPIRUN MPICC=$MPICC TERN_PREFIX=$TERN_PREFIX [ROUNDS=3] [LOCAL=1] bench/between_hosts.sh
#
# LOCAL=1: both ranks on one host, over its loopback. ONLY="latency rate": these programs. Further variables: THEIRS, the peer
# (openmpi: mpicc.openmpi and mpirun.openmpi), OURS_ARGS and THEIR_ARGS for either mpirun.
export ROUNDS=${ROUNDS-3} LOCAL=${LOCAL-} ONLY=${ONLY-latency bandwidth rate} THEIRS=${THEIRS-openmpi} OURS_ARGS=${OURS_ARGS-} THEIR_ARGS=${THEIR_ARGS-}
source_dir=$(cd "$(dirname "$0")" && pwd)
HOSTS=2
. "$source_dir/../test/hosts/hosts.bash"
trap 'cd /; rm -rf "$scratch"' EXIT
for program in $ONLY; do
    "$MPICC" -O2 -o ours."$program" "$source_dir/$program.c" -lm || exit 1
    "mpicc.$THEIRS" -O2 -o theirs."$program" "$source_dir/$program.c" -lm || exit 1
done
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\nexec taskset -c $((OMPI_COMM_WORLD_RANK %% $(getconf _NPROCESSORS_ONLN))) "$@"\n' >own_core
chmod +x own_core
hosts=n1:1,n2:1
[ -z "$LOCAL" ] || hosts=n1:2

# once NAME COMMAND...: adds what a program prints to NAME.all
once() {
    local name=$1
    shift
    timeout -k 5 120 nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$@" >out 2>err || { echo "$* failed:"; cat out err; exit 1; }
    cat out >>"$name.all"
}
tern() {
    # shellcheck disable=SC2086
    once ours "$MPIRUN" -q --host $hosts -np 2 --bind-to none --mca btl tcp,self $OURS_ARGS ./own_core ./ours."$1" -b 0.02 -n 3 -m 1048576
}
peer() {
    # shellcheck disable=SC2086
    once theirs "mpirun.$THEIRS" --allow-run-as-root --host $hosts -np 2 --bind-to none --mca pml ob1 --mca btl tcp,self \
        --mca btl_tcp_if_include "$([ -n "$LOCAL" ] && echo lo || echo eth0)" --mca oob_tcp_if_include eth0 $THEIR_ARGS ./own_core ./theirs."$1" -b 0.02 -n 3 -m 1048576
}
for ((round = 0; round < ROUNDS; round++)); do
    for program in $ONLY; do
        if ((round % 2)); then peer "$program"; tern "$program"; else tern "$program"; peer "$program"; fi
    done
done
python3 - <<'P'
import collections, statistics
def read(name):
    values = collections.defaultdict(list)
    for line in open(name + ".all"):
        words = line.split()
        if len(words) == 4:
            values[words[0], int(words[1]), words[3]].append(float(words[2]))
    return values
def best_quarter(values, unit):
    return values[0] if len(values) < 2 else statistics.quantiles(values, n=4, method="inclusive")[0 if unit == "us" else 2]
ours, theirs = read("ours"), read("theirs")
print(f"{'':22}{'bytes':>9}{'tern':>12}{'peer':>12}  ratio  ratio of best quarters")
for key in sorted(ours, key=lambda k: (k[0], k[1])):
    a, b, unit = statistics.median(ours[key]), statistics.median(theirs[key]), key[2]
    print(f"{key[0]:22}{key[1]:9}{a:12.2f}{b:12.2f}  {a / b:5.2f}  {best_quarter(ours[key], unit) / best_quarter(theirs[key], unit):5.2f} {unit}")
P
