/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/tcp_ports.h"

#include "lib/util/base/error.h"
#include "lib/util/param.h"

#include <string.h>

int tern_tcp_ports_read(int64_t *ret_first, int64_t *ret_last)
{
    static const char lowest[] = "btl_tcp_port_min_v4", number[] = "btl_tcp_port_range_v4";
    int64_t first = tern_param_int(lowest), range = first ? tern_param_int(number) : 1;
    int64_t last = first + range - 1;
    if (last > UINT16_MAX && strcmp(tern_param_source(number), "default"))
        return tern_error(TERN_ERR_ARG,
                          "%s is %ld and %s is %ld, but the last port is %d; expected a range of "
                          "at most %ld. Lower one of them",
                          lowest, (long)first, number, (long)range, UINT16_MAX,
                          (long)(UINT16_MAX - first + 1));
    *ret_first = first;
    *ret_last = last < UINT16_MAX ? last : UINT16_MAX;
    return 0;
}
