#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Who runs where and on which cores, of command lines, variables and files as public job scripts, containers and tools write them.
# Machines and hosts are pretended. Where Open MPI 4.1 is installed, its mpirun.openmpi is asked the same (by `make check-long` for
# every line, else for every third).
. "$(dirname "$0")/check.bash"
. "$here/lines.bash"

# how many cores: PE=1 is one
maps "$large" "here:0 here:16 here:1 here:17" "${lots[@]}" -np 4 --map-by socket:pe=1
maps "$large" "here:0 here:1 here:2 here:3" "${lots[@]}" -np 4 --map-by slot:PE=1
maps "$large" "here:0 here:1 here:2 here:3" "${lots[@]}" -np 4 --map-by node:PE=1
maps "$large" "here:0 here:1 here:16 here:17" "${lots[@]}" -np 4 --map-by ppr:2:socket:pe=1
maps "$large" "here:0-1 here:16-17 here:2-3 here:18-19" "${lots[@]}" -np 4 --map-by socket:PE=2
maps "$large" "here:0-1 here:16-17 here:2-3 here:18-19" "${lots[@]}" -np 4 --cpus-per-proc 2
maps "$large" "here:0-3 here:16-19" "${lots[@]}" -np 2 --cpus-per-rank 4
maps "$numa" "here:0-2 here:4-6 here:8-10 here:12-14 here:16-18 here:20-22" "${lots[@]}" -np 6 --cpus-per-proc 3
maps "$large" "here:0-3 here:16-19 here:4-7 here:20-23" "${lots[@]}" -np 4 --npersocket 2 --map-by socket:PE=4

# several that say how many ranks each object gets: the same counts wherever it stands
maps "$small" "here:0" "${lots[@]}" -npernode 1 -npersocket 2
maps "$small" "here:0" "${lots[@]}" -npersocket 2 -npernode 1
maps "$small" "here:0 here:2" "${lots[@]}" --ppr 2:socket -npersocket 1
maps "$small" "here:0 here:2" "${lots[@]}" -npersocket 1 --ppr 2:socket
maps "$small" "here:0" "${lots[@]}" -npersocket 2 --map-by ppr:1:node
maps "$small" "here:0-1 here:0-1 here:2-3 here:2-3" "${lots[@]}" --map-by ppr:2:socket -npernode 1
maps "$small" "here:0-1 here:0-1 here:2-3 here:2-3" OMPI_MCA_rmaps_base_n_pernode=1 "${lots[@]}" -npersocket 2
printf 'rank 0=localhost slot=0:1\nrank 1=localhost slot=1:0\n' >ranks
for bind in none core socket; do # Open MPI binds so, too
    HWLOC_SYNTHETIC=$small run -q --dry-run --host localhost:4 -rf ranks --bind-to $bind true
    is "-rf and --bind-to $bind" "$rc $(as_words out) $(cat err)" "0 here:1 here:2 "
done

# by default, on memory domains
maps "$numa" "here:0-3 here:4-7 here:8-11 here:12-15" "${lots[@]}" -np 4
maps "$numa" "here:0 here:1" "${lots[@]}" -np 2
maps "$numa" "here:0 here:4 here:8 here:12" "${lots[@]}" -np 4 --bind-to core
maps "$numa" "here:0-15 here:0-15 here:0-15" "${lots[@]}" -np 3 --bind-to socket
maps "$numa" "here:0-3 here:4-7 here:8-11" "${lots[@]}" -np 3 --map-by node
maps "$numa" "here:0-3 here:4-7 here:16-19 here:20-23" "${lots[@]}" --map-by ppr:2:socket
maps "$numa" "here:0 here:16" "${lots[@]}" --npersocket 1
maps "$large" "here:0-15 here:16-31 here:0-15" "${lots[@]}" -np 3

