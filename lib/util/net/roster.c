/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/roster.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = "TERNWHO1";

enum { PAGE = 4096, JOB = 64, SECRET = 72 };

/* The bytes begin with this; host_of, ranks, begin, name_at and names follow. */
struct head {
    char magic[8];
    uint64_t length; /* of all of it, without the padding to a page */
    uint32_t size, host_count, here, universe_size;
    char job[JOB], secret[SECRET];
};

/* Returns the bytes of everything before the names. */
static uint64_t bytes_before_names(uint64_t size, uint64_t host_count)
{
    return sizeof(struct head) + (2 * size + 2 * host_count + 1) * sizeof(uint32_t);
}

/* Sorts the ranks by host: counts, then places each behind those of lower rank. */
static void group(const struct tern_roster *roster, uint32_t *begin, uint32_t *ranks)
{
    memset(begin, 0, (roster->host_count + 1) * sizeof *begin);
    for (uint32_t rank = 0; rank < roster->size; rank++)
        begin[roster->host_of[rank] + 1]++;
    for (uint32_t host = 0; host < roster->host_count; host++)
        begin[host + 1] += begin[host];
    for (uint32_t rank = 0; rank < roster->size; rank++)
        ranks[begin[roster->host_of[rank]]++] = rank;
    for (uint32_t host = roster->host_count; host > 0;
         host--) /* each entry has grown to the beginning of the next host */
        begin[host] = begin[host - 1];
    begin[0] = 0;
}

void *tern_roster_write(const struct tern_roster *roster, const char *const *names,
                        size_t *ret_length)
{
    uint64_t length = bytes_before_names(roster->size, roster->host_count), used = 0;
    for (uint32_t host = 0; host < roster->host_count; host++)
        length += strlen(names[host]) + 1;
    size_t whole = (length + PAGE - 1) / PAGE * PAGE;
    char *bytes = calloc(1, whole);
    if (!bytes || strlen(roster->job) >= JOB || strlen(roster->secret) >= SECRET) {
        free(bytes);
        return NULL;
    }
    struct head *head = (struct head *)bytes;
    uint32_t *host_of = (uint32_t *)(head + 1), *ranks = host_of + roster->size,
             *begin = ranks + roster->size, *name_at = begin + roster->host_count + 1;
    char *text = (char *)(name_at + roster->host_count);
    *head = (struct head){.length = length,
                          .size = roster->size,
                          .host_count = roster->host_count,
                          .here = roster->here,
                          .universe_size = roster->universe_size};
    memcpy(head->magic, magic, sizeof magic);
    memcpy(head->job, roster->job, strlen(roster->job));
    memcpy(head->secret, roster->secret, strlen(roster->secret));
    memcpy(host_of, roster->host_of, roster->size * sizeof *host_of);
    group(roster, begin, ranks);
    for (uint32_t host = 0; host < roster->host_count; host++) {
        size_t bytes_of_name = strlen(names[host]) + 1;
        name_at[host] = (uint32_t)used;
        memcpy(text + used, names[host], bytes_of_name);
        used += bytes_of_name;
    }
    *ret_length = whole;
    return bytes;
}

bool tern_roster_read(const void *bytes, size_t length, struct tern_roster *ret_roster)
{
    const struct head *head = bytes;
    if (length < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0 ||
        head->length > length || head->size == 0 || head->here >= head->host_count ||
        head->length <= bytes_before_names(head->size, head->host_count) ||
        !memchr(head->job, 0, JOB) || !memchr(head->secret, 0, SECRET) ||
        ((const char *)bytes)[head->length - 1])
        return false;
    const uint32_t *host_of = (const uint32_t *)(head + 1), *ranks = host_of + head->size,
                   *begin = ranks + head->size, *name_at = begin + head->host_count + 1;
    const char *names = (const char *)(name_at + head->host_count);
    /* Check only the part that this process reads at once. In a large job the pages of the rest
     * then stay unread. */
    if (begin[head->here] >= begin[head->here + 1] || begin[head->here + 1] > head->size ||
        name_at[head->here] >= head->length - (uint64_t)(names - (const char *)bytes))
        return false;
    *ret_roster = (struct tern_roster){.size = head->size,
                                       .host_count = head->host_count,
                                       .here = head->here,
                                       .universe_size = head->universe_size,
                                       .job = head->job,
                                       .secret = head->secret,
                                       .host_of = host_of,
                                       .begin = begin,
                                       .ranks = ranks,
                                       .names = names,
                                       .name_at = name_at};
    return true;
}
