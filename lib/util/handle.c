/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/handle.h"

_Atomic int tern_threads;
