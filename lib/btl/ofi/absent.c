/* SPDX-License-Identifier: BSD-3-Clause */

/* Stands in place of the byte mover ofi in a library that was built without libfabric's headers. */

#include "lib/btl/btl.h"
#include "lib/btl/choice.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/net/fabric_devices.h"
#include "lib/util/base/log.h"

#include <stdio.h>

static int absent_announce(void)
{
    char text[400];
    if (tern_rte.size < 2 || !tern_btl_ofi_possible())
        return 0;
    snprintf(text, sizeof text,
             "this host has a fabric, or btl_ofi_provider names one, but this libmpi was built "
             "without libfabric, so that it uses %s; install libfabric's headers (Debian: "
             "libfabric-dev) and build it again, or set --mca btl ^ofi",
             tern_btl_permitted("tcp") ? "tcp" : "no network");
    tern_rte_remark(TERN_REMARK_FABRIC, text);
    return 0;
}

static void absent_show(void)
{
    tern_fabric_devices_show();
    tern_log("fabric: not used: this libmpi was built without libfabric; install libfabric's "
             "headers (Debian: libfabric-dev) and build it again");
}

static int absent_init(void)
{
    return tern_error(TERN_ERR_UNSUPPORTED, "built without libfabric");
}

static void absent_finalize(void)
{
}

static bool absent_reaches(uint32_t job, uint32_t rank)
{
    (void)job;
    (void)rank;
    return false;
}

const struct tern_btl tern_btl_ofi = {
    .name = "ofi",
    .announce = absent_announce,
    .show = absent_show,
    .init = absent_init,
    .finalize = absent_finalize,
    .reaches = absent_reaches,
};
