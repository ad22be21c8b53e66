#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Quantum ESPRESSO, Fortran with mpif.h and `use mpi`: ld1.x makes a pseudopotential of helium, pw.x finds the energy of a
# lattice of such atoms, by plane waves spread among the ranks or with groups of ranks for the k-points. The energy is the
# one that Debian's Open MPI gives.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/pw.x quantum-espresso
uses_our_library /usr/bin/pw.x

cat >atom.in <<'TEXT'
&input
 title='He', zed=2.0, rel=0, config='1s2', iswitch=3, dft='PZ'
/
&inputp
 pseudotype=1, file_pseudopw='He.UPF', author='none', lloc=0, tm=.true.
/
1
1S 1 0 2.00 0.00 1.00 1.00 0.0
TEXT
mpi 0 atom.out ld1.x -in atom.in
[ -s He.UPF ] || fail "ld1.x made no pseudopotential" atom.out
cat >lattice.in <<'TEXT'
&control
 calculation='scf', prefix='he', pseudo_dir='.', outdir='./scratch'
/
&system
 ibrav=1, celldm(1)=8.0, nat=1, ntyp=1, ecutwfc=20.0
/
&electrons
 conv_thr=1.0d-9
/
ATOMIC_SPECIES
He 4.0 He.UPF
ATOMIC_POSITIONS alat
He 0.0 0.0 0.0
K_POINTS automatic
2 2 2 1 1 1
TEXT
for ranks in 0 1 2 4; do
    pools=$((ranks == 4 ? 2 : 1))
    mpi $ranks out.$ranks pw.x -npool $pools -i lattice.in
    grep -q 'JOB DONE' out.$ranks || fail "no end on $ranks ranks" out.$ranks
    close_to "$(awk '$1 == "!" { print $5 }' out.$ranks)" -5.22022977 2e-7 "total energy on $ranks ranks"
done
