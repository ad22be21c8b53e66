#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Random messages and collectives for a long time, over shared memory, over TCP, and by threads over either. Each program
# draws them from a seed and checks every byte that arrives. SOAK_SECONDS says how long in all; 1800.
. "$(dirname "$0")/../mpirun/check.bash"
: "${MPICC:?names the mpicc to test}"
RANDOM=${SOAK_SEED:=$(date +%N | sed 's/^0*//;s/...$//')}
echo "SOAK_SEED=$SOAK_SEED"
programs=(random_traffic random_posted random_collectives random_collectives_in_all_forms thread_everything)
for program in "${programs[@]}"; do
    "$MPICC" -O1 -o "$program" "$here/../mpi/$program.c" -lpthread -lm || { echo "cannot build $program"; exit 1; }
done

jobs=0
end=$((SECONDS + ${SOAK_SECONDS:-1800}))
while [ $SECONDS -lt $end ] && [ $wrong -lt 10 ]; do
    program=${programs[RANDOM % ${#programs[@]}]} btl=$((RANDOM % 2)) ranks=$((2 + RANDOM % 4)) seed=$RANDOM
    case $program in thread_everything) argument=40 ;; *) argument=$seed ;; esac
    case $btl in 0) btl=shm,self ;; 1) btl=tcp,self ;; esac
    timeout -k 5 300 "$MPIRUN" -q -n $ranks --mca btl $btl "./$program" "$argument" >out 2>err
    is "-n $ranks --mca btl $btl $program $argument" $? 0
    jobs=$((jobs + 1))
done
echo "$jobs jobs"
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
