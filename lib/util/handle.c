/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/handle.h"

int tern_threads;
