#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ABINIT, Fortran with `use mpi`: a lattice of helium atoms, k-points and bands spread among the ranks. The total energy is
# the one that Debian's Open MPI gives.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/abinit abinit
uses_our_library /usr/bin/abinit

# a local pseudopotential of Goedecker, Teter and Hutter
cat >He.psp <<'TEXT'
helium
2 2 970508 atomic number, valence, date
2 1 0 0 2001 0. format, functional, lmax, lloc, mmax, r2well
0.2000000 -9.1120234 1.6983680 0 0 rloc, c1, c2, c3, c4
0 0 0 rs, h1s, h2s
0 0 rp, h1p
1.36 .2 0.6 rcutoff, rloc
TEXT
cat >lattice.abi <<'TEXT'
pp_dirpath "."
pseudos "He.psp"
acell 3*8.0
ntypat 1
znucl 2
natom 1
typat 1
xred 0 0 0
ecut 10
ngkpt 2 2 2
nshiftk 1
shiftk 0 0 0
nband 2
nstep 20
toldfe 1.0d-8
TEXT
for ranks in 0 1 2 4; do
    rm -f lattice.abo* lattice.*nc
    mpi $ranks out.$ranks abinit lattice.abi
    close_to "$(awk '$1 == "etotal" { gsub("D", "e", $2); print $2; exit }' out.$ranks)" -2.5428097 1e-6 \
        "total energy on $ranks ranks"
done
