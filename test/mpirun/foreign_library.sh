#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that load another MPI library than mpirun's: one warning in a job, which names the program, both libraries, who led the
# dynamic linker there, and the cure. The other libraries are made here: one that connects by PMIx, one that does not.
. "$(dirname "$0")/check.bash"
# An absolute path to mpirun would put its own library first.
run() {
    limit "$MPIRUN" --noprefix "$@" >out 2>err
    rc=$?
}
here_cc=${CC:-cc}
own=$("$MPICC" -showme:libdirs)
mkdir other
cat >library.c <<'C'
#include <pmix.h>
#include <unistd.h>
int MPI_Init(int *argc, char ***argv)
{
    static pmix_proc_t self;
    (void)argc, (void)argv;
    return PMIx_Init(&self, NULL, 0);
}
int MPI_Finalize(void)
{
    while (access("waits", F_OK) == 0)
        usleep(10000);
    return PMIx_Finalize(NULL, 0);
}
C
cat >alone.c <<'C'
#include <unistd.h>
int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}
int MPI_Finalize(void) /* in a test that waits, when somebody says so */
{
    while (access("waits", F_OK) == 0)
        usleep(10000);
    return 0;
}
C
cat >main.c <<'C'
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int main(int argc, char **argv)
{
    return MPI_Init(&argc, &argv) || MPI_Finalize();
}
C
cat >host.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[argc - 1], RTLD_NOW);
    int (*run)(int, char **) = plugin ? (int (*)(int, char **))dlsym(plugin, "main") : 0;
    return run ? run(argc, argv) : 9;
}
C
cat >opener.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv) /* opens a library by its path, and then a module that needs it */
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL), *module = dlopen(argv[2], RTLD_NOW);
    int (*run)(int, char **) = module ? (int (*)(int, char **))dlsym(module, "main") : 0;
    return library && run ? run(argc, argv) : 9;
}
C
cat >named.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    int (*init)(int *, char ***) = library ? (int (*)(int *, char ***))dlsym(library, "MPI_Init") : 0;
    int (*finalize)(void) = library ? (int (*)(void))dlsym(library, "MPI_Finalize") : 0;
    return !init || init(&argc, &argv) || finalize();
}
C
cat >tern.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1 && system(argv[1]) != 0) /* a program of another MPI, which is not a rank */
        return 1;
    MPI_Finalize();
    return 0;
}
C
{
    # shellcheck disable=SC2086
    $here_cc -shared -fPIC -Wl,-soname,libmpi.so.40 -o other/libmpi.so.40 library.c $LIBPMIX_FLAGS &&
        $here_cc -shared -fPIC -Wl,-soname,libmpich.so.12 -o other/libmpich.so.12 alone.c &&
        $here_cc -o plain main.c other/libmpi.so.40 &&
        $here_cc -o runpath main.c other/libmpi.so.40 "-Wl,-rpath,\$ORIGIN/other" -Wl,--enable-new-dtags &&
        $here_cc -o rpath main.c other/libmpi.so.40 "-Wl,-rpath,$PWD/other" -Wl,--disable-new-dtags &&
        $here_cc -shared -fPIC -o plugin.so main.c other/libmpi.so.40 "-Wl,-rpath,$PWD/other" -Wl,--enable-new-dtags &&
        $here_cc -o host host.c -ldl &&
        $here_cc -o named named.c -ldl &&
        $here_cc -o opener opener.c -ldl &&
        mkdir mpi4py && $here_cc -shared -fPIC -o mpi4py/MPI.openmpi.test.so main.c other/libmpi.so.40 &&
        $here_cc -o mpich main.c other/libmpich.so.12 "-Wl,-rpath,$PWD/other" &&
        "$MPICC" -o tern tern.c
} || { echo "cannot build the programs"; exit 1; }

