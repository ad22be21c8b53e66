/* SPDX-License-Identifier: BSD-3-Clause */
/* Rankfiles, their hosts and their lists of slots, on a machine of two sockets of which some processors are left out. */
#include "fuzz.h"

#include "mpirun/plan/hosts/rankfile.h"

enum { CPUS = 12 };

static struct tern_host make_host(struct tern_cpu *cpus)
{
    struct tern_host host = { .name = "n1", .cpus = cpus, .cpu_count = CPUS };
    for (int i = 0; i < CPUS; i++) {
        cpus[i] = (struct tern_cpu){ .os_index = 3 * i };
        for (int level = 0; level < TERN_MAP_LEVEL_NODE; level++)
            cpus[i].id[level] = level == TERN_MAP_LEVEL_HWTHREAD ? i : level < TERN_MAP_LEVEL_L3 ? i / 2 : i / 6;
    }
    return host;
}

static void map(const struct tern_rankfile *file, const struct tern_fixed_place *fixed, bool hwthreads)
{
    static const int np = 0;
    struct tern_cpu cpus[2][CPUS];
    struct tern_host hosts[2] = { make_host(cpus[0]), make_host(cpus[1]) };
    struct tern_map_request request = { .np = &np,
                                        .apps = 1,
                                        .by = TERN_MAP_LEVEL_DEFAULT,
                                        .rank_by = TERN_MAP_LEVEL_DEFAULT,
                                        .bind = TERN_MAP_LEVEL_DEFAULT,
                                        .hwthreads = hwthreads,
                                        .fixed = fixed,
                                        .fixed_count = file->count,
                                        .fixed_by = "f" };
    struct tern_map ranks;
    if (file->count > 1000 || tern_map_ranks(&request, hosts, 2, &ranks))
        return;
    MUST(ranks.size == file->count);
    for (int r = 0; r < ranks.size; r++) {
        int own = 0;
        for (int c = 0; c < CPUS; c++)
            own += tern_cpus_has(&ranks.places[r].cpus, 3 * c);
        MUST(own > 0 && own == tern_cpus_count(&ranks.places[r].cpus));
    }
    tern_map_free(&ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    unsigned how = fuzz_byte(&input);
    char *text = fuzz_text(&input);
    struct tern_rankfile file;
    if (tern_rankfile_parse("f", text, how & 1, &file) == 0) {
        struct tern_host_entry own[2] = { { .name = "a", .slots = 3 }, { .name = "b" } };
        struct tern_host_list list = { .items = own, .count = 2, .where = "g" }, named = { 0 };
        struct tern_fixed_place *fixed;
        MUST(file.count > 0);
        tern_rankfile_hosts(&file, &named);
        tern_host_list_free(&named);
        if (tern_rankfile_place(&file, &list, "g", &fixed) == 0) {
            map(&file, fixed, how & 2);
            free(fixed);
        }
        tern_rankfile_free(&file);
    }
    free(text);
    return 0;
}
