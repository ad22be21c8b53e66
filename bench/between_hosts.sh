#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks on hosts that are network namespaces of this machine (test/hosts/hosts.bash), connected by veth pairs and a bridge: latency,
# bandwidth and rate by TCP, of Tern and of Open MPI in turn, as medians over rounds and ratios, also of the best quarters. Rank N is bound to
# core N modulo the number of cores. Ranks go round the hosts, so that ranks 0 and 1 are on two of them.
#
#     . build/test/env.sh && MPIRUN=$MPIRUN MPICC=$MPICC TERN_PREFIX=$TERN_PREFIX [ROUNDS=3] [LOCAL=1] bench/between_hosts.sh
#     HOSTS=4 RANKS=2 ONLY="rate collectives" PROGRAM_ARGS="-o allreduce,alltoall" bench/between_hosts.sh
#
# HOSTS=2 and RANKS=1 of each host, if nothing else is said; all ranks of a host use TCP among them, too, unless BTL=shm,tcp,self (vader for
# Open MPI). LOCAL=1: all ranks on one host, over its loopback. ONLY="latency rate": these programs. Further variables: THEIRS, the peer
# (openmpi: mpicc.openmpi and mpirun.openmpi; none: Tern alone), OURS_ARGS and THEIR_ARGS for either mpirun, PROGRAM_ARGS for the programs,
# LIMIT, seconds that a run may take (120). What a run that is ended by this limit has printed counts, and it is named.
export ROUNDS=${ROUNDS-3} LOCAL=${LOCAL-} ONLY=${ONLY-latency bandwidth rate} THEIRS=${THEIRS-openmpi} OURS_ARGS=${OURS_ARGS-} THEIR_ARGS=${THEIR_ARGS-}
export HOSTS=${HOSTS-2} RANKS=${RANKS-1} BTL=${BTL-tcp,self} PROGRAM_ARGS=${PROGRAM_ARGS-} LIMIT=${LIMIT-120}
source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../test/hosts/hosts.bash"
trap 'cd /; rm -rf "$scratch"' EXIT
for program in $ONLY; do
    "$MPICC" -O2 -o ours."$program" "$source_dir/$program.c" -lm || exit 1
    [ "$THEIRS" = none ] || "mpicc.$THEIRS" -O2 -o theirs."$program" "$source_dir/$program.c" -lm || exit 1
done
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\nexec taskset -c $((OMPI_COMM_WORLD_RANK %% $(getconf _NPROCESSORS_ONLN))) "$@"\n' >own_core
chmod +x own_core
hosts=
for ((host = 1; host <= HOSTS; host++)); do hosts+=${hosts:+,}n$host:$RANKS; done
[ -z "$LOCAL" ] || hosts=n1:$((HOSTS * RANKS))
options=(--host "$hosts" -np $((HOSTS * RANKS)) --map-by node --bind-to none)

# once NAME COMMAND...: adds what a program prints to NAME.all
once() {
    local name=$1 status
    shift
    timeout -k 5 "$LIMIT" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$@" >out 2>err
    status=$?
    cat out >>"$name.all"
    case $status in
        0) ;;
        124 | 137) echo "$* did not end within $LIMIT s; its last line: $(tail -n 1 out)" ;;
        *) echo "$* failed:"; cat out err; exit 1 ;;
    esac
}
tern() {
    # shellcheck disable=SC2086
    once ours "$MPIRUN" -q "${options[@]}" --mca btl "$BTL" $OURS_ARGS ./own_core ./ours."$1" -b 0.02 -n 3 -m 1048576 $PROGRAM_ARGS
}
peer() {
    [ "$THEIRS" != none ] || return
    # shellcheck disable=SC2086
    once theirs "mpirun.$THEIRS" --allow-run-as-root "${options[@]}" --mca pml ob1 --mca btl "${BTL/shm/vader}" \
        --mca btl_tcp_if_include "$([ -n "$LOCAL" ] && echo lo || echo eth0)" --mca oob_tcp_if_include eth0 $THEIR_ARGS ./own_core ./theirs."$1" \
        -b 0.02 -n 3 -m 1048576 $PROGRAM_ARGS
}
: >ours.all
: >theirs.all
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
nothing = [float("nan")]
print(f"{'':22}{'bytes':>9}{'tern':>12}{'peer':>12}  ratio  ratio of best quarters")
for key in sorted(ours, key=lambda k: (k[0], k[1])):
    theirs[key] = theirs[key] or nothing
    a, b, unit = statistics.median(ours[key]), statistics.median(theirs[key]), key[2]
    print(f"{key[0]:22}{key[1]:9}{a:12.2f}{b:12.2f}  {a / b:5.2f}  {best_quarter(ours[key], unit) / best_quarter(theirs[key], unit):5.2f} {unit}")
P
