#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were built with Debian's Open MPI, and load its library, run on four hosts under our mpirun; and programs that
# load ours run there under Debian's mpirun.openmpi.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
command -v mpicc.openmpi >/dev/null || { echo "there is no mpicc.openmpi; install the package libopenmpi-dev"; exit 1; }
case $(mpirun.openmpi --version 2>/dev/null) in
*' 4.'*) ;;
*) echo "SKIPPED: Open MPI 4's mpirun is wanted; here is $(mpirun.openmpi --version 2>/dev/null | head -n 1)"; exit 77 ;;
esac
for program in hello ring; do
    mpicc.openmpi -o $program "$here/../../examples/$program.c" || { echo "cannot build $program"; exit 1; }
done
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts

# Open MPI believes that every network with an address leads to every host; the one that does is named.
run --hostfile hosts --mca btl_tcp_if_include eth0 ./hello
is "hello" "$rc $(sort out | cut -d, -f1 | tr '\n' ',')" "0 $(for rank in 0 1 2 3 4 5 6 7; do printf 'Hello from rank %d of 8 on n%d,' $rank $((rank / 2 + 1)); done)"
run --hostfile hosts --mca btl_tcp_if_include eth0 --map-by node ./ring
is "ring" "$rc $(cat out)" "0 The token passed 8 ranks and returned with 28"

for program in "$here/../../examples/"{hello,ring}.c "$here/../mpi/random_traffic.c"; do
    "$MPICC" -O1 -I"$here/../mpi" -o "$(basename "$program" .c)" "$program" -lm || { echo "cannot build $program"; exit 1; }
done
# theirs ARGUMENT...: mpirun.openmpi with them on n1, whose daemons find each other by eth0
theirs() {
    timeout -k 30 "$job_limit_s" nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- \
        mpirun.openmpi --allow-run-as-root --hostfile hosts --mca oob_tcp_if_include eth0 "$@" >out 2>err
    rc=$?
}
theirs ./hello
is "our hello" "$rc $(sort out | cut -d, -f1 | tr '\n' ',')" "0 $(for rank in 0 1 2 3 4 5 6 7; do printf 'Hello from rank %d of 8 on n%d,' $rank $((rank / 2 + 1)); done)"
theirs --map-by node ./ring
is "our ring" "$rc $(cat out)" "0 The token passed 8 ranks and returned with 28"
theirs --map-by node ./random_traffic
is "our messages" "$rc" 0
theirs -np 4 --mca btl tcp,self ./random_traffic
is "our messages by TCP alone" "$rc" 0

# A rank that asks their launcher for the job's secret, and gets an error, says so and does not wait for ever.
cat >audit.c <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <pmix.h>
#include <string.h>
static pmix_status_t (*next)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_cbfunc_t, void *);
static pmix_status_t get_nb(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t count,
                            pmix_value_cbfunc_t answer, void *object)
{
    if (!strstr(key, "secret"))
        return next(proc, key, info, count, answer, object);
    answer(PMIX_ERR_NOT_FOUND, NULL, object);
    return PMIX_SUCCESS;
}
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
{
    (void)map, (void)id, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
    (void)index, (void)from, (void)to, (void)flags;
    if (strcmp(name, "PMIx_Get_nb") != 0)
        return symbol->st_value;
    next = (void *)symbol->st_value;
    return (uintptr_t)get_nb;
}
C
cat >one_way.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Recv(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
C
if [ -z "$SAN" ]; then
    # shellcheck disable=SC2086 # words
    ${CC:-cc} -shared -fPIC -o audit.so audit.c ${LIBPMIX_FLAGS%%-L*} || { echo "cannot build audit.so"; exit 1; }
    "$MPICC" -o one_way one_way.c || { echo "cannot build one_way"; exit 1; }
    movers=tcp
    [ "$TERN_HAVE_LIBFABRIC" = no ] || movers+=' ofi'
    for mover in $movers; do
        # shellcheck disable=SC2016 # the rank's own variable
        theirs -np 3 --map-by node -x "OMPI_MCA_btl=$mover,self" -x 'OMPI_MCA_btl_ofi_provider=tcp;ofi_rxm' -x OMPI_MCA_btl_ofi_device=eth0 \
            bash -c '[ "$PMIX_RANK" != 1 ] || export LD_AUDIT=$PWD/audit.so; exec ./one_way'
        is "a secret that does not arrive, $mover" "$rc $(grep -c "rank 1 on host n2: MPI_.*secret.*does not arrive from rank 0 (tern.tcp.secret: NOT-FOUND)" err)" "16 1"
    done
fi

# mpicheck builds its measuring program with theirs and starts it by theirs
mkdir -p theirs/bin
for tool in mpicc mpirun; do
    printf '#!/bin/sh\nexec %s.openmpi "$@"\n' $tool >theirs/bin/$tool
    chmod +x theirs/bin/$tool
done
timeout -k 5 300 nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$TERN_PREFIX/bin/mpicheck" --mpi "$PWD/theirs" -H "n1,n2,n3" \
    --network-only --out report --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0 >out 2>err
rc=$?
[[ $rc = [03] ]] || complain "mpicheck --mpi: exit status $rc"
has "mpicheck --mpi: the library" out '^ok +versions +Open MPI v4'
has "mpicheck --mpi: all pairs" out '^ok +pairs +3 of 3: .*data right$'
hasnt "mpicheck --mpi: nobody is accused" out '^(FAIL|WARN|DATA)'
hasnt "mpicheck --mpi: no figures for our collectives" out 'model.conf'
finish
