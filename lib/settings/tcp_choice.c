/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/tcp_choice.h"

#include "lib/settings/param.h"
#include "lib/util/base/error.h"

#include <string.h>

/* Returns who set `name`: "default", "environment", "option" (mpirun's command line), or a file. */
static const char *who_set(const char *name)
{
    const char *source = tern_param_source(name);
    return strcmp(source, "tool") == 0 ? "option" : source;
}

/* 0: not set; 1: in a file; 2: in the environment or on the command line. */
static int strength(const char *name)
{
    const char *who = who_set(name);
    if (strcmp(who, "default") == 0)
        return 0;
    return strcmp(who, "environment") == 0 || strcmp(who, "option") == 0 ? 2 : 1;
}

int tern_tcp_filter_choose(const char *include, const char *exclude, bool *ret_include)
{
    const char *wanted = tern_param_string(include);
    int with = wanted && *wanted ? strength(include) : 0, without = strength(exclude);
    *ret_include = with > without;
    if (with && with == without)
        return tern_error(TERN_ERR_ARG, "%s (%s) and %s (%s) are both set; set only one of them",
                          include, who_set(include), exclude, who_set(exclude));
    return 0;
}

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
