#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were built with Debian's Open MPI, and load its library, run on four hosts under our mpirun.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
command -v mpicc.openmpi >/dev/null || { echo "there is no mpicc.openmpi; install the package libopenmpi-dev"; exit 1; }
for program in hello ring; do
    mpicc.openmpi -o $program "$here/../../examples/$program.c" || { echo "cannot build $program"; exit 1; }
done
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts

# Open MPI believes that every network with an address leads to every host; the one that does is named.
run --hostfile hosts --mca btl_tcp_if_include eth0 ./hello
is "hello" "$rc $(sort out | tr '\n' ',')" "0 $(for rank in 0 1 2 3 4 5 6 7; do printf 'Hello from rank %d of 8 on n%d,' $rank $((rank / 2 + 1)); done)"
run --hostfile hosts --mca btl_tcp_if_include eth0 --map-by node ./ring
is "ring" "$rc $(cat out)" "0 The token passed 8 ranks and returned with 28"
finish
