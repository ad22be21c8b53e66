#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files that ranks of two hosts share: random accesses, the common pointer, atomic mode, errors. A full file system is
# MPI_ERR_NO_SPACE on every rank in the same call. After kill -9 of a rank that writes the job ends, and nothing lies beside the file.
HOSTS=2
. "$(dirname "$0")/hosts.bash"
for program in file_random file_shared file_errors file_objects; do
    "$MPICC" -O1 -D_GNU_SOURCE -I"$here/../mpi" -o $program "$here/../mpi/$program.c" || { echo "cannot build $program"; exit 1; }
done
"$MPICC" -O1 -o fills "$here/../hosts/fills.c" || { echo "cannot build fills"; exit 1; }
printf 'n1 slots=2\nn2 slots=2\n' >hosts
for map in slot node; do
    run --hostfile hosts --map-by $map ./file_random 60
    is "random accesses, by $map" "$rc" 0
    run --hostfile hosts --map-by $map ./file_shared 40
    is "the common pointer, by $map" "$rc" 0
done
run --hostfile hosts ./file_errors
is "errors" "$rc" 0
run --hostfile hosts ./file_objects
is "objects" "$rc" 0

mkdir -p small
on 1 mount -t tmpfs -o size=16m tmpfs "$PWD/small" || { echo "cannot mount a file system of 16 MB"; exit 1; }
run -np 4 --oversubscribe ./fills "$PWD/small/data" full
is "a full file system" "$rc" 0
is "ranks that see it in the same call" "$(grep -c 'the same error after [1-9][0-9]* calls: yes' out)" 4
on 1 umount "$PWD/small"

mkdir -p beside
timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$MPIRUN" --hostfile hosts ./fills "$PWD/beside/data" forever \
    "$mark" >out 2>err </dev/null &
job=$!
all_ready() { [ "$(grep -c ready out)" = 4 ]; }
eventually "all are ready" all_ready
on 2 kill -9 "$(on 2 pgrep -o -f '^./fills')"
wait $job
[ $? != 0 ] || complain "a rank is killed: exit status 0"
is "what lies beside the file" "$(ls -A beside)" data
finish
