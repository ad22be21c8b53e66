/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/btl_list.h"

#include <string.h>

bool tern_btl_list_names(const char *word, size_t length, const char *name)
{
    static const char *const same_as_shm[] = {"shm", "sm", "vader", "smcuda"};
    for (; length && *word == ' '; word++)
        length--;
    while (length && word[length - 1] == ' ')
        length--;
    if (length == strlen(name) && strncmp(word, name, length) == 0)
        return true;
    if (strcmp(name, "shm") == 0 || strcmp(name, "ipc") == 0)
        for (size_t i = 0; i < sizeof same_as_shm / sizeof *same_as_shm; i++)
            if (length == strlen(same_as_shm[i]) && strncmp(word, same_as_shm[i], length) == 0)
                return true;
    return false;
}

bool tern_btl_list_names_others(const char *list, const char *const *names, int count)
{
    for (const char *word = list + (*list == '^'); *word;) {
        size_t length = strcspn(word, ",");
        bool ours = length == 0;
        for (int i = 0; i < count; i++)
            ours |= tern_btl_list_names(word, length, names[i]);
        if (!ours)
            return true;
        word += length + (word[length] == ',');
    }
    return false;
}

bool tern_btl_list_permits(const char *list, const char *name)
{
    if (!list || !*list)
        return true;
    bool without = *list == '^';
    for (const char *word = list + without; *word;) {
        size_t length = strcspn(word, ",");
        if (tern_btl_list_names(word, length, name))
            return !without;
        word += length + (word[length] == ',');
    }
    return without;
}
