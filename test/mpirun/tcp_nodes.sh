#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks of several nodes, shm within each and TCP between them: sessions that end and begin again on each rank by itself, and
# ranks that are scripts of several MPI programs. The nodes are this machine under other names.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
mpi=$here/../mpi
printf '#!/bin/sh\nshift\nexec "$@"\n' >reach
chmod +x reach
export OMPI_MCA_plm_rsh_agent=$scratch/reach
for program in comm_from_group session_finalize_delivers session_sender_leaves_first programs_in_turn; do
    "$MPICC" -O1 -I"$mpi" -o $program "$mpi/$program.c" || { echo "cannot build $program"; exit 1; }
done
nodes=(-q --host 'localhost:2,far1:2,far2:1')
# right WHAT ARGUMENT...
right() {
    run "${@:2}"
    is "$1" "$rc $(cat err)" "0 "
}

# All ranks of a node leave MPI and come back while another node's go on, and have sent already.
right "communicators in one session after the other" "${nodes[@]}" ./comm_from_group
right "what was sent before a session ended" "${nodes[@]}" ./session_finalize_delivers 300
# with a lane for each communicator, each would need a connection of its own before its first message
right "what was sent before the others came" "${nodes[@]}" --mca pml_lanes 1 --mca mpi_comm_synchronize 0 \
    ./session_sender_leaves_first connect
rm -f ./*.[0-9]
right "what was sent before the others came, by TCP alone" -q -n 3 --mca btl tcp,self --mca pml_lanes 1 \
    --mca mpi_comm_synchronize 0 ./session_sender_leaves_first connect

# Each program finds the others of its time, not those before.
right "programs in turn" "${nodes[@]}" ./programs_in_turn
right "programs in turn, by TCP alone" -q -n 3 --mca btl tcp,self ./programs_in_turn
cat >late.sh <<'END'
for i in 1 2 3; do
    ./programs_in_turn program || exit 3
    [ "$i$OMPI_COMM_WORLD_RANK" != 12 ] || sleep 4 # longer than an address that refuses is tried
done
END
right "a program that begins late on one rank" "${nodes[@]}" sh late.sh
right "a program that begins late on one rank, by TCP alone" -q -n 3 --mca btl tcp,self sh late.sh

finish
