/* SPDX-License-Identifier: BSD-3-Clause */
/* The byte movers of this library: those of libmpi, and strict. */
#include "lib/btl/btl.h"

extern const struct tern_btl tern_btl_self, tern_btl_strict, tern_btl_shm, tern_btl_tcp;

const struct tern_btl *const tern_btls[] = {&tern_btl_self, &tern_btl_strict, &tern_btl_shm, &tern_btl_tcp, NULL};
