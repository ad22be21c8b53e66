#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpicc and its kin: what they add and when, what they print, what the environment changes, whose exit status it is.
set -eu
bin=$(dirname "$MPICC")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$TERN_SRCDIR/test/tools/rank_sum.c" .
failures=0

# expect WHAT PATTERN COMMAND...: the whole output, on one line, matches the extended regular expression
expect() {
    local what=$1 pattern=$2 output
    shift 2
    output=$("$@" 2>&1 </dev/null | tr '\n' ' ') || true
    if ! [[ $output =~ ^${pattern}\ $ ]]; then
        printf '%s: %s\n  gives   %s\n  wanted  %s\n' "$what" "$*" "$output" "$pattern"
        failures=$((failures + 1))
    fi
}
# status WANTED COMMAND...
status() {
    local wanted=$1 got=0
    shift
    "$@" >out 2>&1 </dev/null || got=$?
    if [ $got != "$wanted" ]; then
        printf 'exit status %d instead of %d: %s\n' $got "$wanted" "$*"
        cat out
        failures=$((failures + 1))
    fi
}

# a compiler of several words (ccache gcc) stands as it was configured
literal() { sed 's/[][().*+?^${}|\\]/\\&/g'; }
cc=$("$MPICC" -showme:command | literal)
cxx=$("$bin/mpicxx" -showme:command | literal)
compile='-I[^ ]+/include( -fsan[^ ]+ -fno-omit-frame-pointer)?'
link='-L[^ ]+( -fsan[^ ]+ -fno-omit-frame-pointer)?( -Wl,-rpath -Wl,[^ ]+ -Wl,--enable-new-dtags)? -lmpi'

expect "all options" "$cc $compile $link" "$MPICC" -showme
expect "Open MPI's other name" "$cc $compile $link" "$MPICC" -show
expect "two dashes" "$link" "$MPICC" --showme:link
expect "compile options" "$compile" "$MPICC" -showme:compile
expect "compiler" ".*(gcc|clang|cc).*" "$MPICC" -showme:command
expect "C++ compiler" "g\+\+.*" "$bin/mpicxx" -showme:command
expect "mpic++" "g\+\+.*" "$bin/mpic++" -showme:command
expect "mpiCC" "g\+\+.*" "$bin/mpiCC" -showme:command
expect "header directories" "[^- ][^ ]*/include" "$MPICC" -showme:incdirs
expect "library directories" "[^- ][^ ]*/lib[^ ]*" "$MPICC" -showme:libdirs
expect "libraries" "mpi" "$MPICC" -showme:libs
expect "version" "mpicc: .*Open MPI 5\.0\.7 \(Language: C\)" "$MPICC" -showme:version
expect "C++ version" "mpicxx: .*Open MPI 5\.0\.7 \(Language: C\+\+\)" "$bin/mpicxx" -showme:version
expect "help" "Usage: .*-showme:libs.*" "$MPICC" -showme:help
expect "MPICH's -compile-info" "$cc $compile -c" "$MPICC" -compile-info
expect "MPICH's -link-info" "$cc $compile $link" "$MPICC" -link-info
status 1 "$MPICC" -showme:nonsense

expect "linking" "$cc -O2 a\.c -o a $compile $link" "$MPICC" -showme -O2 a.c -o a
expect "objects too" "$cc a\.o $compile $link" "$MPICC" -showme a.o
for option in -c -E -S -M -MM -fsyntax-only; do
    expect "$option does not link" "$cc $option a\.c $compile" "$MPICC" -showme $option a.c
done
expect "no file, no options" "$cc --version" "$MPICC" -showme --version
expect "quoted for a shell" "$cc '-DTEXT=\"a b\"' -c a\.c $compile" "$MPICC" -showme -DTEXT='"a b"' -c a.c

expect "OMPI_CC of several words" "ccache clang -m64 -c a\.c $compile" \
    env OMPI_CC="ccache  clang -m64" "$MPICC" -showme -c a.c
expect "OMPI_CXX" "clang\+\+ -c a\.c $compile" env OMPI_CXX=clang++ OMPI_CC=no "$bin/mpicxx" -showme -c a.c
expect "flags of C" "$cc -c a\.c -I[^ ]+ -Dpre -Dc" \
    env OMPI_CPPFLAGS=-Dpre OMPI_CFLAGS=-Dc OMPI_CXXFLAGS=-Dcxx "$MPICC" -showme -c a.c
