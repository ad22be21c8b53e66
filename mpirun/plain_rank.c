/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plain_rank.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "lib/util/base/log.h"
#include "lib/util/base/prefix.h"

/* What is needed of the library, which mpirun is not linked with. Handles are the addresses of its
 * objects, as in mpi.h. */
struct library {
    int (*init)(int *, char ***);
    int (*rank)(void *, int *);
    int (*size)(void *, int *);
    int (*sendrecv)(const void *, int, void *, int, int, void *, int, void *, int, int, void *,
                    void *);
    int (*finalize)(void);
    void *world, *byte;
};

static int load(struct library *library)
{
    char directory[PATH_MAX], path[PATH_MAX + 20];
    tern_prefix_directory(TERN_LIBDIR, directory);
    snprintf(path, sizeof path, "%s/libmpi.so.40", directory);
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        tern_log("cannot load the library: %s", dlerror());
        return -1;
    }
    *(void **)&library->init = dlsym(handle, "MPI_Init");
    *(void **)&library->rank = dlsym(handle, "MPI_Comm_rank");
    *(void **)&library->size = dlsym(handle, "MPI_Comm_size");
    *(void **)&library->sendrecv = dlsym(handle, "MPI_Sendrecv");
    *(void **)&library->finalize = dlsym(handle, "MPI_Finalize");
    library->world = dlsym(handle, "ompi_mpi_comm_world");
    library->byte = dlsym(handle, "ompi_mpi_byte");
    return 0;
}

int tern_plain_rank_run(void)
{
    enum { PEERS_MOST = 64 };
    struct library mpi;
    char out = 0, in;
    int rank, size, error = load(&mpi);
    if (error || mpi.init(NULL, NULL) || mpi.rank(mpi.world, &rank) || mpi.size(mpi.world, &size))
        return 1;
    /* paths exist to ranks that have exchanged messages */
    for (int step = 1; step < size && step <= PEERS_MOST && !error; step++)
        error = mpi.sendrecv(&out, 1, mpi.byte, (rank + step) % size, 0, &in, 1, mpi.byte,
                             (rank - step + size) % size, 0, mpi.world, NULL);
    return error || mpi.finalize();
}
