#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives over three hosts with different numbers of ranks know which ranks share a host, and are right by what is made
# for several hosts, with ranks in blocks and dealt out.
HOSTS=3
. "$(dirname "$0")/hosts.bash"
"$MPICC" -O1 -I"$here/../mpi" -o all_forms "$here/../mpi/random_collectives_in_all_forms.c" -lm || { echo "cannot build it"; exit 1; }
printf 'n1 slots=3\nn2 slots=2\nn3 slots=1\n' >uneven
printf 'n1 slots=2\nn2 slots=2\nn3 slots=2\n' >even

# Where the network is very slow, what crosses it least is the cheapest, if the library knows where the network is.
printf 'coll_network_latency = 1000000\nend = 1\n' >slow
run --hostfile uneven --mca coll_verbose 1 --mca coll_model_file slow ./all_forms 1 100
is "by price" "$rc" 0
has 'by price' err 'among 6 ranks: hierarchical, about'

collectives="barrier bcast gather scatter allgather alltoall reduce allreduce reduce_scatter reduce_scatter_block scan exscan"
by_name=()
for collective in $collectives; do by_name+=(--mca "coll_${collective}_algorithm" hierarchical); done
lanes=()
for collective in bcast reduce allreduce allgather; do lanes+=(--mca "coll_${collective}_algorithm" multi_leader); done
for map in slot node; do
    run --hostfile uneven --map-by $map "${by_name[@]}" ./all_forms 2 200
    is "leaders, ranks by $map" "$rc" 0
    run --hostfile even --map-by $map "${lanes[@]}" --mca coll_nics 2 ./all_forms 3 200
    is "several leaders, ranks by $map" "$rc" 0
done
finish
