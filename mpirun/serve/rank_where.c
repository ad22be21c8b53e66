/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/rank_where.h"

#include <stdio.h>
#include <string.h>

void tern_where_pack(const struct tern_where *where, struct tern_parcel *parcel)
{
    tern_parcel_number(parcel, where->rank);
    tern_parcel_number(parcel, where->pid);
    tern_parcel_number(parcel, where->state);
    tern_parcel_number(parcel, where->is_ours);
    tern_parcel_number(parcel, where->cpu_permille);
    tern_parcel_number(parcel, where->waited_s);
    tern_parcel_number(parcel, where->unheard_s);
    tern_parcel_blob(parcel, &where->record, where->waits ? sizeof where->record : 0);
    tern_parcel_string(parcel, where->place);
}

/* Cuts all texts and counts of a record, which a rank may have damaged. */
static void make_valid(struct tern_wait_record *record)
{
    if (record->awaited_count < 0 || record->awaited_count > TERN_AWAITED_SHOWN)
        record->awaited_count = 0;
    record->comm[sizeof record->comm - 1] = '\0';
    record->procedure[sizeof record->procedure - 1] = '\0';
    for (int i = 0; i < TERN_UNASKED_SHOWN; i++)
        record->unasked[i].comm[sizeof record->unasked[i].comm - 1] = '\0';
}

void tern_where_unpack(struct tern_reader *reader, struct tern_where *ret_where)
{
    size_t size;
    *ret_where = (struct tern_where){0};
    ret_where->rank = (int32_t)tern_read_number(reader);
    ret_where->pid = (int32_t)tern_read_number(reader);
    ret_where->state = (char)tern_read_number(reader);
    ret_where->is_ours = tern_read_number(reader) != 0;
    ret_where->cpu_permille = (int32_t)tern_read_number(reader);
    ret_where->waited_s = (uint32_t)tern_read_number(reader);
    ret_where->unheard_s = (uint32_t)tern_read_number(reader);
    const char *record = tern_read_blob(reader, &size);
    if (record && size == sizeof ret_where->record) {
        memcpy(&ret_where->record, record, size);
        make_valid(&ret_where->record);
        ret_where->waits = true;
    }
    const char *place = tern_read_string(reader);
    snprintf(ret_where->place, sizeof ret_where->place, "%s", place ? place : "");
}