# numbers
maps "$large" "far1:0-15 far1:0-15 far1:0-15 far1:16-31 far1:16-31 far1:16-31" --hostfile eight -np 6 --map-by socket --rank-by core
maps "$large" "far1:0-15 far1:16-31 far1:0-15 far2:0-15 far2:16-31 far2:0-15" --hostfile eight -np 6 --map-by node --rank-by slot
maps "$small" "far1:0 far1:1 far2:0 far2:1" --hostfile two -np 4 --map-by core --rank-by socket
maps "$small" "far1:0 far2:0 far1:1 far2:1" --hostfile two -np 4 --map-by core --rank-by node
maps "$large" "far1:0-15 far1:16-31 far1:0-15 far1:16-31 far2:0-15 far2:16-31 far2:0-15 far2:16-31" \
    --hostfile eight -np 8 --map-by ppr:2:socket --rank-by socket
maps "$large" "far1:0-15 far1:16-31 far2:0-15 far2:16-31 far1:0-15 far1:16-31 far2:0-15 far2:16-31" \
    --hostfile eight -np 8 --map-by ppr:2:socket --rank-by socket:span
maps "$large" "far1:0-15 far1:0-15 far1:16-31 far1:16-31 far2:0-15 far2:0-15 far2:16-31 far2:16-31" \
    --hostfile eight -np 8 --map-by ppr:2:socket --rank-by socket:fill
maps "$small" "far1:0-1 far1:2-3 far1:0-1 far1:2-3 far2:0-1 far2:2-3" --hostfile eight -np 6 --map-by socket:span --rank-by slot
# Open MPI 5's, over the objects that ranks are mapped to
ours "$large" "far1:0-15 far1:0-15 far1:16-31 far1:16-31 far2:0-15 far2:0-15 far2:16-31 far2:16-31" --hostfile eight -np 8 --map-by ppr:2:socket --rank-by fill
ours "$large" "far1:0-15 far1:16-31 far2:0-15 far2:16-31 far1:0-15 far1:16-31 far2:0-15 far2:16-31" --hostfile eight -np 8 --map-by ppr:2:socket --rank-by span
ours "$small" "far1:0-1 far2:0-1 far1:2-3 far2:2-3" --hostfile two -np 4 --map-by slot --rank-by span
maps "$large" "far1:0-15 far1:16-31 far1:0-15" --hostfile eight -np 3 --map-by slot:SPAN
maps "$large" "here:0t0 here:0t1" "${lots[@]}" -np 2 --cpu-list 2,0 --bind-to cpulist:ordered

# hosts of single programs; each program begins at the first host
maps "$large" "far1:0-15 far2:0-15 far2:16-31 far2:0-15" -np 1 --host far1:4 true : -np 3 --host far2:4
maps "$large" "far2:0-15 far1:0-15 far1:16-31" -np 1 --host far2:2 true : -np 2 --host far1:2
maps "$large" "far1:0-15 far1:16-31 far2:0-15 far2:16-31" --hostfile two -np 2 true : --hostfile two -np 2
maps "$large" "far1:0-15 far1:16-31 far2:0-15 far1:0-15" -np 1 --host far1:4 --map-by node true : -np 3 --host far1:4,far2:4
maps "$large" "far1:0-15 far1:16-31 far2:0-15 far1:0-15" --hostfile eight -np 1 --map-by node true : -np 3
ours "$large" "far2:0-15 far1:0-15 far1:16-31 far1:0-15" --hostfile eight -np 1 --host far2 true : -np 3
ours "$large" "far1:0-15 far1:16-31 far2:0-15 far3:0-15" -np 2 --host far1:4 true : -np 1 --host far2 true : -np 1 --host far3
maps "$large" "far2:0-15 far2:16-31 far2:0-15" -np 2 --host far2:3 true : -np 1
ours "$large" "far1:0-15 far2:0-15 far2:16-31" -N 1 --host far1:4,far2:4 true : -N 1 --host far2:4
ours "$large" "far1:- far1:- far2:- far2:- far2:-" --host far1:4 -np 2 true : --host far2:1 -np 3 --oversubscribe
printf -- '-np 1 --host far1:4 true\n-np 2 --host far2:4 true\n' >on_hosts
run -q --dry-run --app on_hosts
is "--app with hosts" "$rc $(sed -nE 's/.*Data for node: (far.).*Num procs: (.*)/\1 \2/p' out | tr '\n' ' ')" "0 far1 1 far2 2 "
run -q --dry-run --host far1:4 -np 2 true : --host far1:4,far2:2 -np 7 true
is "more ranks than slots for a program" "$rc $(cat err)" "1 mpirun: program 2 has 7 ranks, but the hosts that it may use have \
6 free slots for it, and --oversubscribe was not given"

