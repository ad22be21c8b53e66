/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_PMIX_NOTIFY_H
#define TERN_MPIRUN_SERVE_PMIX_PMIX_NOTIFY_H

#include "mpirun/wire/frame.h"

/* Passes on to the ranks of this host an event of another host's rank, which arrived as
 * TERN_FRAME_NOTIFY. */
void tern_pmix_notify(const struct tern_frame *frame);

#endif
