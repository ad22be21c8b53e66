/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/tree/launch.h"

int tern_launch_parent(const struct tern_launch *launch, int host)
{
    int parent = host < launch->width ? TERN_ROOT : host / launch->width - 1;
    return parent == launch->root_host ? TERN_ROOT : parent;
}

int tern_launch_half_ms(const struct tern_launch *launch)
{
    enum { LEAST_MS = 1000 };
    return launch->timeout_ms / 2 > LEAST_MS ? launch->timeout_ms / 2 : LEAST_MS;
}

void tern_launch_pack(const struct tern_launch *launch, struct tern_parcel *parcel)
{
    tern_parcel_strings(parcel, &launch->words);
    tern_parcel_string(parcel, launch->program);
    tern_parcel_number(parcel, tern_launch_half_ms(launch));
    tern_parcel_number(parcel, launch->silence_ms);
    tern_parcel_number(parcel, launch->width);
    tern_parcel_number(parcel, launch->root_host);
}

void tern_launch_unpack(struct tern_reader *reader, struct tern_launch *ret_launch)
{
    struct tern_launch launch = { 0 };
    tern_read_strings(reader, &launch.words);
    const char *program = tern_read_string(reader);
    launch.program = program ? tern_must_copy(program) : NULL;
    launch.timeout_ms = tern_read_int(reader, 0, 1 << 30);
    launch.silence_ms = tern_read_int(reader, 0, 1 << 30);
    launch.width = tern_read_int(reader, 1, 1 << 20);
    launch.root_host = tern_read_int(reader, -1, 1 << 20);
    reader->bad |= !program || !launch.words.count;
    *ret_launch = launch;
}