maps "$large" "here:0-2 here:3-5" "${lots[@]}" -np 2 --cpus-per-proc 2 --map-by slot:PE=3
maps "$large" "here:0-1 here:2-3" "${lots[@]}" -np 2 --map-by slot:PE=2 --cpus-per-proc 3
maps "$large" "far1:0 far1:1" --max-vm-size 1 --host far1:2,far2:2
maps "$large" "far1:0 far1:1" --mca orte_max_vm_size 1 --host far1:2,far2:2
maps "$large" "here:- here:-" "${lots[@]}" -np 2 --bind-to cpu-list

# a limit alone is the number of slots
printf 'far1 slots=2\nfar2 max-slots=3\n' >most
maps "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3 far2:0-1" --hostfile most
printf 'far1 max-slots=6\n' >most
maps "$small" "far1:- far1:- far1:- far1:- far1:- far1:-" --hostfile most

# in the order of hosts: not bound
maps "$large" "far1:- far2:- far1:-" --map-by seq --host far1,far2,far1
ours "$large" "far1:0 far2:0 far1:1" --map-by seq --host far1,far2,far1 --bind-to core

# more ranks than slots: shared out, not bound
maps "$small" "far1:- far1:- far1:- far2:- far2:- far2:-" --hostfile two -np 6 --oversubscribe
maps "$small" "far1:- far1:- far1:- far1:- far2:- far2:- far2:- far2:- far2:-" --hostfile uneven -np 9 --oversubscribe
maps "$small" "far1:- far1:- far1:- far2:- far2:- far2:- far2:- far2:-" --hostfile uneven -np 8 --map-by core:oversubscribe
maps "$small" "here:- here:- here:-" --host localhost:2 -np 3 --oversubscribe --map-by core
maps "$small" "far1:- far1:- far1:- far1:- far1:- far1:- far1:- far1:- far2:0-1 far2:2-3" --hostfile eight -np 10
ours "$small" "far1:- far1:- far1:- far2:- far2:- far2:- far2:- far2:-" --hostfile limited -np 8 --oversubscribe

# more ranks than slots: PE=N binds all the same, and one crowded host leaves all unbound
maps "$numa" "far1:0-1 far1:2-3 far1:4-5 far1:6-7" --host far1:2 -np 4 --map-by node:PE=2 --oversubscribe
maps "$numa" "far1:0-1 far1:4-5 far1:8-9 far1:12-13" --host far1:2 -np 4 --cpus-per-proc 2 --oversubscribe
maps "$small" "here:0-1 here:2-3 here:0-1 here:2-3" --host localhost:4 -np 4 --cpus-per-proc 2 --oversubscribe
maps "$small" "here:0 here:2 here:1 here:3 here:0 here:2" --host localhost:8 -np 6 --map-by socket:PE=1 --oversubscribe
maps "$numa" "far1:- far1:- far2:- far2:-" --host far1:1,far2:8 -N 2 --oversubscribe
maps "$numa" "far1:- far1:- far1:- far1:- far2:- far2:- far2:- far2:-" --hostfile uneven --npersocket 2 --oversubscribe
maps "$numa" "here:- here:- here:- here:- here:-" "${lots[@]}" -np 5 --map-by ppr:5:core
maps "$small" "here:0-1 here:2-3 here:0-1 here:2-3 here:0-1" --host localhost:16 -np 5 --oversubscribe
maps "$small" "here:- here:- here:- here:- here:-" --host localhost:16 -np 5 --map-by socket:OVERSUBSCRIBE
maps "$small" "here:0-1 here:0-1 here:0-1 here:2-3 here:2-3 here:2-3" --host localhost:16 --map-by ppr:3:socket --oversubscribe
maps "$small" "here:- here:- here:- here:- here:-" -np 5 --oversubscribe
maps "$numa" "here:0-3 here:0-3 here:0-3 here:0-3" "${lots[@]}" -np 4 --map-by ppr:2:core

