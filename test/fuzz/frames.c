/* SPDX-License-Identifier: BSD-3-Clause */
/* What agents and mpirun say to each other: frames, and the descriptions of a job, a host and a launch that they carry. A
 * description that is taken is written and read again: the same. */
#include "fuzz.h"

#include "mpirun/plan/map/describe.h"
#include "mpirun/tree/agents.h"
#include "mpirun/serve/addresses.h"
#include "mpirun/wire/frame.h"
#include "mpirun/wire/job_data.h"

static void read_job(struct tern_reader reader)
{
    struct tern_job job = { 0 };
    if (tern_job_unpack(&reader, &job))
        return;
    MUST(job.map->size >= 1 && job.host_count >= 1 && job.options->app_count >= 1);
    for (int rank = 0; rank < job.map->size; rank++) {
        MUST(job.map->places[rank].host >= 0 && job.map->places[rank].host < job.host_count);
        MUST(job.options->apps[job.map->places[rank].app].argv.count >= 1);
        MUST(job.texts[job.text_of[rank]].cpuset);
    }
    MUST(tern_job_ranks_on(&job, job.map->places[0].host) >= 1);
    tern_job_free(&job);
}

static void read_host(struct tern_reader reader)
{
    static const int np = 3;
    struct tern_host host;
    if (tern_host_unpack(&reader, &host))
        return;
    struct tern_map_request request = { .np = &np,
                                        .apps = 1,
                                        .by = TERN_MAP_LEVEL_SOCKET,
                                        .rank_by = TERN_MAP_LEVEL_CORE,
                                        .bind = TERN_MAP_LEVEL_CORE };
    struct tern_map map;
    host.name[sizeof host.name - 1] = '\0';
    if (tern_map_ranks(&request, &host, 1, &map) == 0) {
        for (int rank = 0; rank < map.size; rank++) {
            char *text = tern_map_describe(&host, &map.places[rank]);
            free(text);
            text = tern_map_locality(&host, &map.places[rank]);
            free(text);
        }
        tern_map_free(&map);
    }
    free(host.cpus);
}

static void read_launch(struct tern_reader reader)
{
    struct tern_launch launch;
    tern_launch_unpack(&reader, &launch);
    MUST(reader.bad || (launch.program && launch.words.count && launch.width >= 1));
    tern_strings_free(&launch.words);
    free((char *)launch.program);
}

static void read_strings(struct tern_reader reader)
{
    struct tern_strings list = { 0 };
    struct tern_parcel parcel = { 0 };
    const char *begin = reader.at;
    tern_read_strings(&reader, &list);
    if (!reader.bad) {
        tern_parcel_strings(&parcel, &list);
        MUST(parcel.size == (size_t)(reader.at - begin) && memcmp(parcel.bytes, begin, parcel.size) == 0);
    }
    tern_parcel_free(&parcel);
    tern_strings_free(&list);
}

static void answered(int asker, int rank, const struct tern_card *card, size_t size)
{
    MUST(asker == 0 && rank >= 0 && rank < 3 && card && size >= sizeof card->own && size <= sizeof *card);
}

static void sent(const struct tern_frame *frame)
{
    MUST(frame->host == 0 && frame->kind == (frame->rank ? TERN_FRAME_SEEK : TERN_FRAME_CARDS));
}

/* Cards of ranks 1 and 2 on another host, as rank 0 here seeks them, and what others ask for. */
static void read_cards(const char *bytes, size_t size)
{
    static struct tern_rank_place places[3] = { { .host = 0 }, { .host = 1 }, { .host = 1 } };
    static const struct tern_map map = { .size = 3, .places = places };
    static const struct tern_job job = { .host_count = 2, .map = &map };
    struct tern_card own = { .own = 1, .bytes = "bytes" };
    tern_cards_open(&job, true, sent, answered);
    MUST(tern_cards_put(0, true, &own, 13) == 1);
    tern_cards_seek(0, 2);
    for (size_t used = 0; used < size;) {
        struct tern_frame frame;
        int64_t n = tern_frame_read(bytes + used, size - used, &frame);
        if (n <= 0)
            break;
        tern_cards_received(&frame);
        used += (size_t)n;
    }
    tern_cards_put(0, true, &own, 13);
    tern_cards_seek(0, 1);
    tern_cards_close();
}

/* The first byte says what the rest is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    unsigned kind = fuzz_byte(&input);
    char *bytes = fuzz_rest(&input, &size);
    struct tern_reader reader = { .at = bytes, .left = size };
    switch (kind % 6) {
    case 0:
        for (size_t used = 0; used < size;) {
            struct tern_frame frame;
            struct tern_parcel again = { 0 };
            int64_t n = tern_frame_read(bytes + used, size - used, &frame);
            if (n <= 0)
                break;
            MUST((size_t)n <= size - used && frame.size == n - TERN_FRAME_HEAD && frame.kind < TERN_FRAME_KINDS);
            tern_frame_write(&again, &frame);
            MUST(again.size == (size_t)n && memcmp(again.bytes, bytes + used, again.size) == 0);
            tern_parcel_free(&again);
            used += (size_t)n;
        }
        break;
    case 1:
        read_job(reader);
        break;
    case 2:
        read_host(reader);
        break;
    case 3:
        read_launch(reader);
        break;
    case 5:
        read_cards(bytes, size);
        break;
    default:
        read_strings(reader);
    }
    free(bytes);
    return 0;
}