# warned WHAT REGEX: once, with both libraries
warned() {
    is "$1: exit status" "$rc" 0
    is "$1: warnings" "$(grep -c '; this mpirun belongs to' err)" 1
    has "$1" err "has loaded $PWD/other/libmpi\.so\.40; this mpirun belongs to $own/libmpi\.so\.40\. $2, or start"
}
run --oversubscribe -np 3 ./runpath
warned "DT_RUNPATH" "The DT_RUNPATH of $PWD/runpath names $PWD/other: set LD_LIBRARY_PATH=$own, which comes before it"
has "the program" err ": $PWD/runpath has loaded"
run --oversubscribe -np 2 ./rpath
warned "DT_RPATH" "The DT_RPATH of $PWD/rpath names $PWD/other, and comes before LD_LIBRARY_PATH: set LD_PRELOAD=$own/libmpi.so.40, .*"
LD_LIBRARY_PATH=/nowhere:$PWD/other:$own run --oversubscribe -np 2 ./plain
warned "LD_LIBRARY_PATH" "LD_LIBRARY_PATH names $PWD/other first: put $own in front of it"
cat >R <<SH
#!/bin/sh
R_HOME=/usr/lib/R LD_LIBRARY_PATH=$PWD/other:\$LD_LIBRARY_PATH ./plain
exit \$?
SH
chmod +x R
LD_LIBRARY_PATH=$own run --oversubscribe -np 2 ./R
warned "R" "R puts $PWD/other in front of LD_LIBRARY_PATH: set R_LD_LIBRARY_PATH=$own:/usr/lib/R/lib"
# R as it is: it has a variable for these directories, which mpirun sets as it does LD_LIBRARY_PATH; R's own libraries are still found
mkdir -p home/bin/exec home/lib
echo 'int at_home(void) { return 0; }' >home.c
echo 'int at_home(void); int MPI_Init(int *, char ***); int MPI_Finalize(void);
int main(int argc, char **argv) { return at_home() || MPI_Init(&argc, &argv) || MPI_Finalize(); }' >r.c
$here_cc -shared -fPIC -Wl,-soname,libhome.so -o home/lib/libhome.so home.c &&
    $here_cc -o home/bin/exec/R r.c home/lib/libhome.so other/libmpi.so.40 || complain "cannot build R"
cat >R <<SH
#!/bin/sh
: \${R_LD_LIBRARY_PATH=$PWD/home/lib:$PWD/other}
LD_LIBRARY_PATH=\$R_LD_LIBRARY_PATH:\$LD_LIBRARY_PATH $PWD/home/bin/exec/R
exit \$?
SH
run --prefix "${own%/lib*}" --oversubscribe -np 2 ./R
is "R and --prefix" "$rc $(cat err)" "0 "
run --prefix "${own%/lib*}" --oversubscribe -np 2 -x R_LD_LIBRARY_PATH="$PWD/home/lib:$PWD/other" ./R
is "R, --prefix and the user's directories" "$rc $(cat err)" "0 "
run --oversubscribe -np 2 -x LD_PRELOAD="$PWD/other/libmpi.so.40" ./plain
warned "LD_PRELOAD" "LD_PRELOAD names it: remove it there"
ln -s other/libmpi.so.40 byname.so
run --oversubscribe -np 2 ./named "$PWD/byname.so"
warned "dlopen by a path" "None of its libraries needs it, so the program itself opens it by name: make it open $own/libmpi.so.40"
cp mpi4py/MPI.openmpi.test.so module.so
for path in "" $own; do
    LD_LIBRARY_PATH=$path run --oversubscribe -np 2 ./opener "$PWD/other/libmpi.so.40" "$PWD/mpi4py/MPI.openmpi.test.so"
    warned "a wheel of mpi4py" "mpi4py opens it by its path, and LD_LIBRARY_PATH does not count: set MPI4PY_LIBMPI=$own/libmpi.so.40"
done
LD_LIBRARY_PATH=$own run --oversubscribe -np 2 ./opener "$PWD/other/libmpi.so.40" "$PWD/module.so"
warned "a module's library by a path" "LD_LIBRARY_PATH leads to the right one, so the program opens this one by its path: make it open .*"
run --oversubscribe -np 2 ./host ./plugin.so
warned "a module" "The DT_RUNPATH of $PWD/plugin.so names .*"
has "the module" err ": $PWD/plugin.so in $PWD/host has loaded"
run --oversubscribe -np 1 true : -np 2 sh -c './runpath; true'
warned "one program of two" "The DT_RUNPATH of .*"
has "of the ranks that do" err "rank [12] on host .*has loaded"