# binding to hardware threads makes them the processors that are counted
maps "$small" "here:0t0 here:0t1" "${lots[@]}" -np 2 --bind-to hwthread
maps "$small" "here:0t0 here:0t1" "${lots[@]}" -np 2 --bind-to hwthread --rank-by node --oversubscribe
maps "$small" "here:0t0 here:2t0 here:0t1 here:2t1 here:1t0 here:3t0 here:1t1 here:3t1" --bind-to hwthread
maps "$small" "here:0 here:2 here:1" --host localhost:8 --map-by socket:PE=2 --bind-to hwthread -np 3

# a modifier alone: sockets
maps "$numa" "far1:0-1 far1:16-17 far1:2-3" --host far1:8 -np 3 --map-by :PE=2
maps "$numa" "far1:0 far1:16" --host far1:8 -np 2 --map-by :OVERSUBSCRIBE
maps "$numa" "far1:0-3 far1:16-19 far1:4-7" --host far1:8 -np 3 --map-by :OVERSUBSCRIBE
maps "$numa" "far1:0-15 far1:16-31" --host far1:4,far2:4 -np 2 --map-by :SPAN
maps "$numa" "far1:0 far1:1" OMPI_MCA_rmaps_base_mapping_policy=:OVERSUBSCRIBE --host far1:8 -np 2

# -N beside --map-by fills host after host, and says where Open MPI forgets it
maps "$large" "far1:0-15 far2:0-15 far1:16-31 far2:16-31" --host far1:8,far2:8,far3:8 -np 4 -N 2 --map-by node
maps "$large" "far1:0-15 far2:0-15 far1:16-31 far1:0-15" --host far1:8,far2:8,far3:8 -np 4 --map-by node -N 3
maps "$large" "far1:0-15 far1:16-31 far2:0-15 far2:16-31" --hostfile eight -np 4 -N 2 --byslot
HWLOC_SYNTHETIC=$large run --dry-run --host localhost:8 -N 2 --map-by core true
is "-N and --map-by without -np" "$rc $(as_words out) $(cat err)" "0 here:0 here:1 mpirun: warning: -N 2 holds beside --map-by, too: the job \
has 2 ranks. Open MPI 4.1 forgets it and starts 8, one for each slot; with -np 2 both start as many"
HWLOC_SYNTHETIC=$large run --dry-run --host localhost:8 -N 2 --bycore -np 2 true
is "-N and --bycore" "$rc $(as_words out) $(cat err)" "0 here:0 here:1 mpirun: warning: --bycore has no effect beside -N 2"
HWLOC_SYNTHETIC=$small run --dry-run --hostfile uneven -np 6 --map-by core:SPAN true
is "SPAN and slots" "$rc $(as_words out) $(grep warning err)" "0 far1:0 far1:1 far2:0 far2:1 far2:2 far2:3 mpirun: warning: by SPAN host \
far1 would get 4 ranks, but it has 2 slots and gets no more; Open MPI 4.1 does not heed slots there"
HWLOC_SYNTHETIC=$small run --dry-run --host localhost:2 --map-by ppr:2:core --oversubscribe true
is "ppr and slots" "$rc $(cat err)" "0 mpirun: warning: --map-by ppr:2:core makes 8 ranks of program 1; Open MPI 4.1 \
starts no more than there are slots (2)"
HWLOC_SYNTHETIC=$small run --dry-run --host localhost:2 -np 2 --map-by ppr:1:core:PE=2 true
is "ppr and PE" "$rc $(as_words out) $(cat err)" "0 here:0-1 here:2-3 mpirun: warning: --map-by ppr:1:core with PE=2 gives each rank 2 \
processors; Open MPI 4.1 binds it to one core"
maps "$large" "here:- here:- here:- here:- here:-" --host localhost -np 5 --oversubscribe --map-by core
maps "$large" "far1:0-15 far2:0-15 far1:16-31 far2:16-31" --hostfile eight -np 4 --map-by node --rank-by node:FILL
maps "$small" "far1:0-1 far1:2-3 far1:0-1 far1:0-1 far1:2-3" --host far1:8 -np 3 --map-by :PE=2 --rank-by numa --oversubscribe true : -np 2

