#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Command lines, variables and files as public job scripts, containers and tools write them: who runs where, on which cores, with
# which environment. Machines and hosts are pretended. Where Open MPI 4.1 is installed, its mpirun.openmpi is asked the same
# (by `make check-long` for every line, else for every third).
. "$(dirname "$0")/check.bash"
. "$here/beside.bash"
export HOME=$scratch

lines=0
# maps MACHINE WANTED WORD...: the words are [NAME=VALUE]... and the command line
maps() {
    local machine=$1 wanted=$2 settings=() got
    shift 2
    while [ $# -gt 0 ] && [[ $1 =~ ^[A-Za-z_0-9]+= ]]; do
        settings+=("$1")
        shift
    done
    lines=$((lines + 1))
    env "${settings[@]}" HWLOC_SYNTHETIC="$machine" timeout -k 5 60 "$MPIRUN" -q --dry-run "$@" true >out 2>err
    rc=$?
    is "${settings[*]} mpirun $*" "$rc $(as_words out)" "0 $wanted"
    [ ! -s err ] || complain "${settings[*]} mpirun $*: says something"
    if [ $beside = no ] || [ "${only_ours:-}" ] || { [ -z "${TERN_TEST_LONG:-}" ] && [ $((lines % 3)) != 0 ]; }; then
        return
    fi
    ask_theirs "$machine" "${settings[@]}" -- "$@" true
    got=$(as_words theirs)
    too_slow || is "mpirun.openmpi $*" "$got" "$wanted"
}
# ours MACHINE WANTED WORD...: where Open MPI 4.1 refuses, crashes, or does not know the words
ours() { only_ours=yes maps "$@"; }
lots=(--host localhost:32)
printf 'far1 slots=2\nfar2 slots=2\n' >two
printf 'far1 slots=2\nfar2 slots=4\n' >uneven
printf 'far1 slots=8\nfar2 slots=8\n' >eight
printf 'far1 slots=2 max_slots=3\nfar2 slots=2 max_slots=8\n' >limited

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
is "ppr and slots" "$rc $(cat err)" "0 mpirun: warning: --map-by ppr:2:core makes 8 ranks; Open MPI 4.1 starts 2, as many as there are slots"
HWLOC_SYNTHETIC=$small run --dry-run --host localhost:2 -np 2 --map-by ppr:1:core:PE=2 true
is "ppr and PE" "$rc $(as_words out) $(cat err)" "0 here:0-1 here:2-3 mpirun: warning: --map-by ppr:1:core with PE=2 gives each rank 2 \
processors; Open MPI 4.1 binds it to one core"
maps "$large" "here:- here:- here:- here:- here:-" --host localhost -np 5 --oversubscribe --map-by core
maps "$large" "far1:0-15 far2:0-15 far1:16-31 far2:16-31" --hostfile eight -np 4 --map-by node --rank-by node:FILL
maps "$small" "far1:0-1 far1:2-3 far1:0-1 far1:0-1 far1:2-3" --host far1:8 -np 3 --map-by :PE=2 --rank-by numa --oversubscribe true : -np 2

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
maps "$large" "far1:0-15 far2:0-15 far1:16-31 far2:16-31" --hostfile eight -np 4 --npersocket 1 --bynode
ours "$large" "here:0t0 here:0t1 here:1t0 here:1t1" "${lots[@]}" -np 4 --cpu-list 4,5,6,7 --bind-to cpu-list:ordered
ours "$large" "here:0 here:1" "${lots[@]}" -np 2 --map-by pe-list=4,5:ordered

# what the ranks get: without a pretended machine
# gives WHAT WANTED WORD...: exit status, standard output and error of a job
gives() {
    local what=$1 wanted=$2 settings=()
    shift 2
    while [ $# -gt 0 ] && [[ $1 =~ ^[A-Za-z_0-9]+= ]]; do
        settings+=("$1")
        shift
    done
    lines=$((lines + 1))
    env "${settings[@]}" timeout -k 5 60 "$MPIRUN" "$@" >out 2>err
    rc=$?
    is "$what" "$rc $(cat out err)" "$wanted"
}
show='echo "$A $B"'
printf -- '-x A=1 -x B="two words"\n--mca btl_tcp_links 3 -x C=4\n' >variables
gives "-x in a tune file" "0 1 two words" -q --tune variables -np 1 sh -c "$show"
gives "the command line prevails" "0 5 two words" -q -x A=5 --tune variables -np 1 sh -c "$show"
gives "--mca in a tune file" "0 3" -q --tune variables -np 1 sh -c 'echo $OMPI_MCA_btl_tcp_links'
gives "a list of variables" "0 1 x y" -q --mca mca_base_env_list 'A=1;B=x y' -np 1 sh -c "$show"
gives "a list in the environment" "0 1 2" OMPI_MCA_mca_base_env_list='A=1;B=2' -q -np 1 sh -c "$show"
gives "another delimiter" "0 1 2;3" OMPI_MCA_mca_base_env_list_delimiter=, OMPI_MCA_mca_base_env_list='A=1,B=2;3' \
    -q -np 1 sh -c "$show"
gives "a tune file that is not there" "1 mpirun: --tune: cannot read the file nowhere: No such file or directory" --tune nowhere true
gives "a settings file that is not there" "1 mpirun: --am: cannot read the file nowhere: No such file or directory" --am nowhere true
gives "--prepend-env" "0 /x:/y c/" A=/y B=c -q --prepend-env A /x --append-env 'B[/]' '' -np 1 sh -c "$show"
gives "an absolute path to mpirun" "0 $(realpath "${MPIRUN%/bin/*}")/lib" LD_LIBRARY_PATH= -q -np 1 sh -c 'echo "${LD_LIBRARY_PATH%%:*}"'
gives "--noprefix" "0 " LD_LIBRARY_PATH= -q --noprefix -np 1 sh -c 'echo "${LD_LIBRARY_PATH%%:*}"'
gives "orte_tag_output" "0 [1,0]<stdout>:a" -q --mca orte_tag_output 1 -np 1 echo a
gives "stderr as stdout" "0 a" -q --mca iof_base_redirect_app_stderr_to_stdout 1 -np 1 sh -c 'echo a >&2'
[ ! -s err ] || complain "iof_base_redirect_app_stderr_to_stdout: nothing is redirected"
gives "--output file=" "0 a" -q --output file=log -np 1 echo a
is "--output file=: the file" "$(cat log.0.out)" a
gives "--output raw" "0 a" -q --output :raw -np 1 echo a
gives "--rtos" "0 " --rtos donotlaunch -np 1 echo a

printf '#!/bin/sh\nshift\nexec "$@"\n' >elsewhere # a wrapper in place of ssh: this machine under other names
chmod +x elsewhere

# whatever has no effect that a user would notice is said once; the rest is silent
# warns WANTED WORD...
warns() {
    local wanted=$1
    shift
    lines=$((lines + 1))
    run "$@" -np 1 true
    is "$*" "$rc $(cat err)" "0 $wanted"
}
warns "mpirun: warning: --mca orte_xterm has no effect: write mpirun -np 2 xterm -e PROGRAM" --mca orte_xterm 1
warns "mpirun: warning: --with-ft ulfm has no effect: a rank that fails ends the job" --with-ft ulfm
warns "mpirun: warning: --enable-recovery has no effect: ranks that failed are not restarted" --enable-recovery --enable-recovery
warns "mpirun: warning: there is no parameter orte_defualt_hostfile; did you mean orte_default_hostfile; mpi_info lists them" \
    --mca orte_defualt_hostfile x
warns "mpirun: warning: --mca plm_rsh_chdir has no effect: use --wdir" --mca plm_rsh_chdir /tmp
warns "" -q --with-ft ulfm
warns "mpirun: warning: --mca mpi_paffinity_alone has no effect: use --bind-to core" --mca mpi_paffinity_alone 1
warns "mpirun: warning: --mca pml_monitoring_enable has no effect: the tool interface, MPI_T, counts traffic by peer" \
    --mca pml_monitoring_enable 1
warns "mpirun: warning: --mca ompi_display_comm has no effect: --explain says what carries messages" --mca ompi_display_comm 1
warns "mpirun: warning: --mca ess_base_stream_buffering 0 has no effect: each line is passed on; use stdbuf" \
    --mca ess_base_stream_buffering 0
warns "mpirun: warning: --mca coll_base_verbose has no effect: --explain says what is decided, --debug-daemons what is started" \
    --mca coll_base_verbose 10
OMPI_MCA_rmaps_base_verbose=5 warns "mpirun: warning: OMPI_MCA_rmaps_base_verbose has no effect: --explain says what is decided, \
--debug-daemons what is started"
OMPI_MCA_rmaps_base_verbose=0 warns "" --mca coll_base_verbose none
warns "" --mca orte_enable_recovery 0 --mca plm_base_verbose 0 --mca routed_radix 8 --mca rmaps_seq_priority 1 --mca ess pmi

warns 'mpirun: warning: --mca pml: there is no "ucz"; known are ob1,ucx,cm,yalla,v,monitoring,bfo,crcpw' --mca pml ucz
warns "" --mca pml ^ucx --mca osc ^rdma,pt2pt --mca coll tuned,basic,libnbc --mca mtl ofi --mca io ompio
OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_bcast_algorithm=3 run -np 1 true
is "coll_tuned_: said once" "$rc $(grep -c 'coll_tuned_... parameters have no effect' err) $(wc -l <err)" "0 1 1"
mkdir -p .openmpi
echo 'coll_tuned_use_dynamic_rules = 1' >.openmpi/mca-params.conf
run -np 1 true
is "coll_tuned_ in a file" "$rc $(grep -c 'coll_tuned_... parameters have no effect' err) $(wc -l <err)" "0 1 1"
rm .openmpi/mca-params.conf
I_MPI_PIN=1 HYDRA_BOOTSTRAP=ssh run -np 1 true
is "variables of other launchers" "$rc [$(cat err)]" "0 []"
I_MPI_PIN=1 run -v -np 1 true
has "variables of other launchers with -v" err '^mpirun: I_MPI_PIN: variables of Intel MPI and MPICH, which mean nothing here$'
warns "mpirun: warning: --preload-binary has no effect: the program must be at the same path on all hosts" \
    --preload-binary --mca plm_rsh_agent "$PWD/elsewhere" --host far1
warns "" --preload-binary
warns "mpirun: warning: -x NOBODY*: the environment has no such variables" -x "NOBODY*"
warns "" --mca coll ^ml

# given twice, or empty, or in two ways: the last counts, and is named
warns "mpirun: warning: -np 1 replaces --n 2, given before" --n 2
warns "" -np 1
warns "mpirun: warning: -x A=2 replaces -x A=1, given before" -x A=1 -x A=2 -x B=1
warns "mpirun: warning: --mca btl self replaces --mca btl tcp,self, given before" --mca btl tcp,self --mca btl self
warns "mpirun: warning: --bynode replaces --map-by core:PE=1, given before" --map-by core:PE=1 --bynode
warns "" --map-by core --map-by :PE=1 --host localhost:1 --host localhost:1 -x A=1 -x A=1
warns "mpirun: warning: --bind-to none replaces --bind-to core, given before" --bind-to core --bind-to none
warns "mpirun: warning: --mca hwloc_base_binding_policy none replaces --bind-to core, given before" --bind-to core \
    --mca hwloc_base_binding_policy none
warns "" --mca hwloc_base_binding_policy core --bind-to core
warns "mpirun: warning: -np 1 replaces --n 21, given before" --n 21
run --map-by core -np 1 -x A=1 true : -np 2 --oversubscribe -x A=2 true
is "once for each program" "$rc $(cat err)" "0 "
warns 'mpirun: warning: --mca plm: there is no "rsch"; known are slurm,rsh,ssh,tm,lsf,alps,gridengine,isolated' --mca plm rsch
warns 'mpirun: warning: --mca rmaps: there is no "sequ"; known are round_robin,ppr,rank_file,seq,mindist,resilient,staged,'\
'load_balance,lama,topo' --mca rmaps sequ
warns "" --mca opal_cuda_support 1
HWLOC_SYNTHETIC='package:2 core:2 pu:2' warns "mpirun: --bind-to l2cache: host $(hostname) has no more than one such cache, so its \
ranks are not bound" --bind-to l2cache --dry-run
HWLOC_SYNTHETIC=$large warns "mpirun: --map-by l3cache: as far as hwloc knows, this machine has no l3cache; numa stands for it" \
    --map-by l3cache --dry-run
HWLOC_SYNTHETIC='package:2 l3:2 core:2 pu:1' warns "" --map-by l3cache --bind-to l3cache --dry-run
HWLOC_SYNTHETIC=$large run --map-by ppr:1:l2cache --dry-run true
has "ppr on caches that are not there" err '^mpirun: --map-by ppr:N:l2cache: as far as hwloc knows, .* has no l2cache; numa stands for it$'
for form in "--launch-agent" "--mca orte_launch_agent"; do
    # shellcheck disable=SC2086 # options are words
    run $form "valgrind $TERN_PREFIX/bin/mpirun" --host far1 -np 1 true
    is "$form of several words" "$rc" 1
    has "$form of several words" err '^mpirun: .*launch.agent is "valgrind .*"; expected the path of mpirun on the other hosts, '
done
run --mca plm ^rsh,slurm --host far1 -np 1 true
is "no way to other hosts" "$rc" 1
has "no way to other hosts" err 'plm is `\^rsh,slurm`, which leaves no way to start agents on other hosts; known are slurm and rsh$'
warns 'mpirun: warning: --wdir "" is empty and has no effect: ranks start in this directory' --wdir ''
warns 'mpirun: warning: --path "" is empty and has no effect: programs are looked for in PATH' --path ''
warns 'mpirun: warning: --prefix "" is empty and has no effect: the environment says where libraries are' --prefix ''
warns "mpirun: warning: --prefix /nonexist: there is no such directory; expected one with bin and lib of an installation. Ranks find \
their libraries elsewhere, or not at all" --prefix /nonexist
OPAL_PREFIX=/nonexist warns "mpirun: warning: OPAL_PREFIX is /nonexist, and there is no such directory; expected that of this \
installation, with bin/mpirun in it. Its libraries and parameter files are not found there"
OMPI_MCA_chek_level=full warns "mpirun: warning: there is no parameter chek_level, which the environment sets; did you mean \
check_level; mpi_info lists them"
PRTE_MCA_rmaps_defualt_mapping_policy=core warns "mpirun: warning: there is no parameter rmaps_defualt_mapping_policy, which the \
environment sets; did you mean rmaps_base_mapping_policy; mpi_info lists them"
OMPI_MCA_chek_level=full warns "" -q
warns "mpirun: warning: --mca mpi_show_handle_leaks has no effect: use check_level full, which names what was not freed" \
    --mca mpi_show_handle_leaks 1
run --mca btl_tcp_if_include lo,nosuch0,240.7.7.0/24 -np 1 true
is "interfaces that this host lacks" "$rc $(sed 's/ (it has [^)]*)//' err | tr '\n' ';')" "0 mpirun: warning: \
btl_tcp_if_include names nosuch0, but this host has no such interface; ranks of one host need none;mpirun: warning: \
btl_tcp_if_include names 240.7.7.0/24, but this host has no such interface; ranks of one host need none;"
warns 'mpirun: warning: --mca ras: there is no "slrum"; known are slurm,tm,lsf,gridengine,alps,loadleveler,simulator' --mca ras ^slrum
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

# a default hostfile may consist of comments, and --host may name other hosts; a last ":" is no program
echo '# none' >comments
run --default-hostfile comments -np 1 echo ran
is "a default hostfile of comments" "$rc $(cat out err)" "0 ran"
echo 'far1 slots=2' >one
ours "$small" "far2:0" --default-hostfile one --host far2
run -np 1 echo ran :
is "a last colon" "$rc $(cat out err)" "0 ran"
run --rtos bogus -np 1 true
has "--rtos bogus" err '^mpirun: --rtos: there is no word "bogus"; known are donotlaunch, abort-nonzero-status'
echo 'oob_tcp_if_exclude = lo' >excluded
run --mca mca_base_param_files "$PWD/excluded" --mca oob_tcp_if_include eth0,lo --mca plm_rsh_agent "nosuchagent : $PWD/reach" --host other -np 1 echo ran
is "the environment beats a file; the agent that is there" "$rc $(cat out)" "0 ran"

# Lines of parameter files, and names that the ranks see too, are named once for a job.
printf 'a = 1\n= 5\nbtl\norte_defualt_hostfile = x\norte_tag_output = 1\n' >params
said="mpirun: $PWD/params line 1: no parameter is called a; \`mpi_info --param all all\` lists them
mpirun: $PWD/params line 2 is ignored: expected \`name = value\`, not \"= 5\"
mpirun: $PWD/params line 3 is ignored: expected \`name = value\`, not \"btl\"
mpirun: warning: there is no parameter orte_defualt_hostfile ($PWD/params line 4); did you mean orte_default_hostfile; mpi_info lists them"
if [ -n "${MPICC:-}" ]; then
    printf '#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n' >nothing.c
    "$MPICC" -o nothing nothing.c || complain "cannot build nothing"
    run --oversubscribe --mca mca_base_param_files "$PWD/params" -np 2 ./nothing
    is "a parameter file" "$rc $(cat err)" "0 $said"
    OMPI_MCA_mca_param_files=$PWD/params OMPI_MCA_coll_tuned_use_dynamic_rules=1 run --oversubscribe -np 2 ./nothing
    is "a parameter file in the environment" "$rc $(wc -l <err)" "0 5"
    run -q --oversubscribe --mca chek_level full -np 2 ./nothing
    is "names with -q" "$rc $(cat err)" "0 "
    # what mpirun cannot see, a rank says
    run -np 2 --oversubscribe sh -c 'OMPI_MCA_chek_level=full exec ./nothing'
    is "a name of the ranks" "$rc $(wc -l <err)" "0 1"
    has "a name of the ranks" err 'there is no parameter chek_level, which the environment sets; did you mean check_level\?$'
    OMPI_MCA_chek_level=full OMPI_MCA_coll_tuned_bcast_algorithm=1 OMPI_MCA_orte_tag_output=1 ./nothing 2>err
    is "names without mpirun" "$? $(wc -l <err)" "0 2"
fi

# what starts, and what cannot
run --debug-daemons --mca plm_rsh_agent "$PWD/elsewhere" --host far1,far2 true
is "--debug-daemons" "$rc $(sort err | tr '\n' ';')" \
    "0 mpirun: host far1: answers;mpirun: host far1: started from here;mpirun: host far2: answers;mpirun: host far2: started from here;"
run --mca plm_base_verbose 5 --mca plm_rsh_agent "$PWD/elsewhere" --host far1 true
has "plm_base_verbose" err '^mpirun: host far1: answers$'
printf '#!/bin/sh\necho "$1: Permission denied (publickey,password)." >&2\nexit 255\n' >denied
printf '#!/bin/sh\necho "bash: line 1: /opt/bin/mpirun: No such file or directory" >&2\nexit 127\n' >missing
chmod +x denied missing
run --mca plm_rsh_agent "$PWD/denied" --host far1 true
has "a password is wanted" err 'far1: Permission denied .*; ssh must do without a password: ssh-copy-id puts your key there$'
run --mca plm_rsh_agent "$PWD/missing" --host far1 true
has "no mpirun there" err '; install mpirun there at the same path, or name it with --prefix or --launch-agent$'
# the first bytes of a program of a processor that does not exist
printf '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\002\0\376\377\001\0\0\0%0200d' 0 >alien
echo 'echo hello' >headless
chmod +x alien headless
run -np 1 ./alien
is "a program for another processor" "$rc" 126
has "a program for another processor" err 'Exec format error \(it was built for another kind of processor\)$'
run -np 1 ./headless
has "a script without a first line" err 'Exec format error \(a script needs a first line such as #!/bin/sh\)$'

# why a job runs as it does
echo 'pml_lanes = 4' >params
HWLOC_SYNTHETIC=$small OMPI_MCA_mca_param_files=$PWD/params OMPI_MCA_rmaps_base_mapping_policy=socket \
    run -q --dry-run --explain --mca btl_tcp_links 2 --host far1:2,far2:1 true
has "--explain: environment" out '^    OMPI_MCA_rmaps_base_mapping_policy = socket$'
has "--explain: option" out '^    btl_tcp_links +2 \(option\)$'
has "--explain: file" out "^    pml_lanes +4 \($PWD/params\)\$"
has "--explain: default" out '^    launch_timeout +10 \(default\)$'
has "--explain: map" out '^Ranks: mapped by socket \(asked for\), numbered by the map \(default\), bound to socket \(default\)$'
has "--explain: processors" out '^    rank 1 on far1: processors 4-7$'
has "--explain: this node" out '^    ranks of the same host: shm'
has "--explain: long messages" out '^        Long messages: (one copy|two copies, because)'
has "--explain: other nodes" out '^    ranks of other hosts: tcp'
run -q --dry-run --explain --oversubscribe -np 2 --mca btl_shm_single_copy never true
has "--explain: two copies" out 'Long messages: two copies, because btl_shm_single_copy is never\.$'
hasnt "--explain: one host" out 'ranks of other hosts'

# Input that no rank reads is left to the next program.
printf '%s\n' one two three >input
while read -r line; do
    "$MPIRUN" -q -np 1 true
    echo "$line"
done <input >out
is "a loop over lines" "$(tr '\n' ' ' <out)" "one two three "
# shellcheck disable=SC2002
cat input | { while read -r line; do
    "$MPIRUN" -q --oversubscribe -np 2 true
    echo "$line"
done; } >out
is "a loop over a pipe" "$(tr '\n' ' ' <out)" "one two three "

# foreign and forgotten words
# refuses WANTED WORD...
refuses() {
    local wanted=$1
    shift
    lines=$((lines + 1))
    run "$@" true
    is "$*" "$rc $(cat err)" "1 mpirun: $wanted"
}
refuses "option -ppn is a word of other launchers (MPICH, Intel MPI); here it is -N RANKS, the number of ranks on each node" -ppn 2
refuses "option -genv is a word of other launchers (MPICH, Intel MPI); here it is -x NAME=VALUE" -genv A 1
refuses "option -f is a word of other launchers (MPICH, Intel MPI); here it is --hostfile FILE" -f hosts
refuses "--mca btl has no value: the option -np follows; write --mca btl VALUE" --mca btl -np 2
refuses "--mca orte_tag_output is \"maybe\"; expected 0 or 1. Change or remove it" --mca orte_tag_output maybe
OMPI_MCA_orte_tag_output=perhaps refuses "OMPI_MCA_orte_tag_output is \"perhaps\"; expected 0 or 1. Change or remove it"
OMPI_MCA_orte_keep_fqdn_hostnames=perhaps refuses "OMPI_MCA_orte_keep_fqdn_hostnames is \"perhaps\"; expected 0 or 1. Change or remove it"
refuses "the command line both allows more ranks than slots (--oversubscribe) and forbids it (--nooversubscribe); use one of them" \
    --oversubscribe --nooversubscribe -np 1
refuses "the command line both allows more ranks than slots (--oversubscribe) and forbids it (--nooversubscribe); use one of them" \
    --map-by core:NOOVERSUBSCRIBE --oversubscribe -np 1
refuses "btl_tcp_port_min_v4 is 65530 and btl_tcp_port_range_v4 is 60000, but the last port is 65535; expected a range of at most \
6. Lower one of them" --mca btl_tcp_port_min_v4 65530 --mca btl_tcp_port_range_v4 60000 -np 1
warns "" --mca btl_tcp_port_min_v4 65530
HWLOC_XMLFILE=/nonexist refuses "HWLOC_XMLFILE names /nonexist, which cannot be read: No such file or directory; expected a file \
that \`lstopo FILE.xml\` wrote. Correct the variable or unset it" -np 1
HWLOC_XMLFILE=$PWD/params refuses "HWLOC_XMLFILE names $PWD/params, which describes no machine; expected a file that \`lstopo FILE.xml\` wrote. \
Correct the variable or unset it" -np 1
HWLOC_SYNTHETIC=bogus refuses "HWLOC_SYNTHETIC is \"bogus\", which describes no machine; expected words such as \
\`package:2 core:4 pu:2\`. Correct the variable or unset it" -np 1
refuses "--mca hwloc_base_topo_file names /nonexist, which cannot be read: No such file or directory; expected a file that \
\`lstopo FILE.xml\` wrote" --mca hwloc_base_topo_file /nonexist -np 1
HWLOC_SYNTHETIC=$small run --display-map --dry-run --bind-to core --host localhost:2 -np 2 true
has "--display-map: as Open MPI writes it" out 'Bound: socket 0\[core 1\[hwt 0-1\]\]:\[../BB\]\[../..\]$'
refuses "btl_tcp_if_include (option) and btl_tcp_if_exclude (option) are both set; set only one of them" \
    --mca btl_tcp_if_include lo --mca btl_tcp_if_exclude eth0
refuses '--map-by: there is no word "SPNA"; did you mean SPAN? known are PE=N, PE-LIST=LIST, SPAN, OVERSUBSCRIBE, NOOVERSUBSCRIBE, '\
'HWTCPUS, CORECPUS, NOLOCAL, DISPLAY, DONOTLAUNCH, ORDERED' --map-by core:PE=2:SPNA
refuses "--output xml is not supported: output is plain text; tag names the rank of each line" --output xml -np 1

# an option in place of a value, a value of an option that has none, one dash and "="
refuses "-x has no value: the option -np follows; write -x VALUE" -x -np 1
refuses "--report-pid has no value: the option -np follows; write --report-pid VALUE" --report-pid -np 1
refuses "--prepend-env PATH has no value: the option -np follows; write --prepend-env PATH VALUE" --prepend-env PATH -np 1
refuses "--mca has no value: the option -np follows; write --mca NAME VALUE" --mca -np 1
refuses "--wdir has no value: the option --np follows; write --wdir VALUE" --wdir --np 1
warns "" --mca plm_rsh_args -v --report-pid -
refuses "unknown option -np=2: the value is a word of its own; write -np 2" -np=2
refuses "unknown option -np4: the value is a word of its own; write -np 4" -np4
refuses "unknown option -N2: the value is a word of its own; write -N 2" -N2
refuses '–np begins with a dash that is not "-"; write -np, or ./–np if a program is meant' –np 2
refuses '—hostfile begins with a dash that is not "-"; write -hostfile, or ./—hostfile if a program is meant' -np 1 —hostfile two
refuses "unknown option --quiet=1: --quiet takes no value; write --quiet" --quiet=1
refuses "unknown option --mca=btl: --mca takes a name and a value; write --mca NAME VALUE" --mca=btl tcp
refuses "unknown option --tag-outptu=1; did you mean --tag-output? (mpirun --help lists them)" --tag-outptu=1
count=0 # every option with a value, of the table
for option in $(sed -n 's/^    { "\([a-z][a-z-]*\)", \(READ\|WORD\|NUMBER\|LIST\|APP_WORD\|APP_NUMBER\|TUNE\|READ_APP\)(.*/\1/p' \
    "$here/../../mpirun/plan/option_table.c"); do
    run "--$option" -np 1 true
    is "--$option -np" "$rc $(cat err)" "1 mpirun: --$option has no value: the option -np follows; write --$option VALUE"
    count=$((count + 1))
done
[ $count -ge 40 ] || complain "only $count options with a value"
echo '--mca btl -x A=1' >forgotten
refuses "forgotten line 1 btl has no value: the option -x follows; write forgotten line 1 btl VALUE" --tune forgotten

# Open MPI 5's words
refuses '--display: there is no word "mapp"; did you mean map? known are map, map-devel, bindings, allocation, paths, fabric, topology' \
    --display mapp -np 1
refuses '--display needs a word; known are map, map-devel, bindings, allocation, paths, fabric, topology' --display '' -np 1
refuses '--output: there is no word "tagg"; did you mean tag? known are tag, tag-detailed, tag-fullname, rank, timestamp, '\
'merge-stderr-to-stdout, raw, xml, dir=DIR, file=FILE' --output tagg -np 1
run --output '' -np 1 true
has "--output of nothing" err '^mpirun: --output needs a word; known are tag'
run --rtos '' -np 1 true
has "--rtos of nothing" err '^mpirun: --rtos needs a word; known are donotlaunch'
run --rtos abrot-nonzero-status=0 -np 1 true
has "--rtos abrot" err '^mpirun: --rtos: there is no word "abrot-nonzero-status"; did you mean abort-nonzero-status\? known are'
refuses '--rank-by: no object ""; there are slot, hwthread, core, l1cache, l2cache, l3cache, numa, socket, package, node, fill and span' \
    --rank-by '' -np 1
refuses '--bind-to: no modifier "overload-alowed"; there are overload-allowed and if-supported' --bind-to core:overload-alowed -np 1
warns 'mpirun: warning: --map-by "" is empty and has no effect' --map-by ''
warns 'mpirun: warning: --map-by= is empty and has no effect' --map-by=
warns 'mpirun: warning: --tune "" is empty and has no effect' --tune ''
warns 'mpirun: warning: --output-filename names no directory: files are written below this one' --output-filename ''
warns 'mpirun: warning: --display map:parseable: ":parseable" has no effect: the form is that of Open MPI 4.1' \
    --display map:parseable --host localhost:1 --rtos donotlaunch
HWLOC_SYNTHETIC=$small run -q --dry-run --bind-to core:REPORT --map-by socket:DISPLAY --host localhost:2 true
is "--bind-to core:REPORT, --map-by socket:DISPLAY" "$rc $(grep -c 'MCW rank' err) $(grep -c 'Process rank' out)" "0 2 2"
run --display alloc,map-devel,bind -q --dry-run --host localhost:1 true
is "words cut short" "$rc $(grep -c 'ALLOCATED NODES' out) $(grep -c 'Process rank' out) $(grep -c 'MCW rank' err)" "0 1 1 1"

warns "mpirun: warning: --cpus-per-proc 3 has no effect beside PE=1" --map-by slot:PE=1 --cpus-per-proc 3
warns "mpirun: warning: PE=2 has no effect beside PE=1" --host localhost:2 --map-by slot:PE=2 --map-by :PE=1
OMPI_MCA_rmaps_base_cpus_per_rank=2 warns "" --map-by slot:PE=1
warns "mpirun: warning: --set-cwd-to-session-dir has no effect beside --wdir /" --set-cwd-to-session-dir --wdir /
warns "mpirun: warning: --bind-to cpu-list binds nobody without --cpu-list LIST" --bind-to cpu-list

# what stands beside a file of programs, and in files
printf -- '-np 1 sh -c "echo $A"\n-np 1 -x A=7 sh -c "echo $A"\n' >programs
run --oversubscribe -x A=4 --app programs
is "-x beside --app" "$rc $(sort out | tr '\n' ' ')$(cat err)" "0 4 7 "
run -q --wdir / --app programs
is "--wdir beside --app" "$rc $(cat err)" "0 "
run --oversubscribe -np 3 --app programs
is "-np beside --app" "$rc $(cat err)" "0 mpirun: warning: -np 3 has no effect beside --app programs: the lines of that file say how \
many ranks each program has"
echo 'echo once' >programs
run -q --oversubscribe -np 2 --app programs
is "-np beside a line without it" "$rc $(cat out)" $'0 once\nonce'
run -soft 1 --app programs
is "-soft beside --app" "$rc $(cat err)" "1 mpirun: -soft stands beside --app programs; write it on a line of that file, behind -np"
refuses "the program true stands beside --app programs, which says what to run; write it on a line of that file" --app programs
printf 'far1\n' >more
refuses "--machinefile more: this program has the hostfile two already; put the lines of both into one file" \
    --hostfile two --machinefile more -np 1
printf -- '-np 1 echo ok\n-np 1 echo "a b\n' >programs
run --app programs
is "a quote without an end" "$rc $(cat err)" "1 mpirun: programs, line 2: the quote \" before \"a b\" has no end on this line; end it, \
or put quotes of the other kind around it"
printf -- '-x A="1 2\n' >programs
run --tune programs true
has "a quote without an end in a tune file" err '^mpirun: programs, line 1: the quote " before "A=1 2" has no end on this line'
echo 'localhost slots=1 slots=2' >more
refuses 'more, line 1: "slots=2" is the second such number on this line; expected one, or a line of its own for each' --hostfile more
printf '\xef\xbb\xbf-np 1 echo marked\n' >programs
printf '\xef\xbb\xbfrank 0=localhost\n' >ranks
printf '\xef\xbb\xbforte_tag_output = 1\n' >params
printf '\xef\xbb\xbflocalhost slots=1\n' >more
run --app programs
is "a byte order mark: --app" "$rc $(cat out err)" "0 marked"
OMPI_MCA_mca_param_files=$PWD/params run --hostfile more -rf ranks echo marked
is "a byte order mark: parameters, hosts, ranks" "$rc $(cat out err)" "0 [1,0]<stdout>:marked"
warns "" -rf ranks --mca btl 'self, tcp'
refuses "--rankfile and --map-by core both choose where ranks run; use one of them" -rf ranks --map-by core
refuses "--rankfile and -N 1 both choose where ranks run; use one of them" -rf ranks -N 1
warns "mpirun: warning: --rank-by core has no effect: the rankfile ranks numbers the ranks" -rf ranks --rank-by core
warns "mpirun: warning: -npersocket 2 has no effect beside -npernode 1" -npernode 1 -npersocket 2
warns "mpirun: warning: -npersocket 2 has no effect beside -npernode 1" -npersocket 2 -npernode 1
run --mca mca_base_env_list A=1 --mca mca_base_env_list B=2 -np 1 sh -c "$show"
is "a list that replaces another" "$rc $(cat out err)" "0  2
mpirun: warning: --mca mca_base_env_list B=2 replaces --mca mca_base_env_list A=1, given before"
OMPI_MCA_mca_base_env_list=A=1 run --mca mca_base_env_list B=2 -np 1 sh -c "$show"
is "a list that replaces that of the environment" "$rc $(cat out err)" "0  2"
OMPI_MCA_orte_tag_output='' warns "mpirun: warning: OMPI_MCA_orte_tag_output is empty and has no effect; remove it"
OMPI_MCA_orte_set_default_slots='' warns "mpirun: warning: OMPI_MCA_orte_set_default_slots is empty and has no effect; remove it"
OMPI_MCA_rmaps_base_mapping_policy='' OMPI_MCA_btl='' warns ""
: >nobody
refuses "the application file nobody names no program" --app nobody
SLURM_JOB_ID=1 SLURM_NTASKS=2 warns "mpirun: warning: this is a batch job, but SLURM_JOB_NODELIST is not set: its hosts are unknown, \
and ranks run on this one. Pass the variable on (sudo -E), or name hosts with --host"
SLURM_JOB_ID=1 SLURM_NTASKS=2 warns "" --host localhost
mkdir -p .prte .openmpi
echo 'prte_default_hostfile = two' >.prte/mca-params.conf
ours "$small" "far1:0 far1:1" -np 2
echo 'orte_default_hostfile = uneven' >.openmpi/mca-params.conf
ours "$small" "far1:0-1 far1:2-3 far2:0-1 far2:2-3 far2:0-1" -np 5
run -np 1 --explain --dry-run -q true
has "the order of files" out "orte_default_hostfile \(file $PWD/.openmpi/mca-params.conf\) = uneven"
rm -r .prte .openmpi

# --help TOPIC, in Open MPI's topics
for topic in general debug output input mapping ranking binding devel compatibility launch dvm unsupported; do
    run --help $topic
    is "--help $topic" "$rc $(head -n 1 out | cut -c1-13) $(cat err)" "0 Usage: mpirun "
    [ "$(wc -l <out)" -ge 3 ] && [ "$(wc -l <out)" -lt 40 ] || complain "--help $topic: $(wc -l <out) lines"
done
run --help devel
has "--help devel" out '^  --display-map'
is "--help devel: what comes before what has no effect" "$(sed -n '/^Accepted without effect/,$p' out | grep -cE -- '--(display-map|explain|debug-daemons) ')" 0
has "--help devel: one dash" out '^  -d$'
run --help unsupported
hasnt "--help unsupported" out '--where'
run --explain --mca pml ucx --dry-run -np 1 true
has "--explain: no effect" out '^    --mca pml = ucx: no effect'
run --tag-output --report-bindings --bind-to core --cpu-set 0 -np 1 true
has "--report-bindings with --tag-output" err '^\[1,0\]<stderr>:\[.*MCW rank 0 '
has "--report-bindings with --cpu-set" err '^mpirun: sockets and cores are counted within the list of --cpu-set'
gives "--timeout 0" "0 a" --timeout 0 -np 1 echo a
refuses "option -check_mpi is a word of other launchers (MPICH, Intel MPI); here it is --mca check_level full" -check_mpi
run --help mapping
has "--help mapping" out '^  --map-by OBJECT'
hasnt "--help mapping" out '^  --tag-output'
run --help --tag-output
is "--help of an option" "$rc $(grep -c '^  ' out)" "0 1"
run --help nonsense
has "--help of nothing" err '^mpirun: --help nonsense: there is no such topic or option, so all of it is printed$'
has "--help of nothing" out '^  --tag-output'

# lists of networks that are not here: over what there is, one warning
if [ -n "${MPICC:-}" ]; then
    "$MPICC" -o ring "$here/../../examples/ring.c" || complain "cannot build ring"
    # travels WARNING WORD...
    travels() {
        local wanted=$1
        shift
        lines=$((lines + 1))
        run -q --mca plm_rsh_agent "$PWD/elsewhere" "$@" ./ring
        is "$*" "$rc $(wc -l <out) $(sed 's/.*\(the parameter btl is\)/\1/' err)" "0 1 $wanted"
    }
    for list in openib,self ^vader,tcp,openib,uct uct,self ofi,self; do
        travels "the parameter btl is \`$list\` and leaves out what these ranks need; self, shm and tcp are used, the only ones that can carry messages here" \
            --oversubscribe -np 2 --mca btl "$list"
    done
    travels "the parameter btl is \`^tcp\` and leaves out what these ranks need; self, shm and tcp are used, the only ones that can carry messages here" \
        --host localhost:1,far1:2 --mca btl ^tcp
    travels "the parameter btl is \`self\` and leaves out what these ranks need; self, shm and tcp are used, the only ones that can carry messages here" \
        --oversubscribe -np 2 --mca pml ucx --mca btl self
    travels "" --oversubscribe -np 2 --mca btl ^openib
    travels "" --oversubscribe -np 2 --mca btl ^tcp --mca pml ucx
    travels "" --oversubscribe -np 2 --mca btl vader,openib,self
    travels "" --oversubscribe -np 2 --mca btl smcuda,openib,self
    run -q --oversubscribe -np 2 --mca btl self ./ring
    [ "$rc" != 0 ] || complain "--mca btl self: ranks reach each other"
fi

# Every parameter of Open MPI's launcher is known: its own list, where it is installed.
if ompi_info --version 2>/dev/null | grep -q 'Open MPI v4\.1\.'; then
    ompi_info --all --parsable 2>/dev/null | tr -d '"' |
        sed -nE 's/^mca:(errmgr|ess|filem|grpcomm|hwloc|iof|odls|oob|orte|plm|ras|regx|rmaps|rml|routed|rtc|schizo|snapc|sstore|state):[^:]*:param:([^:]*):value:.*/\2/p' |
        sort -u >parameters
    [ "$(wc -l <parameters)" -gt 100 ] || complain "ompi_info lists $(wc -l <parameters) parameters of the launcher"
    while read -r name; do echo "-mca $name ''"; done <parameters >all
    run --tune all -np 1 true
    hasnt "parameters of the launcher" err 'there is no parameter'
fi
# options are completed: those of the table
completions=${MPIRUN%/bin/*}/share/bash-completion/completions/mpirun
if [ -e "$completions" ]; then
    # completed WORD...: what the shell offers for the last word
    completed() {
        # shellcheck disable=SC2016
        bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tern_mpirun; echo "${COMPREPLY[*]}"' - "$completions" "$@"
    }
    is "mpirun --npers" "$(completed mpirun --npers)" "--npersocket"
    is "mpirun --mca btl_tcp_l" "$(PATH=${MPIRUN%/*}:$PATH completed mpirun --mca btl_tcp_l)" "btl_tcp_links"
    is "a foreign option" "$(completed mpirun --perhos)" ""
else
    complain "no completion in $completions"
fi
if command -v zsh >/dev/null; then
    # offered WORD...: all that zsh is offered for the last word
    offered() {
        # shellcheck disable=SC2016
        zsh -fc 'compadd() { print -l -- $@ }; _alternative() { print $@ }; file=$1; shift; words=($@) CURRENT=$# PREFIX=$@[-1]; . $file' \
            - "${MPIRUN%/bin/*}/share/zsh/site-functions/_mpirun" "$@" | grep -cxFe "$OFFER"
    }
    is "zsh: mpirun --npers" "$(OFFER=--npersocket offered mpirun --npers)" 1
    is "zsh: mpirun --mca btl_tcp_l" "$(PATH=${MPIRUN%/*}:$PATH OFFER=btl_tcp_links offered mpirun --mca btl_tcp_l)" 1
    is "zsh: a foreign option" "$(OFFER=--perhost offered mpirun --perhos)" 0
    is "zsh: a program" "$(OFFER='commands:program:_command_names -e files:file:_files' offered mpirun ri)" 1
fi
[ $lines -ge 60 ] || complain "$lines command lines, expected 60 at least"
finish