run -q --oversubscribe -np 2 ./runpath
is "no advice is wanted" "$rc $(wc -l <err)" "0 0"

# on other hosts
printf '#!/bin/sh\nshift\nexec "$@"\n' >reach
chmod +x reach
OMPI_MCA_plm_rsh_agent=$PWD/reach run --oversubscribe --host 'far1:2,far2:2' ./runpath
warned "other hosts" "The DT_RUNPATH of .*"
OMPI_MCA_plm_rsh_agent=$PWD/reach run --oversubscribe --host 'far1:1,far2:1' ./mpich
is "another interface on other hosts" "$rc $(grep -c 'needs libmpich.so.12' err)" "0 1"

# a library with another interface
run --oversubscribe -np 3 ./mpich
is "another interface" "$rc $(grep -c 'needs libmpich.so.12, which is the library of another MPI' err)" "0 1"
is "and no more words" "$(wc -l <err)" 1
touch waits
limit "$MPIRUN" --noprefix --oversubscribe -np 2 sh -c './mpich; true' >out 2>err &
eventually "the ranks' processes are looked at" grep -q 'has loaded' err
rm waits
wait $!
has "never connects" err "$PWD/mpich has loaded $PWD/other/libmpich.so.12; .*has not connected to mpirun.*build the program with Tern's mpicc"
is "never connects: warnings" "$(wc -l <err)" 1

# Tern's own
run --oversubscribe -np 2 ./tern
is "Tern's own programs" "$rc $(wc -l <err)" "0 0"
# ranks of both kinds in one job would wait for each other without end
apart='^mpirun: rank [01] \(pid [0-9]+ on host .*\) and rank [01] \(.*\) have loaded different MPI libraries, so they cannot exchange messages; '
for programs in "./tern : -np 1 ./runpath" "./runpath : -np 1 ./tern"; do
    # shellcheck disable=SC2086 # words
    run --oversubscribe -np 1 $programs
    is "two libraries: $programs" "$rc" 1
    has "two libraries: $programs" err "$apart"
done
OMPI_MCA_plm_rsh_agent=$PWD/reach run --host far1:1,far2:1 -np 1 ./tern : -np 1 ./runpath
is "two libraries on two hosts" "$rc" 1
has "two libraries on two hosts" err "$apart"
run --oversubscribe -np 2 ./tern ./runpath
is "a child with another library" "$rc $(wc -l <err)" "0 0"
# processes that a rank starts: the rank would wait for them without end
"$MPICC" -o spawning "$here/spawning.c" || exit 1
touch waits
for program in mpich runpath; do
    run -n 1 ./spawning foreign "$PWD/$program"
    is "spawned: $program" "$rc $(grep -c '^class MPI_ERR_SPAWN' out)" "50 1"
    has "spawned: $program" err 'MPI_Comm_spawn: .*which is the library of another MPI|MPI_Comm_spawn: .*has loaded .*/other/libmpi'
done
rm waits
run --oversubscribe -np 2 true
is "no MPI" "$rc $(wc -l <err)" "0 0"

# Programs that are cut or garbled: mpirun outlives them, whatever their headers say.
for bytes in 8 64 200 1000 9000; do
    head -c $bytes plain >short
    chmod +x short
    run --oversubscribe -np 1 ./short
    has "$bytes bytes of a program" err '^mpirun: '
    hasnt "$bytes bytes of a program" err 'Sanitizer|has loaded'
done
cp plain garbled
printf '\377\377\377\377\377\377\377\177' | dd of=garbled bs=1 seek=32 conv=notrunc 2>/dev/null # where the headers are
run --oversubscribe -np 1 ./garbled
has "a garbled program" err '^mpirun: '
hasnt "a garbled program" err 'Sanitizer|has loaded'
finish
