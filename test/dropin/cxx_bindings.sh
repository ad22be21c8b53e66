#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs from Open MPI's mpicxx carry its C++ bindings and need libmpi_cxx.so.40, even when they only call C functions. The
# bindings' inline functions mention windows and files; so do programs that resolve all symbols when they start.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/mpicxx.openmpi libopenmpi-dev

# build SOURCE PROGRAM FLAG...: and see that it needs both libraries and loads ours
build() {
    mpicxx.openmpi "${@:3}" -x c++ "$1" -o "$2" >compile.out 2>&1 || fail "$1 does not compile" compile.out
    readelf -d "$2" | grep -q 'NEEDED.*libmpi_cxx\.so\.40' || fail "$2 does not need libmpi_cxx.so.40"
    uses_our_library "./$2"
    grep -qF "libmpi_cxx.so.40 => $libdir/" ldd.out || fail "$2 does not load our libmpi_cxx.so.40" ldd.out
}

build "$TERN_SRCDIR/examples/hello.c" hello -O2
build "$TERN_SRCDIR/examples/hello.c" hello_now -O0 -Wl,-z,now
nm -D hello_now | grep -q ' U MPI_Put$' || fail "hello_now does not mention windows: the test shows nothing"
build "$TERN_SRCDIR/test/dropin/cxx_bindings.cpp" bindings -O2
for ranks in 1 2 4; do
    for program in hello hello_now; do
        mpi $ranks out ./$program
        [ "$(grep -c "^Hello from rank . of $ranks " out)" = $ranks ] || fail "$program on $ranks ranks" out
    done
    mpi $ranks out ./bindings
    [ "$(grep -c ' is right$' out)" = $ranks ] || fail "bindings on $ranks ranks" out
done
