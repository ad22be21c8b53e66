/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_NOTIFY_H
#define TERN_MPIRUN_SERVE_PMIX_NOTIFY_H

#include "mpirun/wire/frame.h"

/* Passes an event of another host's rank on to the ranks of this host: a frame TERN_FRAME_NOTIFY.
 */
void tern_pmix_notify(const struct tern_frame *frame);

#endif
