#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two parts of one process, compiled for two interfaces, share one MPI: it starts once, both compute in turn, one ends it.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TERN_PREFIX/bin/mpicc_abi" -shared -fPIC "$TERN_SRCDIR/test/face/plugin.c" -o standard.so
"$TERN_PREFIX/bin/mpicc" -shared -fPIC "$TERN_SRCDIR/test/face/plugin.c" -o openmpi.so
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int (*work[2])(int), got[2];
    void (*finish)(void) = 0;
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return printf("%s\n", dlerror());
        work[i] = (int (*)(int))dlsym(library, "work");
        finish = (void (*)(void))dlsym(library, "finish");
    }
    for (int turn = 0; turn < 4; turn++)
        got[turn % 2] = work[turn % 2](turn);
    finish();
    return argc != 3 || got[0] != 6 || got[1] != 9;
}
C
cc -w main.c -o main -ldl
for order in './standard.so ./openmpi.so' './openmpi.so ./standard.so'; do
    # shellcheck disable=SC2086  # two words
    "$MPIRUN" --oversubscribe -n 3 ./main $order >out 2>&1 || { cat out; exit 1; }
    [ "$(grep -c '^MPI-[45]: sum [0369], right 1$' out)" = 4 ] || { cat out; exit 1; }
    grep -q '^MPI-5' out
    grep -q '^MPI-4' out
done
