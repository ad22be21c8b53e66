/* SPDX-License-Identifier: BSD-3-Clause */

/* Info objects (MPI-4.1 chapter 10): a short list of pairs, searched from its start. */

#include "lib/mpi/object/info.h"

#include "lib/mpi/object/face.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/object/running.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/machine/memory_kinds.h"
#include "lib/settings/param.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/mpi/procedures.h"

/* MPI_INFO_ENV exists at any time; it is empty until MPI_Init. */
struct tern_info tern_info_env = {
    .obj = {.handle = (struct tern_handle *)&ompi_mpi_info_env, .refs = 1}};

struct tern_info *tern_info_new(void)
{
    struct tern_info *info = calloc(1, sizeof *info);
    if (info)
        tern_object_init(&info->obj, TERN_MAGIC_INFO);
    return info;
}

void tern_info_release(struct tern_info *info)
{
    if (info == &tern_info_env || --info->obj.refs > 0)
        return;
    tern_fortran_drop(&info->obj);
    for (int i = 0; i < info->count; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    tern_object_free(&info->obj);
}

static int find(const struct tern_info *info, const char *key)
{
    for (int i = 0; info && i < info->count; i++)
        if (strcmp(info->pairs[i].key, key) == 0)
            return i;
    return -1;
}

const char *tern_info_find(const struct tern_info *info, const char *key)
{
    int i = find(info, key);
    return i < 0 ? NULL : info->pairs[i].value;
}

size_t tern_info_alignment(const struct tern_info *info)
{
    const char *hint = tern_info_find(info, "mpi_minimum_memory_alignment");
    size_t alignment = TERN_CACHE_LINE;
    char *end;

    if (!hint)
        return alignment;
    unsigned long long least = strtoull(hint, &end, 10);
    if (end == hint || *end || *hint == '-' || least > SIZE_MAX / 4)
        return alignment;
    while (alignment < least)
        alignment *= 2;
    return alignment;
}

static int no_memory(const char *key)
{
    return tern_error(TERN_ERR_NO_MEM, "no memory for the value of key \"%s\"", key);
}

static int append(struct tern_info *info, const char *key, char *value)
{
    if (info->count == info->capacity) {
        int capacity = info->capacity ? 2 * info->capacity : 8;
        struct tern_info_pair *more = realloc(info->pairs, capacity * sizeof *more);
        if (!more)
            return no_memory(key);
        info->pairs = more;
        info->capacity = capacity;
    }
    char *name = strdup(key);
    if (!name)
        return no_memory(key);
    info->pairs[info->count++] = (struct tern_info_pair){name, value};
    return 0;
}

int tern_info_put(struct tern_info *info, const char *key, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return no_memory(key);
    int i = find(info, key);
    if (i >= 0) {
        free(info->pairs[i].value);
        info->pairs[i].value = copy;
        return 0;
    }
    int error = append(info, key, copy);
    if (error)
        free(copy);
    return error;
}

int tern_info_copy(const struct tern_info *info, struct tern_info **ret_info)
{
    struct tern_info *copy = tern_info_new();
    if (!copy)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an info");
    for (int i = 0; i < info->count; i++) {
        int error = tern_info_put(copy, info->pairs[i].key, info->pairs[i].value);
        if (error) {
            tern_info_release(copy);
            return error;
        }
    }
    *ret_info = copy;
    return 0;
}

/* ---- MPI_INFO_ENV: how the program was started ---- */

/* Sets a value for information. Cuts it if it is too long; leaves it out if it is empty. */
static void describe(struct tern_info *info, const char *key, const char *value)
{
    char cut[MPI_MAX_INFO_VAL];

    snprintf(cut, sizeof cut, "%s", value ? value : "");
    if (*cut)
        tern_info_put(info, key, cut);
}

/* Reads the command line that the program was started with into argv[0] .. argv[argc], which is
 * NULL. The arguments lie in `text`. Returns argc. */
static int own_command_line(char *text, size_t room, char *argv[], int argv_room)
{
    int argc = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(text, 1, room - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    for (size_t at = 0; at < length && argc < argv_room - 1; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    argv[argc] = NULL;
    return argc;
}

static void describe_command(struct tern_info *info, int argc, char **argv)
{
    char line[4096], *own[256], text[MPI_MAX_INFO_VAL] = "";
    size_t used = 0;

    if (argc <= 0 || !argv) {
        argv = own;
        argc = own_command_line(line, sizeof line, own, sizeof own / sizeof *own);
    }
    if (argc > 0 && argv[0])
        describe(info, "command", argv[0]);
    for (int i = 1; i < argc && argv[i] && used < sizeof text; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 1 ? " " : "", argv[i]);
    describe(info, "argv", text);
}

/* Fills in the start of the program. The keys have equal values before MPI_Init, in it and after
 * MPI_Finalize (MPI-4.1 chapter 10). What MPI_Init learns from the launcher's server is taken from
 * the environment before. */
static void describe_start(struct tern_info *info, int argc, char **argv, int thread_level)
{
    char text[32], directory[MPI_MAX_INFO_VAL], host[sizeof tern_rte.host];
    struct utsname machine;
    uint32_t processes = tern_rte_processes_alike();

    tern_rte_own_host(host, sizeof host);
    describe_command(info, argc, argv);
    snprintf(text, sizeof text, "%u", processes);
    describe(info, "maxprocs", processes ? text : "");
    describe(info, "soft", processes ? text : "");
    describe(info, "host", host);
    describe(info, "arch", uname(&machine) == 0 ? machine.machine : "");
    describe(info, "wdir", getcwd(directory, sizeof directory));
    describe(info, "thread_level", tern_thread_level_name(thread_level));
    describe(info, "mpi_initial_errhandler", tern_param_string("mpi_initial_errhandler"));
    describe(info, "mpi_memory_alloc_kinds", tern_memory_kinds);
}

void tern_info_fill_env(int argc, char **argv, int thread_level)
{
    describe_start(&tern_info_env, argc, argv, thread_level);
}

/* ---- procedures ---- */

int tern_mpi_info_create(struct tern_info **ret_info)
{
    struct tern_info *info = tern_info_new();
    if (!info)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an info");
    *ret_info = info;
    return 0;
}

int tern_mpi_info_create_env(int argc, char *argv[], struct tern_info **ret_info)
{
    int error = tern_mpi_info_create(ret_info);
    if (error)
        return error;
    describe_start(*ret_info, argc, argv, tern_world_thread_level);
    return 0;
}

int tern_mpi_info_delete(struct tern_info *info, const char *key)
{
    int i = find(info, key);
    if (i < 0)
        return tern_error(TERN_ERR_INFO_NOKEY, "info has no key \"%s\"", key);
    free(info->pairs[i].key);
    free(info->pairs[i].value);
    memmove(&info->pairs[i], &info->pairs[i + 1], (info->count - i - 1) * sizeof *info->pairs);
    info->count--;
    return 0;
}

int tern_mpi_info_dup(struct tern_info *info, struct tern_info **ret_newinfo)
{
    return tern_info_copy(info, ret_newinfo);
}

int tern_mpi_info_free(struct tern_info **info)
{
    if (*info == &tern_info_env)
        return tern_error(TERN_ERR_INFO, "info is MPI_INFO_ENV, which cannot be freed");
    tern_info_release(*info);
    *info = NULL;
    return 0;
}

int tern_mpi_info_get(struct tern_info *info, const char *key, int valuelen, char *value, int *flag)
{
    if (valuelen < 0)
        return tern_error(TERN_ERR_INFO_VALUE, "valuelen is %d; expected 0 or more", valuelen);
    const char *found = tern_info_find(info, key);
    *flag = found != NULL;
    if (found) /* valuelen does not count the final zero */
        snprintf(value, (size_t)valuelen + 1, "%s", found);
    return 0;
}

int tern_mpi_info_get_string(struct tern_info *info, const char *key, int *buflen, char *value,
                             int *flag)
{
    if (*buflen < 0)
        return tern_error(TERN_ERR_ARG, "buflen is %d; expected 0 or more", *buflen);
    const char *found = tern_info_find(info, key);
    *flag = found != NULL;
    if (!found)
        return 0;
    if (*buflen > 0)
        snprintf(value, (size_t)*buflen, "%s", found);
    *buflen = (int)strlen(found) + 1;
    return 0;
}

int tern_mpi_info_get_valuelen(struct tern_info *info, const char *key, int *valuelen, int *flag)
{
    const char *found = tern_info_find(info, key);
    *flag = found != NULL;
    if (found)
        *valuelen = (int)strlen(found);
    return 0;
}

int tern_mpi_info_get_nkeys(struct tern_info *info, int *nkeys)
{
    *nkeys = info->count;
    return 0;
}

int tern_mpi_info_get_nthkey(struct tern_info *info, int n, char *key)
{
    if (n < 0 || n >= info->count)
        return tern_error_index(TERN_ERR_ARG, info->count, "n is %d", n);
    snprintf(key, tern_face_info_key(), "%s", info->pairs[n].key);
    return 0;
}

int tern_mpi_info_set(struct tern_info *info, const char *key, const char *value)
{
    if (info == &tern_info_env)
        return tern_error(TERN_ERR_INFO, "info is MPI_INFO_ENV, which cannot be changed");
    return tern_info_put(info, key, value);
}
