/* SPDX-License-Identifier: BSD-3-Clause */

/* The level of checks, and the gate of the entry points. */

#include "lib/mpi/object/gate.h"

#include "lib/mpi/object/running.h"
#include "lib/util/base/handle.h"
#include "lib/settings/param.h"


_Atomic int tern_checks = TERN_CHECK_BASIC;
_Atomic int tern_gate = 1;

void tern_gate_update(void)
{
    tern_gate = !tern_running() || tern_forked || tern_check_full();
}

void tern_check_init(void)
{
    tern_checks = tern_param_choice("check_level"); /* the levels have the choices' order */
    tern_object_keep_freed(tern_check_full());
    if (tern_check_full())
        tern_check_watch_exit();
}

void tern_check_finalize(void)
{
    if (tern_check_full())
        tern_check_say_leaks();
    tern_checks = TERN_CHECK_BASIC;
    tern_object_keep_freed(false);
}
