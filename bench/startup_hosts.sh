#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Time from typing mpirun to having the prompt back on several hosts, which test/hosts makes of this machine's namespaces:
#   PREFIX=/opt/tern bench/startup_hosts.sh           as root; HOSTS (16), RANKS per host (8), ROUNDS (5), LIMIT (60 s for a run)
# Tern, and Open MPI and MPICH of Debian where there are any, in turn. A line per library: median and all runs, in ms.
: "${HOSTS:=16}" "${RANKS:=8}" "${ROUNDS:=5}" "${PREFIX:?says where Tern is installed}"
export HOSTS RANKS ROUNDS PREFIX
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export TERN_PREFIX=$PREFIX TERN_SRCDIR=$source TERN_BUILDDIR=$source MPIRUN=$PREFIX/bin/mpirun
. "$source/test/hosts/hosts.bash"

printf '#!/bin/sh\nexec ssh -F %s/ssh_config "$@"\n' "$scratch" >agent
chmod +x agent
for ((host = 1; host <= HOSTS; host++)); do
    echo "n$host slots=$RANKS" >>hosts
    echo "n$host:$RANKS" >>hosts.mpich
done
total=$((HOSTS * RANKS))
declare -A commands=(
    [tern]="$MPIRUN --mca plm_rsh_agent $scratch/agent --hostfile hosts -n $total ./tern"
    [openmpi]="mpirun.openmpi --allow-run-as-root --mca mpi_yield_when_idle 1 --mca plm_rsh_agent $scratch/agent --mca oob_tcp_if_include eth0
        --mca btl_tcp_if_include eth0 --hostfile hosts -n $total ./openmpi"
    [mpich]="env UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 mpiexec.mpich -launcher-exec $scratch/agent -iface eth0 -f hosts.mpich -n $total ./mpich"
)
declare -A compilers=([tern]=$PREFIX/bin/mpicc [openmpi]=mpicc.openmpi [mpich]=mpicc.mpich)
present=()
for library in ${LIBRARIES:-tern openmpi mpich}; do
    if ! command -v "${compilers[$library]}" >/dev/null; then
        echo "$library is left out: no ${compilers[$library]}" >&2
    elif "${compilers[$library]}" -std=gnu11 -O2 "$source/bench/hello.c" -o "$library" >&2; then
        present+=("$library")
    fi
done
# The first run of each is not counted: files are read, keys seen.
for ((round = 0; round <= ROUNDS; round++)); do
    for library in "${present[@]}"; do
        begin=${EPOCHREALTIME/[.,]/}
        # shellcheck disable=SC2086 # words
        if ! on 1 timeout -k 5 "${LIMIT:-60}" ${commands[$library]} </dev/null >out 2>&1; then
            echo "$library: failed:" >&2
            tail -n 5 out >&2
            continue
        fi
        [ "$round" = 0 ] || echo $(((${EPOCHREALTIME/[.,]/} - begin) / 1000)) >>"times.$library"
    done
done
for library in "${present[@]}"; do
    [ -s "times.$library" ] || continue
    sort -n "times.$library" | awk -v name="$library" -v hosts="$HOSTS" -v total="$total" \
        '{ t[NR] = $1; all = all " " $1 } END { print "startup", total, "ranks", hosts, "hosts", name, t[int((NR + 1) / 2)], "ms:" all }'
done
