/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/event.h"

uint32_t tern_event_mask;
void (*tern_event_raise)(enum tern_event type, const void *comm, const int64_t *values);