# ppr with several programs: a later one starts at the first host with a free slot, and goes on around the hosts
maps "$small" "far1:- far1:- far1:- far2:- far2:- far2:-" --host far1:1,far2:2 --oversubscribe -N 3 -np 4 true : -np 2
maps "$small" "far1:- far1:- far1:- far2:- far1:- far2:- far2:- far2:-" --host far1:1,far2:2 --oversubscribe -N 3 -np 4 true : -np 4
maps "$small" "far1:- far1:- far1:- far2:- far2:- far3:- far3:- far3:-" --host far1:2,far2:2,far3:2 --oversubscribe -N 3 -np 4 \
    true : -np 1 true : -np 1 true : -np 1 true : -np 1
maps "$small" "far1:0-1 far1:0-1 far1:2-3 far2:0-1 far2:0-1 far2:2-3" --host far1:3,far2:4 --npersocket 2 -np 3 true : -np 3

# ranks that may share processors stay at the object that ppr gives them
maps "$large" "here:0 here:0 here:1 here:1 here:0 here:0 here:1" --map-by ppr:1:hwthread --bind-to core --oversubscribe -np 4 true : -np 3
maps "$large" "here:0t0 here:0t1 here:0t0 here:1t0 here:1t1 here:0t1" --map-by ppr:3:core --bind-to hwthread --oversubscribe -np 5 \
    true : -np 1
maps "$large" "here:0 here:0 here:1" --map-by ppr:1:hwthread --bind-to core:overload-allowed -np 3
maps "$small" "here:0-1 here:0-1 here:2-3 here:0-1" --host localhost:8 --map-by ppr:2:numa:PE=2 --oversubscribe -np 3 true : -np 1

# ppr on the objects to which ranks are bound: those beyond its processors take the next one
maps "$small" "here:0-1 here:0-1 here:2-3" --host localhost:8 --map-by ppr:4:numa -np 3
maps "$small" "here:0-1 here:0-1 here:2-3" --host localhost:8 --map-by ppr:4:socket --bind-to socket -np 3
maps "$large" "here:0 here:1" --host localhost:4 --map-by :PE=1 -np 1 true : -np 1

# more ranks than slots: each program shares out from the host where it starts
maps "$large" "far1:- far1:- far1:- far2:- far2:- far2:-" --hostfile two --map-by slot --oversubscribe -np 2 true : -np 4
maps "$large" "far1:- far1:- far2:- far2:- far3:- far3:- far1:- far3:- far2:-" --host far1:2,far2:2,far3:2 --map-by slot \
    --oversubscribe -np 6 true : -np 1 true : -np 1 true : -np 1

