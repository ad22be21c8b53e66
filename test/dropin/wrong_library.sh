#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that find Debian's Open MPI or MPICH instead of our library, under our mpirun: they run on that, and mpirun says so once,
# and how they find ours. Ours under MPICH's mpiexec, which cannot tell it who it is, says so, too.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/mpicc.openmpi libopenmpi-dev
needs /usr/bin/mpicc.mpich libmpich-dev
needs /usr/bin/mpiexec.mpich mpich
needs /usr/bin/mpifort.openmpi libopenmpi-dev
for mpi in openmpi mpich; do
    mpicc.$mpi -O2 -o ring.$mpi "$TERN_SRCDIR/examples/ring.c" || fail "examples/ring.c does not compile with mpicc.$mpi"
done
"$TERN_PREFIX/bin/mpicc" -O2 -o ring "$TERN_SRCDIR/examples/ring.c" || fail "examples/ring.c does not compile"

# bare OUTPUT COMMAND...: without our directory on the loader's path
bare() {
    timeout -k 30 300 env -u LD_LIBRARY_PATH "${@:2}" >"$1" 2>&1 </dev/null
}
# says TIMES REGEX: in the file out
says() { [ "$(grep -cE -- "$2" out)" = "$1" ] || fail "expected $1 times: $2" out; }

bare out "$MPIRUN" --noprefix --oversubscribe -n 3 ./ring.openmpi || fail "exit status $?" out
says 1 "^mpirun: rank . on host .*: $PWD/ring.openmpi has loaded /[^ ]*/libmpi.so.40[^ ]*; this mpirun belongs to $libdir/libmpi.so.40[.] "
says 1 "The system's configuration .* names its directory: set LD_LIBRARY_PATH=$libdir, or start"
says 1 '^The token passed 3 ranks'
LD_LIBRARY_PATH=$libdir timeout -k 30 300 "$MPIRUN" --noprefix --oversubscribe -n 3 ./ring.openmpi >out 2>&1 || fail "the cure: exit status $?" out
says 0 'has loaded'
says 1 '^The token passed 3 ranks'

# an absolute path to mpirun stands for --prefix
bare out "$MPIRUN" --oversubscribe -n 3 ./ring.openmpi || fail "an absolute path: exit status $?" out
says 0 'has loaded'
says 1 '^The token passed 3 ranks'

bare out "$MPIRUN" --noprefix --oversubscribe -n 3 ./ring.mpich || fail "exit status $?" out
says 1 'needs libmpich.so.12, which is the library of another MPI'
says 3 '^The token passed 1 ranks'

bare out mpiexec.mpich -n 3 ./ring || fail "exit status $?" out
says 1 'mpiexec has started 3 processes, and each is an MPI job of one rank'

# A Fortran program that finds our libmpi and Debian's Fortran part: refused once in the job, and named with who asks for it.
printf 'program f\nuse mpi\ninteger ierr\ncall MPI_Init(ierr)\ncall MPI_Finalize(ierr)\nend program\n' >f.f90
mpifort.openmpi -o f f.f90 || fail "f.f90 does not compile with mpifort.openmpi"
mkdir half && ln -s "$libdir/libmpi.so.40" half/ || exit 1
for now in "" 1; do
    ! LD_BIND_NOW=$now LD_LIBRARY_PATH=$PWD/half timeout -k 30 300 "$MPIRUN" --noprefix --oversubscribe -n 3 ./f >out 2>&1 ||
        fail "a program with Debian's Fortran part runs" out
    says 1 'MPI cannot be started: /[^ ]*/libmpi_mpifh.so.40, which the program itself needs, belongs to another MPI than'
    says 0 'MPI_THREAD'
done
cat >module.c <<'C'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    if (!dlopen(argv[argc - 1], RTLD_NOW)) /* as Python loads its modules */
        return puts(dlerror());
    return MPI_Init(&argc, &argv);
}
C
"$TERN_PREFIX/bin/mpicc" -o module module.c -ldl || fail "module.c does not compile"
debians=$(ldd ./f | sed -n 's/.*libmpi_mpifh.so.40 => \([^ ]*\).*/\1/p')
! timeout -k 30 300 "$MPIRUN" --noprefix -n 2 ./module "$debians" >out 2>&1 || fail "a module with Debian's Fortran part runs" out
says 1 "MPI cannot be started: $debians, which the program needs, belongs to another MPI than"
