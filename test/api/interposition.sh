#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A profiler that is preloaded and defines the MPI_ names sees every call of a program, and none of the library to itself
# (api/interpose.py): all procedures of the table by programs that call each at least once, and some that communicate a lot.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
generated=$TERN_BUILDDIR/lib/generated
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0

"$MPICC" -w -shared -fPIC "$generated/interpose.c" -o "$scratch/interpose.so" -ldl

# Every procedure that works is one that the tool defines. Names in capitals are callbacks, as Fortran spells them.
procedures() {
    nm -D --defined-only "$1" |
        awk '$3 ~ /^(MPIX?|OMPI_Affinity)_/ && $3 !~ /^MPI_[A-Z_]+$/ && $2 != "B" && $2 != "D" { print $3 }' | sort
}
procedures "$("$MPICC" -showme:libdirs)/libmpi.so.40" | grep -vx 'MPI_F_STATUS.*IGNORE' >"$scratch/names"
"$(dirname "$MPICC")/mpi_info" --parsable --procedures | sed -n 's/^procedure:\(.*\):no$/\1/p' | sort >"$scratch/absent"
comm -23 "$scratch/names" "$scratch/absent" >"$scratch/exported"
procedures "$scratch/interpose.so" >"$scratch/wrapped"
[ -s "$scratch/exported" ]
diff "$scratch/exported" "$scratch/wrapped"

# run RANKS PROGRAM.c
run() {
    local ranks=$1 program=$2 name status=0
    name=$(basename "$program" .c)
    "$MPICC" -w -DOMPI_BUILDING=1 -include "$generated/interpose.h" -I"$TERN_SRCDIR/test/mpi" "$program" \
        "$scratch/interpose.so" -Wl,-rpath,"$scratch" -o "$scratch/$name" -lpthread -lm
    LD_PRELOAD=$scratch/interpose.so timeout -k 30 300 \
        "$MPIRUN" --oversubscribe -n "$ranks" "$scratch/$name" >"$scratch/out" 2>&1 || status=$?
    if [ $status != 0 ] || [ "$(grep -cE '^interposed: [0-9]+ procedures, [0-9]+ calls, 0 wrong$' "$scratch/out")" != "$ranks" ]; then
        echo "$name on $ranks ranks: exit status $status"
        tail -n 20 "$scratch/out"
        exit 1
    fi
    echo "$name: $(grep -m 1 '^interposed:' "$scratch/out")"
}

run 2 "$generated/bad_arguments.c"
[ "$(sed -n 's/^interposed: \([0-9]*\) procedures.*/\1/p' "$scratch/out" | head -n 1)" -gt 300 ]
for program in attribute_callbacks bsend_buffer coll_persistent comm_split intercomm_collectives mprobe_mrecv \
    random_collectives thread_multiple_objects tool_pvars type_pack_unpack waitsome_drains_all; do
    run 2 "$TERN_SRCDIR/test/mpi/$program.c"
done
for program in comm_create dist_graph neighbor_collectives; do
    run 4 "$TERN_SRCDIR/test/mpi/$program.c"
done
