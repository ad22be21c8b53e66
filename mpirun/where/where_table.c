/* SPDX-License-Identifier: BSD-3-Clause */
/* The table: groups of ranks (where_groups.c), who waits for whom (where_chains.c), and what single
 * ranks wait for, have sent or have not received. where_words.c says it in words. */
#include "mpirun/where/where_table.h"

#include <string.h>

#include "mpirun/where/where_chains.h"
#include "mpirun/where/where_groups.h"

enum { SEVERAL_SHOWN = 6, UNASKED_SHOWN = 6, UNHEARD_SHOWN = 6 };

/* ---- several requests ---- */

static void add_several(struct tern_where_text *text, int rank,
                        const struct tern_wait_record *record)
{
    char name[TERN_WHERE_RANK_TEXT], tag[24], partitions[100];
    tern_where_add(text, "\n    rank %d %s for %s", rank, record->tests ? "tests" : "waits",
                   record->any ? "any of: " : "");
    for (int i = 0; i < record->awaited_count; i++) {
        const struct tern_awaited *awaited = &record->awaited[i];
        tern_where_name_tag(awaited->tag, tag, sizeof tag);
        tern_where_name_partitions(awaited, partitions, sizeof partitions);
        tern_where_add(text, "%s%s%s", i ? "; " : "",
                       awaited->kind == TERN_WAIT_SEND ? "a receive by " : "",
                       tern_where_rank_of(awaited, name));
        if (awaited->kind == TERN_WAIT_COLLECTIVE)
            tern_where_add(text, " (collective)");
        else if (*tag) /* which ends in ", " */
            tern_where_add(text, ", %s%.*s", partitions, (int)strlen(tag) - 2, tag);
    }
    if (record->requests > record->awaited_count)
        tern_where_add(text, "; and %d more", record->requests - record->awaited_count);
}

static void add_all_several(struct tern_where_text *text, const struct tern_where_rank *ranks,
                            int size)
{
    int shown = 0;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = tern_where_wait_of(ranks, rank);
        if (record && record->requests > 1 && record->awaited_count && shown++ < SEVERAL_SHOWN)
            add_several(text, rank, record);
    }
    if (shown > SEVERAL_SHOWN)
        tern_where_add(text, "\n    and %d more ranks wait for several requests",
                       shown - SEVERAL_SHOWN);
}

/* ---- messages on their way ---- */

static void add_unheard(struct tern_where_text *text, const struct tern_where_rank *ranks, int size,
                        int rank, const struct tern_wait_record *record)
{
    int to = record->unheard_world;
    tern_where_add(text, "\n    %lld bytes from rank %d have not been acknowledged by the host of ",
                   (long long)record->unheard_bytes, rank);
    if (to >= 0 && to < size)
        tern_where_add(text, "rank %d (%.100s)", to, ranks[to].host);
    else
        tern_where_add(text, "%s", "a rank of another job");
    tern_where_add(text, " for %u s: does the network between them work?",
                   ranks[rank].where.unheard_s);
}

static void add_all_unheard(struct tern_where_text *text, const struct tern_where_rank *ranks,
                            int size)
{
    int shown = 0;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = tern_where_unheard_of(ranks, rank);
        if (record && shown++ < UNHEARD_SHOWN)
            add_unheard(text, ranks, size, rank, record);
    }
    if (shown > UNHEARD_SHOWN)
        tern_where_add(text, "\n    and bytes from %d more ranks", shown - UNHEARD_SHOWN);
}

/* ---- messages that nobody has asked for ---- */

/* Appends why the message is not the one that the rank waits for. */
static void add_difference(struct tern_where_text *text, const struct tern_wait_record *record,
                           const struct tern_unasked *message)
{
    const struct tern_awaited *awaited = &record->awaited[0];
    char name[TERN_WHERE_RANK_TEXT];
    bool one_comm = strcmp(record->comm, message->comm) == 0;
    if (awaited->tag > TERN_WHERE_ANY && awaited->tag != message->tag)
        tern_where_add(text, "; it waits for tag %d", awaited->tag);
    else if (!one_comm)
        tern_where_add(text, "; it waits on %s", tern_where_comm_of(record));
    else if (awaited->rank >= 0 && awaited->rank != message->source)
        tern_where_add(text, "; it waits for %s", tern_where_rank_of(awaited, name));
}

static void add_unasked(struct tern_where_text *text, int rank,
                        const struct tern_wait_record *record)
{
    const struct tern_unasked *first = &record->unasked[0];
    tern_where_add(
        text,
        "\n    rank %d has not asked for a message that has arrived: from rank %d, tag %d, "
        "%lld bytes, %s",
        rank, first->world >= 0 ? first->world : first->source, first->tag, (long long)first->bytes,
        tern_where_comm_name(first->comm));
    if (record->kind == TERN_WAIT_RECV && record->awaited_count == 1)
        add_difference(text, record, first);
    if (record->unasked_count > 1)
        tern_where_add(text, "; and for %u more", record->unasked_count - 1);
}

static void add_all_unasked(struct tern_where_text *text, const struct tern_where_rank *ranks,
                            int size)
{
    int shown = 0;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = tern_where_wait_of(ranks, rank);
        if (record && record->unasked_count && shown++ < UNASKED_SHOWN)
            add_unasked(text, rank, record);
    }
    if (shown > UNASKED_SHOWN)
        tern_where_add(text, "\n    and %d more ranks have messages that they have not asked for",
                       shown - UNASKED_SHOWN);
}

char *tern_where_table(const struct tern_where_rank *ranks, int size)
{
    struct tern_where_text text = {0};
    tern_where_add(&text, "%s", "");
    tern_where_add_groups(&text, ranks, size);
    add_all_several(&text, ranks, size);
    add_all_unheard(&text, ranks, size);
    tern_where_add_chains(&text, ranks, size);
    add_all_unasked(&text, ranks, size);
    return text.bytes;
}
