#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# When a signal of the five that faults raise ends a rank, mpirun says where: signal, address, and the calls with their lines.
# The program's own handlers come first, a child made by fork is no rank, and the core file is written as ever.
LEAVE_SIGNALS=yes
. "$(dirname "$0")/check.bash"
build() { "$MPICC" "$@" "$here/crashing.c" -lpthread || { echo "cannot build crashing.c: $*"; exit 1; }; }
build -g -O0 -o crash
# crash HOW...: three ranks, of which rank 1 crashes
crash() { run -np 3 --oversubscribe ./crash "$@"; }
line_of() { echo $(($(grep -n "$1" "$here/crashing.c" | head -n 1 | cut -d: -f1) + ${2:-0})); }
who='mpirun: rank 1 \(pid [0-9]+ on host [^ ]+\)'
crashing=$(line_of 'line that crashes')

while read -r how signal name words; do
    crash "$how"
    is "$how: status" "$rc" $((128 + signal))
    has "$how: head" err "^$who: signal $signal \($name, [A-Za-z ]+\)$words"
    has "$how: innermost call" err "^     0  "
    has "$how: and the line as ever" err "^$who was killed by signal $signal "
    is "$how: one block" "$(grep -c ': signal ' err)" 1
done <<END
segv 11 SIGSEGV : writing address 0x10, where there is no memory
jump 11 SIGSEGV : executing address 0x40, where there is no memory
stack 11 SIGSEGV : writing address 0x[0-9a-f]+: the stack is full
thread 11 SIGSEGV : writing address 0x10, where there is no memory
kill 11 SIGSEGV : the program raised it itself
bus 7 SIGBUS : writing address 0x[0-9a-f]+, which has no memory behind it
fpe 8 SIGFPE : an integer was divided by zero
ill 4 SIGILL .*at address 0x
abort 6 SIGABRT : the program called abort
END

crash segv
has "the function that crashed" err "^     0  crash_here at crashing.c:$crashing \(crash\)"
has "who called it" err "^     1  crash at crashing.c:[0-9]+ \(crash\)"
has "and main" err "^     2  main at crashing.c:$(line_of 'crash(argv\[1\])') \(crash\)"
crash jump
has "who jumped" err "^     1  crash at crashing.c:$(line_of 'nowhere();') \(crash\)"
crash stack
has "endless recursion is one line" err "^     [01]  overflow at crashing.c:[0-9]+ \(crash\), and [0-9]+ more calls of the same"
crash thread
has "the thread's calls" err "^     1  crash_in_thread at crashing.c:"
crash thread_stack # where no handler can run
is "the stack of a thread is full: status" "$rc" 139
has "the stack of a thread is full" err '^mpirun: if nothing above says where: the stack of a thread may be full'
run -np 2 --oversubscribe --mca btl tcp,self ./crash window
is "a thread of the library: status" "$rc" 139
has "a thread of the library" err "^$who: signal 11 \(SIGSEGV, [A-Za-z ]+\): writing address 0x[0-9a-f]+, where there is no memory"
hasnt "a thread of the library: no guess" err 'if nothing above says where'
crash segv
hasnt "a crash that was shown" err 'if nothing above says where'
crash abort
has "who called abort" err "  crash at crashing.c:$(line_of 'abort();') "

# all forms of debug information, and none
for version in 2 3 4 5; do
    build -gdwarf-$version -O1 -o crash
    crash segv
    has "DWARF $version" err "^     0  crash_here at crashing.c:$crashing \(crash\)"
done
if [ -n "$SAN" ]; then
    echo "LEFT OUT: a program of clang; its sanitizer and gcc's cannot be in one process"
elif command -v clang >/dev/null; then
    OMPI_CC=clang build -g -O1 -o crash
    crash segv
    has "clang" err "^     0  crash_here at crashing.c:$crashing \(crash\)"
fi
build -O1 -o crash
crash segv
has "without debug information" err "^     0  crash_here \(crash\+0x[0-9a-f]+\)"
strip crash
crash segv
has "stripped" err "^     0  0x[0-9a-f]+ \(crash\+0x[0-9a-f]+\)"

# all ranks crash at one place: the calls are shown once
build -g -O1 -o crash
cat >all.c <<END
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    *(volatile int *)16 = 1;
    return 0;
}
END
"$MPICC" -g -o all all.c || complain "cannot build all.c"
run -np 4 --oversubscribe ./all
is "all crash: the calls are shown once" "$(grep -c "  _start" err)" 1

# other handlers, other processes, no report
for when in before after; do
    crash segv $when
    is "a handler installed $when MPI_Init" "$rc $(grep -c "own handler got 11" out)" "9 1"
    hasnt "a handler installed $when MPI_Init" err ': signal 11'
done
crash child
is "a child crashes" "$rc $(cat err)" "0 "
run -np 3 --oversubscribe --mca crash_report 0 ./crash segv
is "crash_report 0" "$rc" 139
hasnt "crash_report 0" err ': signal'
build -g -O0 -o crash
run -np 3 --oversubscribe --mca mpi_abort_print_stack 1 ./crash mpi_abort
has "mpi_abort_print_stack" err "^ +[0-9]+  PMPI_Abort|^ +[0-9]+  MPI_Abort"
has "mpi_abort_print_stack: file and line" err "^ +[0-9]+  crash at crashing.c:$(line_of 'MPI_Abort(MPI_COMM_WORLD') \(crash\+0x"

# the list of signals in Open MPI's word
for list in 6 0 ''; do
    run -np 3 --oversubscribe --mca opal_signal "$list" ./crash segv
    is "opal_signal '$list'" "$rc" 139
    hasnt "opal_signal '$list'" err ': signal'
done
run -np 3 --oversubscribe --mca opal_signal 6,11 ./crash segv
has "opal_signal 6,11" err "^$who: signal 11 "
crash early
is "before MPI_Init" "$rc" 139
has "before MPI_Init" err "^$who was killed by signal 11 \(Segmentation fault\)[^:]*, before it called MPI_Init$"
crash late
has "after MPI_Finalize" err "^$who was killed by signal 11 \(Segmentation fault\)[^:]*, after it had left MPI$"

# libgfortran's handler cannot run when the stack is full, so the block comes in its place; elsewhere libgfortran speaks
fortran=$(dirname "$MPICC")/mpifort
if command -v gfortran >/dev/null && "$fortran" -g -fstack-arrays -o full "$here/full_stack.f90" 2>fortran.err; then
    run -np 2 --oversubscribe ./full stack
    is "Fortran, the stack is full: status" "$rc" 139
    has "Fortran, the stack is full" err '^mpirun: rank 1 .*: signal 11 \(SIGSEGV, Segmentation fault\): .*: the stack is full'
    run -np 2 --oversubscribe ./full pointer
    is "Fortran, a wrong address: status" "$rc" 139
    has "Fortran, a wrong address" err '^Program received signal SIGSEGV'
    hasnt "Fortran, a wrong address" err 'the stack is full'
fi

limit ./crash segv >out 2>err
is "without a launcher" $? 139
has "without a launcher" err "^tern: rank 0 \(pid [0-9]+ on host [^ ]+\): signal 11 \(SIGSEGV"
has "without a launcher" err "^     0  crash_here at crashing.c:$crashing"

# a core file where there would be one
if (ulimit -c unlimited && sh -c 'kill -SEGV $$') 2>&1 | grep -q 'core dumped'; then
    ulimit -c unlimited
    crash segv
    has "core file" err "was killed by signal 11 .*, core dumped"
    ulimit -c 0
fi
eventually "nothing is left" tmp_is_empty
finish
