/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/rails.h"

#include "lib/btl/ofi/fabric/nic.h"
#include "lib/btl/ofi/transfer/read.h"
#include "lib/btl/ofi/wire/failover.h"

#include <string.h>

/* Returns true for a provider that crashes if an endpoint is closed while reads from a dead card
 * are under way: tcp;ofi_rxm of libfabric 1.17. It moves bytes only when it is polled. */
static bool breaks_at_close(void)
{
    return strcmp(tern_ofi_fabric.info->fabric_attr->prov_name, "tcp;ofi_rxm") == 0;
}

/* Closes a port on a rail that is left out. All that it had under way goes by other ports. */
static void leave_port(struct tern_ofi_lane *lane, struct tern_ofi_port *port)
{
    if (breaks_at_close())
        tern_ofi_port_abandon(port);
    else
        tern_ofi_port_close(port);
    tern_ofi_port_left(lane, port);
    tern_ofi_readings_left(lane, port);
}

int tern_ofi_rails_look(struct tern_ofi_lane *lane)
{
    uint64_t now = tern_ofi_now_ms();
    int count = 0;
    if (tern_ofi_fabric.rail_count < 2 || now - lane->rails_ms < TERN_OFI_LOOK_MS)
        return 0;
    lane->rails_ms = now;
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++) {
        struct tern_ofi_port *port = &lane->ports[i];
        if (!tern_ofi_rail_is_dead(i) && !tern_ofi_nic_is_up(tern_ofi_device(i)))
            tern_ofi_rail_leave_out(i, "its link is down");
        /* what the port has delivered is still in its buffers */
        if (tern_ofi_rail_is_dead(i) && port->endpoint && !port->polling) {
            leave_port(lane, port);
            count++;
        }
    }
    return count + tern_ofi_readings_look(lane, now);
}
