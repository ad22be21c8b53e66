#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under Open MPI's own mpirun, which is a PMIx server too, our library runs and leaves nothing in /dev/shm: neither when all
# is well nor when a rank is killed while the ranks find each other. Ranks whose homes have different figures use the same,
# the built-in ones: else they would choose different algorithms.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/mpirun.openmpi openmpi-bin
cat >ring.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static char out[200000], in[200000];
int main(int argc, char **argv)
{
    if (argc > 1 && atoi(getenv("PMIX_RANK")) == 1)
        raise(SIGKILL); /* the others have begun */
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out[0] = out[sizeof out - 1] = rank + 1;
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % size, 0, in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int left = (rank + size - 1) % size + 1;
    printf("%s of %d\n", in[0] == left && in[sizeof in - 1] == left ? "right" : "wrong", size);
    return MPI_Finalize();
}
C
"$TERN_PREFIX/bin/mpicc" -o ring ring.c || fail "ring does not compile"
uses_our_library ./ring
# files of ours that no running process has open or mapped
unused() {
    local file
    for file in /dev/shm/tern-*; do
        [ ! -e "$file" ] || grep -qsF "$file" /proc/[0-9]*/maps || echo "$file"
    done
}
unused >before
# Others on this machine may use the library, too: what is there now is no fault, and what is left is so for long.
left() { comm -13 before <(unused); }
launch() {
    LD_LIBRARY_PATH=$libdir timeout -k 30 300 mpirun.openmpi --allow-run-as-root --oversubscribe "$@" >out 2>&1 </dev/null
}
launch -np 4 ./ring || fail "exit status $?" out
[ "$(grep -c '^right of 4' out)" = 4 ] || fail "not four times right" out
launch -np 4 bash -c 'ulimit -f 500000; exec ./ring' || fail "exit status $? where files may have 500 MB" out
! launch -np 4 ./ring killed || fail "a killed rank is no failure" out
# windows are as large as the memory is, here, too: the first rank makes the memory
"$TERN_PREFIX/bin/mpicc" -I"$TERN_SRCDIR/test/mpi" -o any_size "$TERN_SRCDIR/test/mpi/win_any_size.c" ||
    fail "win_any_size does not compile"
launch -np 2 ./any_size || fail "win_any_size: exit status $?" out
for ((i = 0; i < 3000; i++)); do
    [ -n "$(left)" ] || break
    sleep 0.1
done
[ -z "$(left)" ] || fail "left in /dev/shm: $(left)"

for home in home0 home1; do
    file=$(HOME=$PWD/$home XDG_CONFIG_HOME='' "$TERN_PREFIX/bin/mpi_info" --parsable --path all | sed -n 's/^path:figures://p')
    mkdir -p "$(dirname "$file")"
    "$TERN_PREFIX/bin/mpi_info" --parsable --model | sed -n 's/^model:\([a-z_]*\):measured:yes$/\1 = 1234/p' >figures
    { cat figures; echo "end = $(wc -l <figures)"; } >"$file"
done
sed -i 's/^coll_switch = .*/coll_switch = 77777/' "$file"
cat >show <<SH
#!/bin/sh
HOME=$PWD/home\$OMPI_COMM_WORLD_RANK XDG_CONFIG_HOME='' exec "$TERN_PREFIX/bin/mpi_info" --parsable --model
SH
chmod +x show
HOME=$PWD/home1 XDG_CONFIG_HOME='' "$TERN_PREFIX/bin/mpi_info" --parsable --model >out
grep -q ':coll_switch:value:77777$' out || fail "the figures would not be used anyway" out
launch -np 2 ./show || fail "mpi_info fails as a rank" out
[ "$(grep -c ':coll_switch:source:default$' out)" = 2 ] || fail "ranks of another launcher use measured figures" out
[ "$(grep ':coll_switch:value:' out | sort -u | wc -l)" = 1 ] || fail "ranks do not agree" out
