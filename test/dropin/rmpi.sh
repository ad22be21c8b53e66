#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rmpi: R starts slaves by MPI_Comm_spawn, merges with them, gives them work, and ends them.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/lib/R/site-library/Rmpi/libs/Rmpi.so r-cran-rmpi
uses_our_library /usr/lib/R/site-library/Rmpi/libs/Rmpi.so
export R_LD_LIBRARY_PATH=$libdir:/usr/lib/R/lib # R puts the system's directory in front of LD_LIBRARY_PATH
cat >slaves.R <<'R'
library(Rmpi)
for (round in 1:2) {
    mpi.spawn.Rslaves(nslaves = 4, needlog = FALSE, quiet = TRUE)
    stopifnot(all(sort(unlist(mpi.remote.exec(mpi.comm.rank()))) == 1:4))
    stopifnot(sum(unlist(mpi.applyLB(1:20, function(x) x^2))) == 2870)
    mpi.bcast.Robj2slave(round)
    stopifnot(all(unlist(mpi.remote.exec(round * 2)) == round * 2))
    mpi.close.Rslaves()
}
cat("both rounds are right\n")
mpi.quit()
R
for ranks in 0 1; do
    mpi $ranks out Rscript slaves.R
    grep -qx 'both rounds are right' out || fail "Rmpi on $ranks ranks" out
done
