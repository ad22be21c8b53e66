#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs from Open MPI's mpicxx carry its C++ bindings and need libmpi_cxx.so.40, even when they only call C functions. The
# bindings' inline functions mention windows and files; so do programs that resolve all symbols when they start. Those that
# call the bindings do on ours what they do on Open MPI's.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/mpicxx.openmpi libopenmpi-dev
needs /usr/bin/mpirun.openmpi openmpi-bin
theirs=$(mpicxx.openmpi -showme:libdirs)/libmpi_cxx.so.40
[ -e "$theirs" ] || theirs=$(ldconfig -p | awk '/libmpi_cxx\.so\.40 / { print $NF; exit }')

# build PROGRAM ARGUMENT...: and see that it needs both libraries and loads ours
build() {
    local program=$1
    shift
    mpicxx.openmpi -w "$@" -o "$program" >compile.out 2>&1 || fail "$program does not compile" compile.out
    readelf -d "$program" | grep -q 'NEEDED.*libmpi_cxx\.so\.40' || fail "$program does not need libmpi_cxx.so.40"
    uses_our_library "./$program"
    grep -qF "libmpi_cxx.so.40 => $libdir/" ldd.out || fail "$program does not load our libmpi_cxx.so.40" ldd.out
}

build hello -O2 -x c++ "$TERN_SRCDIR/examples/hello.c"
build hello_now -O0 -x c++ "$TERN_SRCDIR/examples/hello.c" -Wl,-z,now
nm -D hello_now | grep -q ' U MPI_Put$' || fail "hello_now does not mention windows: the test shows nothing"
for ranks in 1 2 4; do
    for program in hello hello_now; do
        mpi $ranks out ./$program
        [ "$(grep -c "^Hello from rank . of $ranks " out)" = $ranks ] || fail "$program on $ranks ranks" out
    done
done

# Where virtual functions and bases stand: slot for slot as in Open MPI's library.
slots() {
    "$PYTHON3" - "$1" <<'PY'
import re, subprocess, sys
def lines(*options):
    return subprocess.run(["readelf", "-W", *options, sys.argv[1]], stdout=subprocess.PIPE, text=True).stdout.splitlines()
tables = [line.split() for line in lines("--dyn-syms") if re.search(r" _ZT[VI]N3MPI", line) and " UND " not in line]
words = {int(m[1], 16): m[2] + m[3] for line in lines("-r")
         if (m := re.match(r"([0-9a-f]+) .* R_X86_64_64 +[0-9a-f]+ +([^ @]+)\S*( \+ \w+)", line))}
for _, address, size, *_, name in sorted(tables, key=lambda symbol: symbol[-1]):
    for at in range(0, int(size, 0), 8):
        print(name, at, words.get(int(address, 16) + at, "-"))
PY
}
slots "$theirs" >slots.theirs
slots "$libdir/libmpi_cxx.so.40" >slots.ours
[ "$(wc -l <slots.theirs)" -ge 500 ] || fail "hardly any virtual function found in $theirs" slots.theirs
diff slots.theirs slots.ours >out || fail "virtual functions stand elsewhere" out

# The program with its own copies of what is inline, and with those of libmpi_cxx (cxx_bindings.cpp says how).
build calls -O2 "$TERN_SRCDIR/test/dropin/cxx_bindings.cpp"
build libcalls.so -O0 -fPIC -shared -DNO_MAIN "$TERN_SRCDIR/test/dropin/cxx_bindings.cpp"
cat >main.cpp <<'C'
extern "C" int call_bindings(int, char **);
int main(int argc, char **argv) { return call_bindings(argc, argv); }
C
build calls_library main.cpp -Wl,--no-as-needed -lmpi_cxx -Wl,-rpath,"$PWD" ./libcalls.so
LD_LIBRARY_PATH=$libdir LD_TRACE_LOADED_OBJECTS=1 LD_WARN=1 LD_BIND_NOW=1 LD_DEBUG=bindings ./calls_library 2>&1 |
    grep -c 'libcalls\.so.* to .*/libmpi_cxx\.so\.40.*_ZNK3MPI' >out
[ "$(cat out)" -ge 150 ] || fail "the methods of libmpi_cxx are not those that are called" out

timeout -k 30 300 mpirun.openmpi --allow-run-as-root --oversubscribe -np 4 ./calls >expected 2>err </dev/null ||
    fail "exit status $? on Open MPI" err
[ "$(wc -l <expected)" -ge 900 ] || fail "only $(wc -l <expected) lines on Open MPI" expected
for program in calls calls_library; do
    for arguments in '' threads; do
        mpi 4 both ./$program $arguments
        grep '^rank ' both >out
        diff expected out >differences || fail "$program $arguments prints something else than on Open MPI" differences
        [ "$(grep -c 'MPI::mpi_errno is 6$' both)" = 4 ] || fail "ERRORS_THROW_EXCEPTIONS does not tell of its errors" both
    done
done
OMPI_MCA_check_level=full mpi 4 both ./calls
grep '^rank ' both | diff expected - >differences || fail "at check_level full" differences