expect "flags of C++" "$cxx -c a\.c -I[^ ]+ -Dpre -Dcxx" \
    env OMPI_CPPFLAGS=-Dpre OMPI_CFLAGS=-Dc OMPI_CXXFLAGS=-Dcxx "$bin/mpicxx" -showme -c a.c
expect "link flags" "-L[^ ]+ -Lmine( -Wl,[^ ]+)* -lmpi -lmine" \
    env OMPI_LDFLAGS=-Lmine OMPI_LIBS="-lmpi -lmine" "$MPICC" -showme:link
expect "OPAL_PREFIX" "/elsewhere/lib[^ ]*" env OPAL_PREFIX=/elsewhere "$MPICC" -showme:libdirs
expect "no such compiler" ".*'no-such-compiler'.*OMPI_CC" env OMPI_CC=no-such-compiler "$MPICC" -c rank_sum.c
status 1 env OMPI_CC=no-such-compiler "$MPICC" -c rank_sum.c

printf '#!/bin/sh\nexit 42\n' >compiler
chmod +x compiler
status 42 env OMPI_CC=./compiler "$MPICC" -c rank_sum.c
status 0 "$MPICC" -Wall -Werror rank_sum.c -o from_c
status 0 "$bin/mpicxx" -Wall -Werror -x c++ rank_sum.c -o from_cxx
status 0 "$MPIRUN" -n 2 ./from_c
status 0 "$MPIRUN" -n 2 ./from_cxx

# Fortran
fc=$("$bin/mpifort" -showme:command | literal)
modules='-I[^ ]+/include( -I[^ ]+/fortran/[^ ]+)?( -fsan[^ ]+ -fno-omit-frame-pointer)?'
all_libraries='-lmpi_usempif08 -lmpi_usempi_ignore_tkr -lmpi_mpifh'
for name in mpifort mpif90 mpif77; do
    expect "Fortran" "$fc $modules ${link% *} $all_libraries -lmpi" "$bin/$name" -showme
    expect "Fortran version" "$name: .*Open MPI 5\.0\.7 \(Language: Fortran\)" "$bin/$name" -showme:version
done
expect "Fortran libraries" "mpi_usempif08 mpi_usempi_ignore_tkr mpi_mpifh mpi" "$bin/mpifort" -showme:libs
expect "OMPI_FC" "other-fc -c a\.f90 -I[^ ]+/include -DX" \
    env OMPI_FC=other-fc OMPI_FCFLAGS=-DX "$bin/mpifort" -showme -c a.f90
expect "no modules" "mpifort: the modules .*'true'.*tern-fortran-modules.*" \
    env OMPI_FC=true "$bin/mpifort" -c rank_sum.f90
expect "long integers" "mpifort: -fdefault-integer-8 .* 4; declare .*" \
    "$bin/mpifort" -fdefault-integer-8 -c rank_sum.f90
status 1 "$bin/mpifort" -fdefault-integer-8 -c rank_sum.f90
expect "no such compiler" ".*no compiler 'no-such'.*" "$bin/tern-fortran-modules" no-such
cp "$TERN_SRCDIR/test/tools/rank_sum.f90" .
status 0 "$bin/mpifort" rank_sum.f90 -o from_fortran
status 0 "$MPIRUN" -n 2 ./from_fortran
# another directory for the modules, as for another compiler
status 0 "$bin/tern-fortran-modules" --to elsewhere "$("$bin/mpifort" -showme:command)"
[ -r elsewhere/mpi_f08.mod ] || { echo "no elsewhere/mpi_f08.mod"; failures=$((failures + 1)); }

# A RUNPATH, so that the caller's LD_LIBRARY_PATH still comes first; none in /usr.
if [[ $("$MPICC" -showme:link) = *rpath* ]]; then
    readelf -dW from_c | grep -q 'RUNPATH' || { echo "from_c has no RUNPATH"; failures=$((failures + 1)); }
    ! readelf -dW from_c | grep -q 'RPATH' || { echo "from_c has an RPATH"; failures=$((failures + 1)); }
fi
[ $failures = 0 ]
