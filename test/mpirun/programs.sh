#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are scripts of several MPI programs, which are not equally quick and share memory: nothing is lost, nothing is mixed up,
# and nobody waits for a rank that has ended. Ranks that do not run the same programs are told.
. "$(dirname "$0")/check.bash"
: "${MPICC:?names the mpicc to test}"
"$MPICC" -O1 -o programs_apart "$here/programs_apart.c" || { echo "cannot build programs_apart"; exit 1; }

for how in ahead apart alone; do
    for ranks in 2 4; do
        rm -f ./*.[0-9]
        run -q -n $ranks --mca mpi_comm_synchronize 0 ./programs_apart $how
        is "$how, $ranks ranks" "$rc $(cat err)" "0 "
    done
done

# Rank 0 runs a program more than rank 1, which calls MPI_Init before or after that.
cat >more.sh <<'END'
await() { while [ ! -e "$1" ]; do sleep 0.01; done; }
if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then
    ./programs_apart alone 1
    [ "$1" = after ] || await initialized.1.1
    exec ./programs_apart world 2
fi
[ "$1" = before ] || await initialized.2.0
exec ./programs_apart world 1
END
for when in before after; do
    rm -f ./*.[0-9]
    run -q -n 2 bash more.sh $when
    [ "$rc" != 0 ] || complain "different programs, MPI_Init $when: status 0"
    has "different programs, MPI_Init $when" err 'all ranks of a job must run the same MPI programs in the same order'
done
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
