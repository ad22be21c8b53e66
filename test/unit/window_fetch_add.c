/* SPDX-License-Identifier: BSD-3-Clause */

/* tern_window_fetch_add, which other rooms use without a window of the user: gives each value once,
 * without an epoch, by loads and stores and by messages. */

#include "require.h"

#include "lib/mpi/object/comm.h"
#include "lib/rma/window.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void count(void)
{
    static int64_t counters[2];
    struct tern_comm *comm;
    struct tern_window window = {0};
    struct tern_rma_offer offer;
    REQUIRE(tern_comm_make(&tern_comm_world, tern_comm_world.group, &comm) == 0, "no communicator");
    tern_window_offer(&window, &comm->p2p, counters, sizeof counters, sizeof *counters, &offer);
    REQUIRE(tern_window_open(&window, &comm->p2p, false, false, &offer) == 0, "no window");
    for (int64_t i = 0; i < 5; i++) {
        int64_t before = -1;
        REQUIRE(tern_window_fetch_add(&window, 0, 1, 3, &before) == 0, "refused");
        REQUIRE(before == 3 * i, "got %lld, expected %lld", (long long)before, (long long)(3 * i));
    }
    REQUIRE(tern_window_fetch_add(&window, 0, 2, 3, &counters[0]) == TERN_ERR_RMA_RANGE,
            "a place behind the window is accepted");
    REQUIRE(tern_window_finish(&window) == 0, "does not end");
    tern_window_close(&window);
    tern_comm_release(comm);
    REQUIRE(counters[0] == 0 && counters[1] == 15, "%lld and %lld, expected 0 and 15",
            (long long)counters[0], (long long)counters[1]);
}

int main(void)
{
    static const char *const ways[] = {"auto", "asked"};
    for (int i = 0; i < 2; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            setenv("OMPI_MCA_rma_mechanism", ways[i], 1);
            MPI_Init(NULL, NULL);
            count();
            MPI_Finalize();
            exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child && status == 0, "rma_mechanism %s: status %d",
                ways[i], status);
    }
    return 0;
}
