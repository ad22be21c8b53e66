/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/jobs/job_ties.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/net/launcher.h"
#include "mpirun/base/strings.h"

/* The words of the job, and how many ranks say each. */
static struct {
    struct {
        char *word;
        int ranks;
    } *items;
    int count;
} ties;

/* Finds the next word. Returns its length, 0 at the end; *at is its beginning. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, " ");
    return strcspn(*at, " ");
}

/* Adds `more` ranks to a word. Returns true if it is new, or if no rank is left. */
static bool count_word(const char *word, size_t length, int more)
{
    int i = 0;
    while (i < ties.count && (strncmp(ties.items[i].word, word, length) != 0 ||
                              ties.items[i].word[length]))
        i++;
    if (i == ties.count) {
        ties.items = tern_must_grow(ties.items, (size_t)++ties.count * sizeof *ties.items);
        ties.items[i].word = tern_must_format("%.*s", (int)length, word);
        ties.items[i].ranks = 0;
    }
    ties.items[i].ranks += more;
    if (ties.items[i].ranks)
        return more > 0 && ties.items[i].ranks == more;
    free(ties.items[i].word);
    ties.items[i] = ties.items[--ties.count];
    return true;
}

static bool count_words(const char *words, int more)
{
    bool changed = false;
    for (size_t length; words && (length = next_word(&words)) > 0; words += length)
        changed |= count_word(words, length, more);
    return changed;
}

bool tern_ties_note(char **former, const char *words)
{
    bool changed = count_words(words, 1);
    changed |= count_words(*former, -1);
    free(*former);
    *former = *words ? tern_must_copy(words) : NULL;
    return changed;
}

char *tern_ties_words(int most)
{
    char *text = tern_must_alloc((size_t)most + 1);
    size_t used = 0, end = strlen(" " TERN_JOINED_TO_ALL);
    for (int i = 0; i < ties.count; i++) {
        const char *word = ties.items[i].word;
        size_t length = strlen(word);
        bool fits = used + 1 + length + end <= (size_t)most;
        if (!fits) {
            word = TERN_JOINED_TO_ALL;
            length = strlen(word);
            i = ties.count;
        }
        if (used)
            text[used++] = ' ';
        memcpy(text + used, word, length);
        used += length;
    }
    return text;
}

/* Like next_word, without the mark of a job that is about to be left. With `stays_only` such words
 * are passed over. */
static size_t next_job(const char **at, bool stays_only)
{
    size_t length;
    while ((length = next_word(at)) > 0 && **at == TERN_JOINED_PARTS[0]) {
        if (!stays_only)
            return ++*at, length - 1;
        *at += length;
    }
    return length;
}

static bool has_job(const char *words, const char *job, size_t length)
{
    for (size_t n; (n = next_job(&words, false)) > 0; words += n)
        if (n == length && memcmp(words, job, n) == 0)
            return true;
    return false;
}

static bool share_job(const char *a, bool stays_only, const char *b)
{
    static const char all[] = TERN_JOINED_TO_ALL;
    if (*a && has_job(b, all, strlen(all)))
        return true;
    for (size_t length; (length = next_job(&a, stays_only)) > 0; a += length)
        if (has_job(b, a, length) || (*b && *a == all[0]))
            return true;
    return false;
}

void tern_ties_find(const char *const words[], int count, int from, bool ret_tied[])
{
    memset(ret_tied, 0, (size_t)count * sizeof *ret_tied);
    ret_tied[from] = true;
    for (bool found = true; found;) {
        found = false;
        for (int i = 0; i < count; i++)
            for (int k = 0; ret_tied[i] && k < count; k++)
                if (!ret_tied[k] && share_job(words[i], i == from, words[k]))
                    found = ret_tied[k] = true;
    }
}

/* A connected job has its own name among its words, so more names than connected jobs tell of
 * others. */
bool tern_ties_are_closed(const char *const words[], int count)
{
    int jobs = 0, names = 0;
    for (int i = 0; i < count; i++) {
        const char *at = words[i];
        jobs += *at != 0;
        for (size_t length; (length = next_job(&at, false)) > 0; at += length) {
            bool known = false;
            for (int k = 0; k < i && !known; k++)
                known = has_job(words[k], at, length);
            if (*at == TERN_JOINED_TO_ALL[0])
                return false;
            names += !known;
        }
    }
    return names <= jobs;
}
