/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of device memory. `mpi_info --param all all` prints them. */

#include "lib/settings/setting.h"

/* A row omits members it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_setting accel[] = {
    {"accel", TERN_PARAM_STRING, "auto", "",
     "Whether buffers may be in device memory. auto: yes if the program has loaded the CUDA driver "
     "when MPI starts, or if the host has an NVIDIA device, so that it may load the driver later; "
     "cuda: yes, the program may load the driver later; none: no buffer is in device memory.",
     "auto|cuda|none", TERN_PARAM_AT_START, TERN_PARAM_LOCAL},
};

const struct tern_param_room tern_params_accel = {"accel", TERN_PARAM_ROWS(accel),
                                                  "Device memory: buffers on GPUs."};
