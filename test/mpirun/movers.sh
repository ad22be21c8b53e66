#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of a job whose lists in the parameter `btl` differ: all use what is in every list, and nobody waits for a message that
# comes by another way.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
"$MPICC" -O1 -I"$here/../mpi" -o pairs "$here/../mpi/send_recv_all_pairs.c" || { echo "cannot build pairs"; exit 1; }

# agree NAME WORD...: runs with them, and all programs use tcp
agree() {
    local name=$1
    shift
    run "$@"
    is "$name" "$rc $(grep -c 'warning: the parameter btl is .* all programs use .self,tcp., which all their lists permit' err)" "0 1"
    is "$name: lines" "$(wc -l <err)" 1
}
agree "two lists" --oversubscribe -n 1 --mca btl shm,tcp,self ./pairs : -n 1 --mca btl tcp,self ./pairs
agree "a list for one program" --oversubscribe -n 1 --mca btl tcp,self ./pairs : -n 2 ./pairs
OMPI_MCA_btl=tcp,self agree "a list in the environment" --oversubscribe -n 2 ./pairs : -n 1 --mca btl self,tcp,vader ./pairs
run -q --oversubscribe -n 1 --mca btl tcp,self ./pairs : -n 2 ./pairs
is "quiet" "$rc $(cat err)" "0 "
for same in "shm,self vader,self" "^openib ^usnic"; do
    read -r first second <<<"$same"
    run --oversubscribe -n 1 --mca btl "$first" ./pairs : -n 1 --mca btl "$second" ./pairs
    is "$first and $second" "$rc $(cat err)" "0 "
done
run --oversubscribe -n 1 --mca btl shm,self ./pairs : -n 1 --mca btl tcp,self ./pairs
is "nothing in common" "$rc" 1
run --oversubscribe -n 1 --mca btl self ./pairs : -n 1 --mca btl tcp,self ./pairs
is "self only" "$rc" 1
has "self only" err 'the programs cannot reach each other: the parameter btl is .self. for ./pairs'
run -q --oversubscribe -n 1 --mca btl openib,self ./pairs : -n 1 --mca btl tcp,self ./pairs
is "a list for other networks" "$rc" 0
run --oversubscribe -n 1 --mca btl shm,self ./pairs : -n 1 --mca btl tcp,self ./pairs
has "nothing in common" err 'the programs cannot reach each other: the parameter btl is .shm,self. for ./pairs and .tcp,self. for ./pairs, .* --gmca btl LIST'
finish
