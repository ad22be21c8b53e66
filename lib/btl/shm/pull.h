/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_PULL_H
#define TERN_SHM_PULL_H

/* Copies a long message straight from its sender's memory (process_vm_readv). */

#include "lib/btl/btl.h"

/* Reads the parameter btl_shm_single_copy. */
void tern_shm_pull_init(void);

/* Implements struct tern_btl's get. Always ends the transfer before it returns 0; with
 * TERN_ERR_UNSUPPORTED if the rest goes faster through the ring or can only go there. */
int tern_shm_pull(struct tern_transfer *transfer);

#endif
