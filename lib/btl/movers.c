/* SPDX-License-Identifier: BSD-3-Clause */

/* The byte movers of the library. The library of test/strict has another list in place of this
 * file. */

#include "lib/btl/btl.h"

extern const struct tern_btl tern_btl_self, tern_btl_shm, tern_btl_ipc, tern_btl_ofi, tern_btl_tcp;

const struct tern_btl *const tern_btls[] = {&tern_btl_self, &tern_btl_shm, &tern_btl_ipc,
                                            &tern_btl_ofi,  &tern_btl_tcp, NULL};
_Static_assert(sizeof tern_btls / sizeof *tern_btls <= TERN_BTLS_MAX + 1, "more byte movers");