# overload-allowed binds ranks that share processors
maps "$small" "here:0-1 here:2-3 here:0-1 here:2-3 here:0-1" --host localhost:8 --bind-to :overload-allowed -np 5
maps "$small" "here:0 here:1 here:2 here:3 here:0" --host localhost:8 --bind-to :overload-allowed --map-by core -np 5

# --cpu-set numbers host after host
HWLOC_SYNTHETIC=$large run --dry-run --host far1:4,far2:4 --cpu-list 0-3 --rank-by node -np 5 true
is "--cpu-list and --rank-by" "$rc $(as_words out) $(grep warning err)" "0 far1:- far1:- far1:- far1:- far2:- mpirun: warning: \
--rank-by node has no effect beside --cpu-set, as in Open MPI 4.1: ranks are numbered host after host"

# --cpu-set alone does not part its processors
maps "$large" "here:- here:-" "${lots[@]}" -np 2 --cpu-set 0-3
HWLOC_SYNTHETIC=$large run --dry-run "${lots[@]}" -np 2 --cpu-set 0-3 --bind-to core true
is "--cpu-set and --bind-to" "$rc $(as_words out) $(grep warning err)" "0 here:0 here:1 mpirun: warning: --bind-to core holds within the \
list of --cpu-set, too; Open MPI 4.1 lets each rank run on the whole list"

# several programs: each takes the hosts with free slots, and begins where the one before has ended
maps "$large" "far1:0 far1:16 far2:0 far2:16 far2:1" --hostfile two -np 2 --map-by socket --bind-to core --oversubscribe true : -np 3
maps "$large" "far1:0 far1:1 far1:2 far1:3 far1:4 far1:5" --host far1:5 -np 5 --map-by socket --bind-to core --oversubscribe true : -np 1
maps "$large" "far1:0 far1:16 far1:1 far1:17 far1:2 far1:3 far1:18 far1:19" --host far1:8 -np 5 --map-by socket --bind-to core true : -np 3
maps "$large" "far1:0 far1:16 far1:1 far1:17 far1:2 far1:18 far1:3 far1:19" --host far1:8 -np 5 --bind-to core true : -np 3
maps "$large" "far1:- far1:- far2:- far2:- far1:-" --hostfile two -np 4 --oversubscribe true : -np 1
maps "$large" "far1:0-15 far1:16-31 far2:0-15 far2:0-15 far2:16-31" --hostfile eight -np 3 --map-by socket:SPAN true : -np 2

