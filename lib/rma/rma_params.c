/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of windows. `mpi_info --param all all` prints them. */

#include "lib/settings/setting.h"

/* A row omits members it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_setting rma[] = {
    {"rma_mechanism", TERN_PARAM_STRING, "auto", "",
     "How operations on windows reach their target, where it is possible: mapped (memory that all "
     "ranks of the node have mapped), pulled (copied by the system) or asked (messages to the "
     "target).",
     "auto|mapped|pulled|asked", TERN_PARAM_AT_START, TERN_PARAM_ALL_EQUAL, .internal = true},
    {"rma_direct", TERN_PARAM_STRING, "auto", "",
     "Whether a network with remote memory access (libfabric) copies puts and gets of one run "
     "straight to and from the memory of a target on another host: auto (where nobody can guess "
     "the key of that memory), yes (wherever it is possible) or no.",
     "auto|yes,1|no,0", TERN_PARAM_AT_START, TERN_PARAM_LOCAL},
    {.name = "rma_alloc_mem_from", .type = TERN_PARAM_SIZE, .preset = "4k", .unit = "bytes",
     .help = "MPI_Alloc_mem takes blocks of this size and larger from the memory that all ranks of "
             "the node have mapped, if there are several. Then windows of such blocks are mapped, "
             "too. 0: never.",
     .when = TERN_PARAM_ANY_TIME, .scope = TERN_PARAM_LOCAL, .least = 0, .most = INT64_MAX},
};

const struct tern_param_room tern_params_rma = {"rma", TERN_PARAM_ROWS(rma),
                                                "Windows: one-sided communication."};
