/* SPDX-License-Identifier: BSD-3-Clause */

/* The level of checks, and the gate of the entry points. */

#include "lib/mpi/check/gate.h"

#include "lib/mpi/running.h"
#include "lib/util/handle.h"
#include "lib/util/log.h"
#include "lib/util/param.h"

#include <string.h>

_Atomic int tern_checks = TERN_CHECK_BASIC;
_Atomic int tern_gate = 1;

void tern_gate_update(void)
{
    tern_gate = !tern_running() || tern_check_full();
}

void tern_check_init(void)
{
    static const char *const names[] = {"none", "basic", "full"};
    const char *wanted = tern_param_string("check_level");

    for (int level = 0; level < 3; level++)
        if (strcmp(wanted, names[level]) == 0) {
            tern_checks = level;
            tern_object_keep_freed(tern_check_full());
            return;
        }
    tern_checks = TERN_CHECK_BASIC;
    tern_log("parameter check_level is \"%s\"; expected none, basic or full; basic is taken",
             wanted);
}

void tern_check_finalize(void)
{
    if (tern_check_full())
        tern_check_say_leaks();
    tern_checks = TERN_CHECK_BASIC;
    tern_object_keep_freed(false);
}
