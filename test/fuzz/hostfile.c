/* SPDX-License-Identifier: BSD-3-Clause */
/* Hostfiles, and the words of --host. */
#include "fuzz.h"

#include "mpirun/plan/hosts/hostfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    char *text = fuzz_text(&input);
    struct tern_host_list list = { .where = "f" };
    struct tern_host_entry entry;
    int error = tern_hostfile_parse("f", text, &list);
    int64_t lines = 1;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    MUST(list.count <= list.sequence.count && list.sequence.count <= lines);
    for (int i = 0; i < list.count; i++) {
        const struct tern_host_entry *host = &list.items[i];
        MUST(*host->name && host->slots >= 0 && host->slots <= 1 << 20 && host->max_slots >= 0);
        MUST(tern_host_list_find(&list, host->name) == i);
    }
    if (!error)
        MUST(tern_hostfile_parse("f", text, &list) == 0); /* the same hosts again */
    if (tern_host_parse(text, &entry) == 0)
        MUST(*entry.name && entry.slots >= 0);
    tern_host_list_free(&list);
    free(text);
    return 0;
}
