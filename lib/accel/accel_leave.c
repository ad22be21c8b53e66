/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_context.h"
#include "lib/accel/device_kernel.h"
#include "lib/accel/device_pinned.h"
#include "lib/accel/device_runs.h"
#include "lib/accel/device_spare.h"

static void leave(const void *context)
{
    tern_accel_pinned_leave();
    tern_accel_spare_leave(context);
    tern_accel_runs_leave(context);
    tern_accel_kernels_leave(context);
}

void tern_accel_leave(void)
{
    const struct tern_cu_driver *driver = tern_accel_watched ? tern_cu_driver() : NULL;
    if (driver)
        tern_cu_leave_contexts(driver, leave);
}
