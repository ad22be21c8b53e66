/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/pmix/names.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"

struct name {
    pmix_proc_t publisher;
    pmix_info_t info;
    struct name *next;
};

/* A lookup that waits for its keys. PMIx owns the keys, which stay valid until the answer. */
struct waiter {
    char **keys;
    pmix_lookup_cbfunc_t answer;
    void *answer_data;
    struct tern_timer timer;
    struct waiter *next;
};

static struct name *names;
static struct waiter *waiters;

/* Returns true if the key is a directive of PMIx about publishing, not something published. */
static bool is_direction(const char *key)
{
    return strncmp(key, "pmix.", 5) == 0;
}

static struct name *find(const char *key)
{
    struct name *at = names;
    while (at && strcmp(at->info.key, key))
        at = at->next;
    return at;
}

static int count_keys(char **keys)
{
    int count = 0;
    while (keys && keys[count])
        count++;
    return count;
}

static int count_found(char **keys)
{
    int found = 0;
    for (int i = 0; keys && keys[i]; i++)
        found += find(keys[i]) != NULL;
    return found;
}

static void answer_lookup(char **keys, pmix_lookup_cbfunc_t answer, void *answer_data)
{
    int found = 0, count = count_keys(keys);
    pmix_pdata_t *data = tern_must_alloc((count ? count : 1) * sizeof *data);
    for (int i = 0; i < count; i++) {
        const struct name *name = find(keys[i]);
        if (!name)
            continue;
        data[found].proc = name->publisher;
        memcpy(data[found].key, name->info.key, sizeof data[found].key);
        /* borrowed: PMIx packs it before answer() returns */
        data[found++].value = name->info.value;
    }
    answer(found ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, found ? data : NULL, found, answer_data);
    free(data);
}

static void answer_waiters(void)
{
    for (struct waiter **link = &waiters; *link;) {
        struct waiter *waiter = *link;
        if (count_found(waiter->keys) < count_keys(waiter->keys)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        tern_loop_stop_timer(&waiter->timer);
        answer_lookup(waiter->keys, waiter->answer, waiter->answer_data);
        free(waiter);
    }
}

static void wait_expired(struct tern_timer *timer)
{
    struct waiter *waiter = (struct waiter *)((char *)timer - offsetof(struct waiter, timer)),
                  **link = &waiters;
    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    waiter->answer(PMIX_ERR_TIMEOUT, NULL, 0, waiter->answer_data);
    free(waiter);
}

pmix_status_t tern_names_publish(const pmix_proc_t *publisher, const pmix_info_t infos[],
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_direction(infos[i].key) && find(infos[i].key))
            return PMIX_ERR_DUPLICATE_KEY;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_direction(infos[i].key))
            continue;
        struct name *name = tern_must_alloc(sizeof *name);
        name->publisher = *publisher;
        PMIX_INFO_XFER(&name->info, &infos[i]);
        name->next = names;
        names = name;
    }
    answer_waiters();
    return PMIX_SUCCESS;
}

void tern_names_lookup(char **keys, const pmix_info_t infos[], size_t count,
                       pmix_lookup_cbfunc_t answer, void *answer_data)
{
    bool wait = false;
    int timeout_s = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(infos[i].key, PMIX_WAIT) == 0)
            wait = true;
        else if (strcmp(infos[i].key, PMIX_TIMEOUT) == 0 && infos[i].value.type == PMIX_INT)
            timeout_s = infos[i].value.data.integer;
    }
    if (!wait || count_found(keys) == count_keys(keys)) {
        answer_lookup(keys, answer, answer_data);
        return;
    }
    struct waiter *waiter = tern_must_alloc(sizeof *waiter);
    *waiter = (struct waiter){ keys, answer, answer_data, { .expired = wait_expired }, waiters };
    waiters = waiter;
    if (timeout_s > 0)
        tern_loop_set_timer(&waiter->timer, (int64_t)timeout_s * 1000);
}

static bool is_listed(char **keys, const char *key)
{
    for (int i = 0; keys && keys[i]; i++) {
        if (strcmp(keys[i], key) == 0)
            return true;
    }
    return keys == NULL;
}

pmix_status_t tern_names_unpublish(const pmix_proc_t *publisher, char **keys)
{
    for (struct name **link = &names; *link;) {
        struct name *name = *link;
        if (name->publisher.rank != publisher->rank ||
            strcmp(name->publisher.nspace, publisher->nspace) || !is_listed(keys, name->info.key)) {
            link = &name->next;
            continue;
        }
        *link = name->next;
        PMIX_INFO_DESTRUCT(&name->info);
        free(name);
    }
    return PMIX_SUCCESS;
}
