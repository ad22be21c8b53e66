/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/pmix/pmix_bytes.h"

#include <pmix.h>
#include <stdlib.h>
#include <string.h>

void tern_pmix_pack_array(struct tern_parcel *parcel, const void *items, size_t count,
                          pmix_data_type_t type)
{
    pmix_data_buffer_t buffer = {0};
    pmix_byte_object_t bytes = {0};
    tern_parcel_number(parcel, (int64_t)count);
    if (count)
        PMIx_Data_pack(NULL, &buffer, (void *)items, (int32_t)count, type);
    PMIX_DATA_BUFFER_UNLOAD(&buffer, bytes.bytes, bytes.size);
    tern_parcel_blob(parcel, bytes.bytes, bytes.size);
    free(bytes.bytes);
}

void *tern_pmix_read_array(struct tern_reader *reader, size_t item_bytes, pmix_data_type_t type,
                           size_t *ret_count)
{
    size_t size;
    int count = tern_read_int(reader, 0, 1 << 20);
    const char *packed = tern_read_blob(reader, &size);
    *ret_count = 0;
    if (reader->bad || !count)
        return NULL;
    pmix_data_buffer_t buffer = {0};
    char *bytes = tern_must_alloc(size);
    memcpy(bytes, packed, size);
    void *items = tern_must_alloc(count * item_bytes);
    int32_t got = count;
    PMIX_DATA_BUFFER_LOAD(&buffer, bytes, size);
    if (PMIx_Data_unpack(NULL, &buffer, items, &got, type) == PMIX_SUCCESS)
        *ret_count = got;
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return items;
}

void tern_pmix_free_infos(pmix_info_t *infos, size_t count)
{
    for (size_t i = 0; i < count; i++)
        PMIX_INFO_DESTRUCT(&infos[i]);
    free(infos);
}

void tern_pmix_pack_proc(struct tern_parcel *parcel, const pmix_proc_t *proc)
{
    tern_parcel_string(parcel, proc->nspace);
    tern_parcel_number(parcel, proc->rank);
}

void tern_pmix_read_proc(struct tern_reader *reader, pmix_proc_t *proc)
{
    const char *nspace = tern_read_string(reader);
    memset(proc, 0, sizeof *proc);
    strncpy(proc->nspace, nspace ? nspace : "", PMIX_MAX_NSLEN);
    proc->rank = (pmix_rank_t)tern_read_number(reader);
}

void tern_pmix_pack_keys(struct tern_parcel *parcel, char **keys)
{
    int count = 0;
    while (keys && keys[count])
        count++;
    tern_parcel_number(parcel, keys ? count : -1);
    for (int i = 0; i < count; i++)
        tern_parcel_string(parcel, keys[i]);
}

char **tern_pmix_read_keys(struct tern_reader *reader)
{
    int count = tern_read_int(reader, -1, 1 << 20);
    if (count < 0)
        return NULL;
    char **keys = tern_must_alloc((count + 1) * sizeof *keys);
    for (int i = 0; i < count && !reader->bad; i++) {
        const char *key = tern_read_string(reader);
        keys[i] = tern_must_copy(key ? key : "");
    }
    return keys;
}

void tern_pmix_free_keys(char **keys)
{
    for (int i = 0; keys && keys[i]; i++)
        free(keys[i]);
    free(keys);
}
