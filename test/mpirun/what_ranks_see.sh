#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How a job was started shows in the attributes of MPI_COMM_WORLD and in MPI_INFO_ENV: of several programs each has its
# number, its command line and its number of processes; slots are the universe. MPI_Info_create_env knows as much before MPI_Init.
. "$(dirname "$0")/check.bash"
"$MPICC" -o see "$here/start_facts.c" || { echo "cannot build start_facts"; exit 1; }
cp see other

run -q --host localhost:7 -np 2 ./see one 'two words' : -np 1 --wdir / "$PWD/other" : -np 3 ./see
is "several programs" "$rc $(wc -l <out)" "0 6"
for r in 0 1; do
    has "rank $r" out "^rank $r of 6: app 0 universe 7 command=\[./see\] argv=\[one two words\] maxprocs=\[2\] soft=\[2\] wdir=\[$PWD\]"
done
has "rank 2" out "^rank 2 of 6: app 1 universe 7 command=\[$PWD/other\] argv=\[-\] maxprocs=\[1\] soft=\[1\] wdir=\[/\]"
for r in 3 4 5; do
    has "rank $r" out "^rank $r of 6: app 2 universe 7 command=\[./see\] argv=\[-\] maxprocs=\[3\]"
done
hasnt "MPI_Info_create_env before MPI_Init, of several programs," out BEFORE

run -q -np 1 ./see null more
has "a program that gives MPI_Init no arguments" out 'command=\[./see\] argv=\[null more\] maxprocs=\[1\]'
run -q --oversubscribe --host localhost:2 -np 5 ./see
is "more ranks than slots" "$(grep -c 'of 5: app 0 universe 5 ' out)" 5

# without a launcher
hasnt "MPI_Info_create_env before MPI_Init, of crowded ranks," out BEFORE
limit ./see x >out 2>err
hasnt "MPI_Info_create_env before MPI_Init, without a launcher," out BEFORE
has "a program by itself" out '^rank 0 of 1: app 0 universe 1 command=\[./see\] argv=\[x\] maxprocs=\[1\] soft=\[1\]'
has "its errors" out 'mpi_initial_errhandler=\[mpi_errors_are_fatal\]'
has "its level" out 'thread_level=\[MPI_THREAD_SINGLE\]'

run -q -np 1 --initial-errhandler mpi_errors_return ./see
hasnt "MPI_Info_create_env before MPI_Init, with an initial error handler," out BEFORE
has "the initial error handler" out 'mpi_initial_errhandler=\[mpi_errors_return\]'

run -q -np 2 --memory-alloc-kinds system,mpi:alloc_mem ./see
is "memory kinds that are supported" "$rc $(wc -l <err)" "0 0"
hasnt "MPI_Info_create_env before MPI_Init, with memory kinds," out BEFORE
for kind in system mpi mpi:alloc_mem; do
    has "kind $kind" out "mpi_memory_alloc_kinds=\[([^]]*,)?$kind[],]"
done
run -q -np 2 -memory-alloc-kinds system,cuda:nonsense,mpi ./see
is "a memory kind that is not supported does no harm" "$rc $(wc -l <out)" "0 2"
has "but is named" err 'cuda:nonsense.*not supported'
hasnt "and not promised" out 'nonsense'
# --display without a program: ranks that only say what they see
for words in paths:"path to rank [01]: " fabric:"fabric: libfabric|fabric: " topo:"topology: host " topo=localhost:"topology: host "; do
    run -q --oversubscribe -n 2 --display "${words%%:*}"
    is "--display ${words%%:*}" "$rc" 0
    has "--display ${words%%:*}" err "^tern: rank [01] on host .*: ${words#*:}"
done
run --display map
is "--display map needs a program" "$rc $(grep -c 'there is no program to run' err)" "1 1"
finish
