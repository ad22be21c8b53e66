#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under a real Slurm on four hosts: srun --mpi=pmix is a launcher of our ranks, and srun without it is warned of.
HOSTS=4
. "$(dirname "$0")/slurm.bash"
for program in "$here/../../examples/"{hello,ring}.c "$here/../mpi/"{random_traffic,comm_split_type_shared,win_random,win_random_sizes}.c "$TERN_SRCDIR/test/mpirun/spawning.c"; do
    "$MPICC" -O1 -I"$here/../mpi" -o "$(basename "$program" .c)" "$program" -lm || { echo "cannot build $program"; exit 1; }
done

submit -Q --mpi=pmix -N 4 --ntasks-per-node=2 ./hello
is "hello" "$rc $(sort out | cut -d, -f1 | tr '\n' ',')" "0 $(for rank in 0 1 2 3 4 5 6 7; do printf 'Hello from rank %d of 8 on n%d,' $rank $((rank / 2 + 1)); done)"
is "and not a word" "$(cat err)" ""
submit --mpi=pmix -n 8 ./ring
is "ring" "$rc $(cat out)" "0 The token passed 8 ranks and returned with 28"
submit --mpi=list
plugin=$(cat out err | grep -oE 'pmix_v[0-9]+' | head -n 1) # the version that this Slurm was built with
submit --mpi="${plugin:-pmix_v}" -n 8 -N 4 -m cyclic ./ring
is "ring that leaves the host at every step" "$rc $(cat out)" "0 The token passed 8 ranks and returned with 28"
for program in random_traffic comm_split_type_shared; do
    submit --mpi=pmix -n 8 -N 4 -m cyclic ./$program
    is "$program" "$rc" 0
done
OMPI_MCA_btl=tcp,self submit --mpi=pmix -n 6 -N 3 ./random_traffic
is "random_traffic by TCP alone" "$rc" 0
# the node's memory is a file of rank 0's, not of the launcher's
submit --mpi=pmix -n 4 -N 1 ./win_random_sizes 60 1
is "windows and blocks of 4 KiB to 2 GiB" "$rc" 0
submit --mpi=pmix -n 4 -N 2 ./win_random 60
is "windows within hosts and between them" "$rc" 0
submit --mpi=pmix -n 2 -N 2 ./spawning start 2 quiet
is "srun cannot start further processes" "$rc $(grep -c '^class MPI_ERR_SPAWN$' out) $(grep -c '^codes spawn spawn$' out)" "0 2 1"
submit --mpi=pmix -n 1 ./spawning foreign ./hello
is "and it is said what can" "$rc $(grep -c 'start the job by Tern.s mpirun, which also runs in the allocations' err)" "50 1"
# two jobs of srun meet by a port
mkdir first
(cd first && submit --mpi=pmix -n 2 -N 1 ../spawning accept ../port && [ "$rc" = 0 ]) & first=$!
submit --mpi=pmix -n 3 -N 3 ./spawning connect port
wait $first || complain "the job that accepts: $(cat first/err)"
is "ports between two jobs of srun" "$rc $(cat out first/out | grep -cE '^(accept [01] of 2: 3 there|connect [0-2] of 3: 2 there), .*, right, on n')" "0 5"

bare='^tern: srun has started 4 tasks, and each is an MPI job of one rank.* srun --mpi=pmix'
submit -Q -n 4 -N 2 ./hello
is "without PMIx" "$rc $(grep -c 'rank 0 of 1' out)" "0 4"
is "without PMIx there is one warning" "$(grep -cE "$bare" err) $(wc -l <err)" "1 1"
submit -Q -n 1 ./hello
is "one task" "$rc $(cut -d' ' -f1-6 out) $(cat err)" "0 Hello from rank 0 of 1 "
finish
