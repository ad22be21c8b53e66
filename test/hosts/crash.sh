#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank that crashes on another host is reported as one that crashes here: host, signal, address, and the calls.
HOSTS=3 LEAVE_SIGNALS=yes
. "$(dirname "$0")/hosts.bash"
"$MPICC" -g -O1 -o crash "$here/../mpirun/crashing.c" -lpthread || { echo "cannot build it"; exit 1; }
run --host n3,n2,n1 ./crash segv
is "status" "$rc" 139
has "the block" err '^mpirun: rank 1 \(pid [0-9]+ on host n2\): signal 11 \(SIGSEGV, .*writing address 0x10'
has "its calls" err '^     0  crash_here at crashing.c:[0-9]+ \(crash\)'
eventually "nothing is left" none_left || leftovers
finish
