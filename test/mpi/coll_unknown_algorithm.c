/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3; needs: MPI_Ibarrier;
   env: OMPI_MCA_coll_barrier_algorithm=bogus OMPI_MCA_coll_bcast_algorithm=bogus OMPI_MCA_coll_gather_algorithm=bogus OMPI_MCA_coll_scatter_algorithm=bogus OMPI_MCA_coll_allgather_algorithm=bogus OMPI_MCA_coll_allgatherv_algorithm=bogus OMPI_MCA_coll_alltoall_algorithm=bogus OMPI_MCA_coll_alltoallv_algorithm=bogus OMPI_MCA_coll_alltoallw_algorithm=bogus OMPI_MCA_coll_reduce_algorithm=bogus OMPI_MCA_coll_allreduce_algorithm=bogus OMPI_MCA_coll_reduce_scatter_algorithm=bogus OMPI_MCA_coll_reduce_scatter_block_algorithm=bogus OMPI_MCA_coll_scan_algorithm=bogus OMPI_MCA_coll_exscan_algorithm=bogus;
   output: (?s)(?=.*coll_barrier_algorithm is "bogus"[^\n]*known are: [^\n]*dissemination)(?=.*coll_bcast_algorithm is "bogus"[^\n]*known are: [^\n]*two_tree)(?=.*coll_gather_algorithm is "bogus"[^\n]*known are: [^\n]*binomial)(?=.*coll_scatter_algorithm is "bogus"[^\n]*known are: [^\n]*binomial)(?=.*coll_allgather_algorithm is "bogus"[^\n]*known are: [^\n]*neighbor_exchange)(?=.*coll_allgatherv_algorithm is "bogus"[^\n]*known are: [^\n]*ring)(?=.*coll_alltoall_algorithm is "bogus"[^\n]*known are: [^\n]*k_bruck)(?=.*coll_alltoallv_algorithm is "bogus"[^\n]*known are: [^\n]*frames)(?=.*coll_alltoallw_algorithm is "bogus"[^\n]*known are: [^\n]*frames)(?=.*coll_reduce_algorithm is "bogus"[^\n]*known are: [^\n]*halving)(?=.*coll_allreduce_algorithm is "bogus"[^\n]*known are: [^\n]*swing)(?=.*coll_reduce_scatter_algorithm is "bogus"[^\n]*known are: [^\n]*pairwise)(?=.*coll_reduce_scatter_block_algorithm is "bogus"[^\n]*known are: [^\n]*pairwise)(?=.*coll_scan_algorithm is "bogus"[^\n]*known are: [^\n]*chain)(?=.*coll_exscan_algorithm is "bogus"[^\n]*known are: [^\n]*chain) */
/* An algorithm that there is not is told, with those that there are, for each collective; and the call works. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int n = size, in[64], out[64], ones[64], places[64], bytes[64];
    MPI_Datatype types[64];
    MPI_Comm world = MPI_COMM_WORLD;
    for (int i = 0; i < 64; i++) {
        in[i] = ones[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    CHECK_OK(MPI_Barrier(world));
    CHECK_OK(MPI_Bcast(in, 1, MPI_INT, 0, world));
    CHECK_OK(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, world));
    CHECK_OK(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, world));
    CHECK_OK(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, world));
    CHECK_OK(MPI_Allgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, world));
    CHECK_OK(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, world));
    CHECK_OK(MPI_Alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, world));
    CHECK_OK(MPI_Alltoallw(in, ones, bytes, types, out, ones, bytes, types, world));
    CHECK_OK(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, world));
    CHECK_OK(MPI_Reduce_scatter(in, out, ones, MPI_INT, MPI_SUM, world));
    CHECK_OK(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, world));
    CHECK_OK(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, world));
    CHECK_OK(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, world));
    CHECK_OK(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, world));
    CHECK_INT(out[0], n);
    return end();
}