# parameters: of mpi-operator, in other releases' words, in files
maps "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3" OMPI_MCA_orte_default_hostfile=two OMPI_MCA_orte_keep_fqdn_hostnames=true
ours "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3" PRTE_MCA_prte_default_hostfile=two
ours "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3" PMIX_MCA_prte_default_hostfile=two
maps "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3" --mca orte_default_hostfile two
maps "$small" "far1:0 far1:1" --mca orte_default_hostfile uneven --hostfile two -np 2
ours "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3" --host 'far1:*,far2:*' --mca orte_set_default_slots 2
ours "$small" "far1:0 far1:1" --host 'far1:*' --mca orte_set_default_slots sockets
mkdir -p installed/etc
cp two installed/etc/openmpi-default-hostfile
ours "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3" OPAL_PREFIX="$PWD/installed"
echo "other slots=1" >other
ours "$small" "other:0" OPAL_PREFIX="$PWD/installed" --hostfile other
echo '# no host' >installed/etc/openmpi-default-hostfile
ours "$small" "here:0 here:1" OPAL_PREFIX="$PWD/installed" -np 2
ours "$small" "far1:0 far2:0" OMPI_MCA_orte_default_dash_host=other --host far1,far2
ours "$small" "other:0" OMPI_MCA_orte_default_dash_host=other
maps "$large" "here:0 here:16" "${lots[@]}" --mca rmaps_base_n_persocket 1
maps "$large" "here:0 here:1" "${lots[@]}" --mca rmaps_ppr_n_pernode 2
maps "$large" "here:0" "${lots[@]}" --mca rmaps_base_pernode 1
maps "$large" "here:0-2 here:16-18 here:3-5" "${lots[@]}" -np 3 --mca rmaps_base_cpus_per_rank 3
maps "$large" "here:0 here:1 here:2" OMPI_MCA_rmaps_base_mapping_policy=core "${lots[@]}" -np 3
ours "$large" "here:0 here:1 here:2" PRTE_MCA_rmaps_default_mapping_policy=core "${lots[@]}" -np 3
mkdir -p .openmpi
echo 'rmaps_base_mapping_policy = socket
hwloc_base_binding_policy = core' >.openmpi/mca-params.conf
maps "$large" "here:0 here:16 here:1" "${lots[@]}" -np 3
maps "$large" "here:0 here:1 here:2" "${lots[@]}" -np 3 --map-by core
maps "$large" "here:0 here:16 here:1" OMPI_MCA_hwloc_base_binding_policy=core "${lots[@]}" -np 3
rm .openmpi/mca-params.conf
echo '--mca rmaps_base_mapping_policy core   # for all' >tuned
maps "$large" "here:0 here:1 here:2" --tune tuned "${lots[@]}" -np 3
ours "$large" "here:0-15 here:16-31 here:0-15" "${lots[@]}" -np 3 --map-by socket --tune tuned
echo 'rmaps_base_mapping_policy = core' >settings
ours "$large" "here:0 here:1 here:2" --am "$PWD/settings" "${lots[@]}" -np 3

# small words
ours "$small" "here:0-1 here:2-3" "${lots[@]}" -np 2 --map-by socket:
maps "$small" "here:0 here:2 here:1" "${lots[@]}" -np 3 --bind-to core:
maps "$small" "here:0-1 here:2-3 here:0-1" --host localhost:3 -np 0
maps "$large" "far1:0 far1:1 far2:0 far2:1" --hostfile eight -np 4 --npersocket 1 --map-by core
maps "$large" "here:0 here:1 here:2" "${lots[@]}" -np 3 --npersocket 1 --map-by core
maps "$large" "here:0-3 here:16-19 here:4-7" "${lots[@]}" -np 3 --npersocket 1 --map-by NUMA:PE=4
maps "$large" "far1:0-15 far2:0-15 far1:16-31 far2:16-31" --hostfile eight -np 4 --npersocket 1 --bynode
ours "$large" "here:0t0 here:0t1 here:1t0 here:1t1" "${lots[@]}" -np 4 --cpu-list 4,5,6,7 --bind-to cpu-list:ordered
ours "$large" "here:0 here:1" "${lots[@]}" -np 2 --map-by pe-list=4,5:ordered

slurm=(SLURM_JOB_ID=1 SLURM_JOB_NODELIST=far1,far2 SLURM_TASKS_PER_NODE='2(x2)')
# without -np, by core; a name in --host is one slot, and the job's slots are a limit
ours "$small" "far1:0 far1:1 far2:0 far2:1" "${slurm[@]}"
ours "$small" "far1:0 far2:0" "${slurm[@]}" --host far1,far2
ours "$small" "far2:0" "${slurm[@]}" --host far2
ours "$small" "far1:0 far1:1" "${slurm[@]}" --host far1:9
ours "$small" "far2:0 far2:1" "${slurm[@]}" --host +n1
ours "$small" "here:0 here:1" "${slurm[@]}" -np 2 --mca ras ^slurm
ours "$small" "here:0 here:1" "${slurm[@]}" OMPI_MCA_ras=simulator -np 2
ours "$small" "far1:0 far1:1" "${slurm[@]}" -np 2 --mca ras slurm,tm
ours "$small" "other:0" "${slurm[@]}" --mca ras ^slurm --host other

[ $lines -ge 60 ] || complain "$lines command lines, expected 60 at least"
finish
