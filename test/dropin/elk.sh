#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# elk, Fortran with `use mpi`: an aluminium crystal, whose k-points are spread among the ranks. The total energy is the one
# that Debian's Open MPI gives.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/elk-lapw elk-lapw
uses_our_library /usr/bin/elk-lapw

cat >elk.in <<'TEXT'
tasks
  0

avec
  3.8 3.8 0.0
  3.8 0.0 3.8
  0.0 3.8 3.8

sppath
  '/usr/share/elk-lapw/species/'

atoms
  1
  'Al.in'
  1
  0.0 0.0 0.0  0.0 0.0 0.0

ngridk
  2 2 2

rgkmax
  5.0
TEXT
for ranks in 0 2 3; do
    rm -f TOTENERGY.OUT
    mpi $ranks out elk-lapw
    [ -s TOTENERGY.OUT ] || fail "no energy on $ranks ranks" out
    close_to "$(tail -n 1 TOTENERGY.OUT | tr -d ' ')" -241.939279 1e-5 "total energy on $ranks ranks"
done
