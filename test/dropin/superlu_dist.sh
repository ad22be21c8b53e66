#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# SuperLU_DIST: its own drivers solve small systems, real and complex, on grids of two and three dimensions.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
examples=(/usr/lib/*/superlu-dist/tests/EXAMPLE)
needs "${examples[0]}/pddrive" libsuperlu-dist-dev
uses_our_library "${examples[0]}/pddrive"

# solves RANKS PROGRAM ARGUMENT...: each printed error of the solution is small
solves() {
    local ranks=$1 program=$2
    shift 2
    mpi "$ranks" out "${examples[0]}/$program" "$@"
    awk '/\|\|X *- *Xtrue\|\|/ {
            for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+e[-+][0-9]+$/) { seen = 1; if ($i + 0 > 1e-8) bad = 1 }
        }
        END { exit !(seen && !bad) }' out || fail "$program: no error of the solution, or a large one" out
}
solves 4 pddrive -r 2 -c 2 "${examples[0]}/g20.rua"
solves 4 pddrive3 -r 1 -c 4 "${examples[0]}/g20.rua"
solves 4 pddrive3d -r 1 -c 1 -d 4 "${examples[0]}/g20.rua"
solves 2 pzdrive -r 2 -c 1 "${examples[0]}/cg20.cua"
