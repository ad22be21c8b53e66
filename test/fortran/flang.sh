#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The test programs of the three kinds with flang: the installed script compiles its modules, and array sections, handles,
# LOGICALs, statuses and callbacks are as with gfortran.
set -u
flang=
for name in flang flang-new {30..17}; do
    case $name in
    [0-9]*) set -- "flang-$name" "flang-new-$name" ;;
    *) set -- "$name" ;;
    esac
    for candidate; do
        [ -n "$flang" ] || ! command -v "$candidate" >/dev/null || flang=$candidate
    done
done
version=$([ -z "$flang" ] || "$flang" --version 2>/dev/null | sed -n 's/.*flang.* version \([0-9]*\).*/\1/p' | head -n 1)
if [ "${version:-0}" -lt 17 ]; then
    echo "SKIPPED: no flang 17 or later here (Debian: flang-19, 92 MB to fetch, 1.1 GB on disk)"
    exit 77
fi
[ -z "$SAN" ] || { echo "SKIPPED: gcc's sanitizers and flang's do not go together"; exit 77; }
mpifort=$(dirname "$MPICC")/mpifort
modules=$("$MPICC" -showme:libdirs)/fortran/$flang
export OMPI_FC=$flang
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$modules"' EXIT
cd "$scratch" || exit 1
status=0

# complain WHAT FILE
complain() {
    echo "$1"
    head -n 20 "$2"
    status=1
}

# Without its modules the wrapper says what to do.
rm -rf "$modules"
"$mpifort" -c "$TERN_SRCDIR/test/fortran/use_mpi.f90" >out 2>&1 && complain "use_mpi.f90 compiled without modules" out
grep -q 'tern-fortran-modules' out || complain "mpifort does not name tern-fortran-modules:" out
"$(dirname "$MPICC")/tern-fortran-modules" "$flang" >out 2>&1 || { complain "tern-fortran-modules $flang:" out; exit 1; }

generated=$TERN_BUILDDIR/lib/generated
for source in "$TERN_SRCDIR"/test/fortran/{old_style.f,use_mpi.f90,use_mpi_f08.f90,random_sections.f90} \
    "$generated"/{calls,results}_{mpif_h,mpi,mpi_f08}.f90; do
    name=$(basename "$source")
    ranks=2
    [[ $name = calls* ]] && ranks=1
    if ! "$mpifort" -O1 "$source" -o program >out 2>&1; then
        complain "$name does not compile:" out
    elif ! timeout -k 30 300 "$MPIRUN" -n $ranks ./program >out 2>&1 </dev/null || grep -q FAILED out; then
        complain "$name on $ranks ranks:" out
    fi
done
exit $status
