#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# GROMACS: a box of water with particle-mesh Ewald, decomposed into domains; the energies do not depend on the number of
# ranks, nor on a rank of its own for the mesh.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
water=/usr/share/gromacs/top/spc216.gro
needs /usr/bin/gmx_mpi_d gromacs
needs $water gromacs-data
uses_our_library /usr/bin/gmx_mpi_d
export GMX_MAXBACKUP=-1

cat >water.top <<'TEXT'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
a box of water
[ molecules ]
SOL 216
TEXT
cat >water.mdp <<'TEXT'
integrator = md
dt = 0.001
nsteps = 20
nstlog = 10
nstcalcenergy = 10
nstenergy = 0
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
fourierspacing = 0.13
gen_vel = yes
gen_temp = 290
gen_seed = 11
TEXT
mpi 0 grompp.out gmx_mpi_d grompp -f water.mdp -c $water -p water.top -o water.tpr -maxwarn 2

# total_energies LOG: of steps 0, 10 and 20; the log prints names and values in columns of 15 characters
total_energies() {
    awk '/Total Energy/ { column = index($0, "Total Energy") + 12; getline; print substr($0, column - 15, 15) + 0 }' "$1" |
        head -n 3
}

# simulate NAME RANKS OPTION...
simulate() {
    local name=$1 ranks=$2
    shift 2
    mpi "$ranks" "$name.out" gmx_mpi_d mdrun -s water.tpr -deffnm "$name" -ntomp 1 -reprod "$@"
    grep -q 'Finished mdrun' "$name.log" || fail "$name did not finish" "$name.log"
    total_energies "$name.log" >"$name.energies"
    [ "$(wc -l <"$name.energies")" = 3 ] || fail "$name: three energies expected in its log" "$name.log"
}

simulate one 1
simulate two 2
simulate four 4 -npme 0
simulate mesh 3 -npme 1
first=$(head -n 1 one.energies)
awk -v e="$first" 'BEGIN { exit !(e < -6000 && e > -9500) }' || fail "$first kJ/mol is not the energy of 216 waters"
for name in two four mesh; do
    while read -r one other; do
        close_to "$one" "$other" 0.5 "total energy of one rank and of '$name'"
    done < <(paste one.energies $name.energies)
done
