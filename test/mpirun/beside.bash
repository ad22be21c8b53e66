# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2086 # CC may be several words
# Sourced behind check.bash by scripts that compare mpirun with Open MPI's on pretended machines and hosts. Sets `beside` to yes
# if an Open MPI 4.1 is installed that can be asked.
large='package:2 [numa] core:16 pu:2' # two sockets of 16 cores
numa='package:2 numa:4 core:4 pu:2'   # four memory domains in each of two sockets
small='package:2 [numa] core:2 pu:2'
me=$(hostname)

# Pretends the processors of HWLOC_SYNTHETIC to Open MPI, which refuses to map on a machine that is not this one.
cat >pretend.c <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
static unsigned char mask[512];
static int set;
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *wanted)
{
    memset(mask, 0, sizeof mask);
    memcpy(mask, wanted, size < sizeof mask ? size : sizeof mask);
    return set = 1, 0 * pid;
}
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *got)
{
    if (!set)
        memset(mask, 0xff, 8);
    memset(got, 0, size);
    memcpy(got, mask, size < sizeof mask ? size : sizeof mask);
    return 0 * pid;
}
C
cat >reach <<'S'
#!/bin/bash
# reach HOST COMMAND...: as ssh does, on this machine under another name
host=$1
shift
exec unshare -u bash -c 'hostname "$0"; exec bash -c "$1"' "$host" "$*"
S
chmod +x reach
beside=no
if mpirun.openmpi --version 2>/dev/null | grep -q ' 4\.1\.' && unshare -u true 2>/dev/null &&
    ${CC:-cc} -shared -fPIC -O1 -o pretend.so pretend.c 2>/dev/null; then
    beside=yes
fi

# Prints "HOST:CORES" of each rank in the order of ranks, from --display-map and --report-bindings. "-": not bound; t0: only the
# first hardware thread.
as_words() {
    awk -v me="$me" '
        function cores(text,  n, i, parts, core, list, first, last) {
            n = split(text, parts, /core /)
            list = ""; first = last = -1
            for (i = 2; i <= n; i++) {
                core = parts[i]; thread = ""
                if (core ~ /hwt [0-9]+\]/) { thread = core; sub(/.*hwt /, "t", thread); sub(/\].*/, "", thread) }
                sub(/\[.*/, "", core)
                if (thread != "") { list = list (list == "" ? "" : ",") core thread; continue }
                if (first >= 0 && core == last + 1) { last = core + 0; continue }
                if (first >= 0) list = list (list == "" ? "" : ",") (last > first ? first "-" last : first)
                first = last = core + 0
            }
            if (first >= 0) list = list (list == "" ? "" : ",") (last > first ? first "-" last : first)
            return list
        }
        /Data for node:/ { host = $4 == me ? "here" : $4 }
        /Process rank:/ {
            rank = $0; sub(/.*Process rank: /, "", rank); sub(/ .*/, "", rank)
            if (!(rank in at)) { at[rank] = host; ranks++ }
            if (/\[core /) bound[rank] = cores($0)
        }
        /MCW rank [0-9]+ bound/ { rank = $0; sub(/.*MCW rank /, "", rank); sub(/ .*/, "", rank); bound[rank] = cores($0) }
        END { for (r = 0; r < ranks; r++) printf "%s%s:%s", r ? " " : "", at[r], r in bound ? bound[r] : "-" }' "$@"
}

# ask_theirs MACHINE [NAME=VALUE]... -- WORD...: Open MPI's map of the command line in the file `theirs`; returns its exit status
ask_theirs() {
    local machine=$1 settings=()
    shift
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    env "${settings[@]}" HWLOC_SYNTHETIC="$machine" HWLOC_THISSYSTEM=1 LD_PRELOAD="$scratch/pretend.so" \
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent="$scratch/reach" \
        timeout -k 30 "$job_limit_s" mpirun.openmpi --display-map --report-bindings "$@" >theirs 2>&1
}
# too_slow: a daemon that this machine was too slow for is no answer
too_slow() { grep -qE 'ORTE has lost|not launched|error occurred' theirs; }
