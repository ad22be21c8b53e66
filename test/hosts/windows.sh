#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Windows over two hosts with two ranks each: ranks of a host map or pull the memory that ranks of the other host ask for, and
# all of it agrees: operations, locks, counters that near and far ranks change at a time. A target that computes answers. On two
# hosts MPI_Win_allocate_shared says what to do.
HOSTS=2
. "$(dirname "$0")/hosts.bash"
for program in win_random win_counter win_lock_turns win_lock_turns_pulled win_objects win_passive_target win_misuse; do
    "$MPICC" -O1 -D_GNU_SOURCE -I"$here/../mpi" -o $program "$here/../mpi/$program.c" || { echo "cannot build $program"; exit 1; }
done
printf 'n1 slots=2\nn2 slots=2\n' >hosts
for map in slot node; do
    run --hostfile hosts --map-by $map ./win_random 100
    is "random operations, by $map" "$rc" 0
    run --hostfile hosts --map-by $map ./win_counter 200
    is "a counter, by $map" "$rc" 0
    run --hostfile hosts --map-by $map ./win_lock_turns 100
    is "a lock, by $map" "$rc" 0
done
run --hostfile hosts ./win_lock_turns_pulled 100
is "a lock of the program's memory" "$rc" 0
run --hostfile hosts ./win_passive_target
is "a target that computes" "$rc" 0
run --hostfile hosts ./win_misuse
is "misuse" "$rc" 0
# requests by libfabric, over a provider that works on any network
ofi=(--hostfile hosts --mca btl "ofi,shm,self" --mca btl_ofi_provider net --mca btl_ofi_device eth0)
programs=("win_random 40" "win_counter 100" "win_lock_turns 50" win_passive_target)
[ "$TERN_HAVE_LIBFABRIC" != no ] || programs=()
for program in "${programs[@]}"; do
    # shellcheck disable=SC2086 # a program and its argument
    run "${ofi[@]}" ./$program
    is "libfabric: $program" "$rc" 0
done
run --hostfile hosts ./win_objects 10
has "shared memory over two hosts" err 'MPI_Win_allocate_shared: not all ranks of comm share memory; .*MPI_Comm_split_type'
finish
