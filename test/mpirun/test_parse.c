/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpirun reads: hosts, hostfiles, policies, control group limits, and machines as hwloc
 * describes them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/jobs/spawn_line.h"
#include "mpirun/plan/hosts/allocation.h"
#include "mpirun/wire/connection.h"
#include "mpirun/tree/agent_bootstrap.h"
#include "mpirun/wire/frame.h"
#include "mpirun/jobs/job_ties.h"
#include "mpirun/plan/hosts/hostfile.h"
#include "mpirun/plan/job/hosts.h"
#include "mpirun/plan/words/policy.h"
#include "mpirun/plan/hosts/this_machine.h"

START_TEST(test_hosts)
{
    static const struct {
        const char *text, *name;
        int slots;
    } good[] = {
        { "n1", "n1", 1 },
        { "n1:4", "n1", 4 },
        { "n1:*", "n1", 0 },
        { "me@n1:2", "n1", 2 },
        { "fe80::1", "fe80::1", 1 },
        { "[fe80::1]:3", "fe80::1", 3 },
        { "10.0.0.1:2", "10.0.0.1", 2 },
    };
    static const char *const bad[] = { "",     ":3",    "n1:",      "n1:0", "n1:-1",
                                       "n1:x", "n1:3x", "[fe80::1", "@" };
    struct tern_host_entry entry;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(tern_host_parse(good[i].text, &entry), 0);
        ck_assert_str_eq(entry.name, good[i].name);
        ck_assert_int_eq(entry.slots, good[i].slots);
        ck_assert_str_eq(entry.user, strchr(good[i].text, '@') ? "me" : "");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(tern_host_parse(bad[i], &entry) == TERN_ERR_ARG, "\"%s\" is accepted",
                      bad[i]);
}
END_TEST

START_TEST(test_hostfile_lines)
{
    static const struct {
        const char *line;
        int result;
        const char *name;
        int slots, max_slots;
    } lines[] = {
        { "", 1, "", 0, 0 },
        { "   # a comment\n", 1, "", 0, 0 },
        { "n1\n", 0, "n1", 0, 0 },
        { "  n1  slots=4 # four\n", 0, "n1", 4, 0 },
        { "n1 slots=4 max-slots=8", 0, "n1", 4, 8 },
        { "n1\tmax_slots=8\r\n", 0, "n1", 8, 8 },
        { "n1:3", 0, "n1", 3, 0 },
        { "me@n1 cpus=2 port=22", 0, "n1", 2, 0 },
        { "n1 slots=", TERN_ERR_ARG, "", 0, 0 },
        { "n1 slots=0", TERN_ERR_ARG, "", 0, 0 },
        { "n1 four", TERN_ERR_ARG, "", 0, 0 },
        { "n1 slots = 4 max-slots =8", 0, "n1", 4, 8 },
        { "n1 slots= 4 // four", 0, "n1", 4, 0 },
        { "n1 cpu=3 slots-max=5 user-name=me", 0, "n1", 3, 5 },
        { "n1 SLOTS_MAX=5", 0, "n1", 5, 5 },
        { "n1 slots =", TERN_ERR_ARG, "", 0, 0 },
        { "n1 slits=4", TERN_ERR_ARG, "", 0, 0 },
        { "n1 slotsy=4", TERN_ERR_ARG, "", 0, 0 },
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct tern_host_entry entry = { 0 };
        ck_assert_int_eq(tern_hostfile_parse_line(lines[i].line, &entry), lines[i].result);
        ck_assert_str_eq(entry.name, lines[i].name);
        ck_assert_int_eq(entry.slots, lines[i].slots);
        ck_assert_int_eq(entry.max_slots, lines[i].max_slots);
    }
}
END_TEST

static void add_host(struct tern_host_list *list, const char *name, int slots)
{
    struct tern_host_entry entry = { .slots = slots };
    strcpy(entry.name, name);
    tern_host_list_add(list, &entry);
}

START_TEST(test_hostfile_comments)
{
    struct tern_host_list list = { 0 };
    ck_assert_int_eq(tern_hostfile_parse("f",
                                         "n1 slots=2 # below /scratch/*\n"
                                         "n2 // and /* too\n"
                                         "/* n3\n"
                                         "n4 */ n5 /* five */ slots=3\n",
                                         &list),
                     0);
    ck_assert_int_eq(list.count, 3);
    ck_assert_str_eq(list.items[0].name, "n1");
    ck_assert_str_eq(list.items[1].name, "n2");
    ck_assert_str_eq(list.items[2].name, "n5");
    ck_assert_int_eq(list.items[2].slots, 3);
    ck_assert_int_eq(tern_hostfile_parse("f", "n6 /* has no end\nn7\n", &list), TERN_ERR_ARG);
    tern_host_list_free(&list);
}
END_TEST

START_TEST(test_host_lists)
{
    struct tern_host_list list = { 0 };
    add_host(&list, "n1", 0);
    add_host(&list, "n2", 2);
    ck_assert_int_eq(list.items[0].slots, 0); /* one per core */
    add_host(&list, "N1", 0);
    add_host(&list, "n2", 3);
    ck_assert_int_eq(list.count, 2);
    ck_assert_int_eq(list.items[0].slots, 2);
    ck_assert_int_eq(list.items[1].slots, 5);
    /* two names of one address, and numbers that would overflow */
    struct tern_host_entry alias = { .name = "n3", .slots = 1 << 20, .address = "192.0.2.3" };
    tern_host_list_add(&list, &alias);
    strcpy(alias.name, "n3.example.org");
    tern_host_list_add(&list, &alias);
    ck_assert_int_eq(list.count, 3);
    ck_assert_int_eq(list.items[2].slots, 1 << 20);
    ck_assert_str_eq(list.items[2].name, "n3");
    ck_assert_int_eq(tern_host_list_find(&list, "N3"), 2);
    tern_host_list_free(&list);
}
END_TEST

static const char *joined(const struct tern_strings *list)
{
    static char text[4096];
    text[0] = '\0';
    for (int i = 0; i < list->count; i++)
        sprintf(text + strlen(text), "%s%s", i ? " " : "", list->items[i]);
    return text;
}

START_TEST(test_slurm_names)
{
    static const struct {
        const char *text, *names; /* NULL: refused */
    } lists[] = {
        { "n1", "n1" },
        { "n1,gpu-a", "n1 gpu-a" },
        { "n[1-3,7]", "n1 n2 n3 n7" },
        { "n[08-11]", "n08 n09 n10 n11" },
        { "n[1-2]-ib,m[5]", "n1-ib n2-ib m5" },
        { "r[1-2]n[1,3]", "r1n1 r1n3 r2n1 r2n3" },
        { "", NULL },
        { "n[1-", NULL },
        { "n[]", NULL },
        { "n[3-1]", NULL },
        { "n[a]", NULL },
        { "n[1;2]", NULL },
        { "a]n1,2]", NULL },
        { "n[[1-2]]", NULL },
        { "n1,,n2", NULL },
        { "n[1-99999999999]", NULL },
        { "n[1-9999][1-9999]", NULL },
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct tern_strings names = { 0 };
        int error = tern_slurm_expand(lists[i].text, &names);
        ck_assert_msg(error == (lists[i].names ? 0 : TERN_ERR_ARG), "\"%s\": %d", lists[i].text,
                      error);
        if (!error)
            ck_assert_str_eq(joined(&names), lists[i].names);
        tern_strings_free(&names);
    }
}
END_TEST

START_TEST(test_directions)
{
    struct tern_directions given = { .port = 4711, .timeout_ms = 3000 }, found;
    memset(given.secret, 0xa5, sizeof given.secret);
    tern_strings_add(&given.addresses, "10.0.0.1");
    tern_strings_add(&given.addresses, "fd00::1");
    tern_strings_add(&given.hosts, "");
    tern_strings_add(&given.hosts, "n2");
    char *text = tern_directions_write(&given);
    size_t size = strlen(text);
    for (size_t part = 0; part < size; part++)
        ck_assert(!tern_directions_end(text, part));
    ck_assert(tern_directions_end(text, size));
    ck_assert_int_eq(tern_directions_read(text, &found), 0);
    ck_assert_mem_eq(found.secret, given.secret, sizeof given.secret);
    ck_assert_int_eq(found.port, 4711);
    ck_assert_int_eq(found.timeout_ms, 3000);
    ck_assert_int_eq(found.addresses.count, 2);
    ck_assert_str_eq(found.addresses.items[1], "fd00::1");
    ck_assert_int_eq(found.hosts.count, 2);
    ck_assert_str_eq(found.hosts.items[0], "");
    ck_assert_str_eq(found.hosts.items[1], "n2");
    free(text);
    tern_strings_free(&found.addresses);
    tern_strings_free(&found.hosts);
    tern_strings_free(&given.addresses);
    tern_strings_free(&given.hosts);

    static const char *const bad[] = {
        "end\n",
        "secret 00\nport 1\ntimeout 1\naddress a\nhost h\nend\n",
        "secret %s\nport 65536\ntimeout 1\naddress a\nhost h\nend\n",
        "secret %s\nport 1x\ntimeout 1\naddress a\nhost h\nend\n",
        "secret %s\nport 1\naddress a\nhost h\nend\n",
        "secret %s\nport 1\ntimeout 1\nhost h\nend\n",
        "secret %s\nport 1\ntimeout 1\naddress a\nhost h\n",
        "secret %s\nport 1\ntimeout 1\naddress a\nguest h\nend\n",
        "secret %s\nport 1\ntimeout 1\naddress a\nhost\nend\n",
    };
    char secret[2 * TERN_SECRET_BYTES + 1];
    tern_secret_write(given.secret, secret);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char copy[300];
        const char *at = strstr(bad[i], "%s");
        snprintf(copy, sizeof copy, "%.*s%s%s", at ? (int)(at - bad[i]) : 0, bad[i],
                 at ? secret : "", at ? at + 2 : bad[i]);
        ck_assert_msg(tern_directions_read(copy, &found) == TERN_ERR_ARG, "%s", bad[i]);
    }
}
END_TEST

START_TEST(test_slurm_numbers)
{
    int numbers[4];
    ck_assert_int_eq(tern_slurm_numbers("2(x3),1", 4, numbers), 0);
    ck_assert(numbers[0] == 2 && numbers[1] == 2 && numbers[2] == 2 && numbers[3] == 1);
    ck_assert_int_eq(tern_slurm_numbers("8", 1, numbers), 0);
    ck_assert_int_eq(numbers[0], 8);
    static const char *const bad[] = { "", "2", "2(x", "2(x9", "0(x4)", "x", "2(x0),1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(tern_slurm_numbers(bad[i], 4, numbers) == TERN_ERR_ARG, "\"%s\"", bad[i]);
}
END_TEST

static int read_allocation(const char *text, bool with_slots, struct tern_host_list *list)
{
    char path[] = "/tmp/test-parse.XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    *list = (struct tern_host_list){ 0 };
    int error = tern_allocation_read(path, with_slots, list);
    unlink(path);
    return error;
}

START_TEST(test_allocation_files)
{
    struct tern_host_list list;
    ck_assert_int_eq(read_allocation("n1\nn1\nn2\n\nn1\n", false, &list), 0);
    ck_assert_int_eq(list.count, 2);
    ck_assert_int_eq(list.items[0].slots, 3);
    ck_assert_int_eq(list.items[1].slots, 1);
    tern_host_list_free(&list);
    ck_assert_int_eq(read_allocation("n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 UNDEFINED\n", true, &list), 0);
    ck_assert_int_eq(list.items[0].slots, 4);
    ck_assert_str_eq(list.items[1].name, "n2");
    tern_host_list_free(&list);
    ck_assert_int_eq(read_allocation("n1\n", true, &list), TERN_ERR_ARG);
    tern_host_list_free(&list);
    ck_assert_int_eq(read_allocation("n1 many\n", true, &list), TERN_ERR_ARG);
    tern_host_list_free(&list);
    ck_assert_int_eq(tern_allocation_read("/nowhere/hosts", false, &list), TERN_ERR_ARG);
}
END_TEST

/* The variables of a batch system, and what --host and --hostfile choose among its hosts. */
START_TEST(test_allocation_is_found)
{
    struct tern_host_list list;
    struct tern_strings none = { 0 }, hosts = { 0 };
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-3]", 1);
    setenv("SLURM_TASKS_PER_NODE", "4(x2),2", 1);
    ck_assert_int_eq(tern_hosts_collect(&none, &none, NULL, &list), 0);
    ck_assert_int_eq(list.count, 3);
    ck_assert_int_eq(list.items[0].slots, 4);
    ck_assert_int_eq(list.items[2].slots, 2);
    tern_host_list_free(&list);
    tern_strings_add(&hosts, "n3");
    tern_strings_add(&hosts, "n1:1");
    ck_assert_int_eq(tern_hosts_collect(&hosts, &none, NULL, &list), 0);
    ck_assert_int_eq(list.count, 2);
    ck_assert_str_eq(list.items[0].name, "n3");
    ck_assert_int_eq(list.items[0].slots, 1); /* a name alone is one slot, as outside a job */
    ck_assert_int_eq(list.items[1].slots, 1);
    tern_host_list_free(&list);
    tern_strings_add(&hosts, "n4");
    ck_assert_int_eq(tern_hosts_collect(&hosts, &none, NULL, &list), TERN_ERR_ARG);
    ck_assert_str_eq(tern_error_text(TERN_ERR_ARG),
                     "host n4 is not in this Slurm job's allocation (SLURM_JOB_NODELIST)");
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_TASKS_PER_NODE");
    ck_assert_int_eq(tern_hosts_collect(&none, &none, NULL, &list), 0);
    ck_assert(list.count == 1 && list.items[0].here && list.items[0].slots == 0);
    tern_host_list_free(&list);
    tern_strings_free(&hosts);
}
END_TEST

/* Returns the command line for a question, as one text. The caller frees it. */
static char *line_for(const char *question)
{
    struct tern_spawn_line line;
    char *copy = strdup(question), *text = strdup("");
    ck_assert_int_eq(tern_spawn_line_make("mpirun", copy, &line), 0);
    for (int i = 0; i < line.words.count; i++) {
        char *longer = tern_must_format("%s%s%s", text, i ? " " : "", line.words.items[i]);
        free(text);
        text = longer;
    }
    tern_strings_free(&line.words);
    free(line.separator);
    free(copy);
    return text;
}

/* Each program that ranks start has the hosts of its own info, or those of its parents. */
START_TEST(test_hosts_of_children)
{
    static const struct {
        const char *question, *line;
    } cases[] = {
        {"host=n1:2\nprogram=a\nnp=1\nprogram=b\nnp=1\n",
         "mpirun --stdin none --bind-to none -np 1 --host n1:2 -- a : -np 1 -- b"},
        {"host=n1:2\nprogram=a\nnp=1\nkey=host\nvalue=n2:1\nprogram=b\nnp=3\nkey=host\nvalue="
         "n3:3,n1\n",
         "mpirun --stdin none --bind-to none -np 1 --host n2:1 -- a : -np 3 --host n3:3 --host n1:2 -- b"},
        {"host=n1:2\nprogram=a\nnp=1\nprogram=b\nnp=1\nkey=add-host\nvalue=n2\n",
         "mpirun --stdin none --bind-to none -np 1 --host n1:2 -- a : -np 1 --host n1:2 --host n2:* -- b"},
        {"host=n1:2\nprogram=a\nnp=1\nkey=hostfile\nvalue=f\nkey=add-hostfile\nvalue=g\n"
         "program=b\nnp=1\n",
         "mpirun --stdin none --bind-to none -np 1 --hostfile f --add-hostfile g -- a : -np 1 --host n1:2 -- b"},
        {"host=n1:3\nprogram=a\nnp=2\nkey=host\nvalue=n1\nprogram=b\nnp=1\nkey=host\nvalue=n1\n",
         "mpirun --stdin none --bind-to none -np 2 --host n1:3 -- a : -np 1 --host n1:1 -- b"},
        {"program=a\narg=:\nnp=1\nprogram=b\narg=::\nnp=1\n",
         "mpirun --stdin none --bind-to none -np 1 -- a : ::: -np 1 -- b ::"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *line = line_for(cases[i].question);
        ck_assert_str_eq(line, cases[i].line);
        free(line);
    }
}
END_TEST

START_TEST(test_frames)
{
    struct tern_parcel parcel = { 0 }, wire = { 0 };
    struct tern_strings words = { 0 }, read = { 0 };
    tern_strings_add(&words, "one");
    tern_strings_add(&words, "");
    tern_parcel_number(&parcel, -5);
    tern_parcel_string(&parcel, NULL);
    tern_parcel_string(&parcel, "text");
    tern_parcel_strings(&parcel, &words);
    struct tern_frame sent = { .kind = TERN_FRAME_JOB, .host = 3, .rank = -1, .value = 9, .id = 1ull << 40,
                               .data = parcel.bytes, .size = (uint32_t)parcel.size }, got;
    tern_frame_write(&wire, &sent);
    for (size_t size = 0; size < wire.size; size++)
        ck_assert_int_eq(tern_frame_read(wire.bytes, size, &got), 0);
    ck_assert_int_eq(tern_frame_read(wire.bytes, wire.size, &got), (int64_t)wire.size);
    ck_assert(got.kind == sent.kind && got.host == 3 && got.rank == -1 && got.value == 9 && got.id == sent.id);
    struct tern_reader reader = { .at = got.data, .left = got.size };
    ck_assert_int_eq(tern_read_number(&reader), -5);
    ck_assert_ptr_null(tern_read_string(&reader));
    ck_assert_str_eq(tern_read_string(&reader), "text");
    tern_read_strings(&reader, &read);
    ck_assert(!reader.bad && reader.left == 0 && read.count == 2 && strcmp(read.items[0], "one") == 0);
    /* cut anywhere, it is bad and nothing is read beyond its end */
    for (size_t size = 0; size < got.size; size++) {
        char *cut = malloc(size ? size : 1);
        memcpy(cut, got.data, size);
        struct tern_strings some = { 0 };
        reader = (struct tern_reader){ .at = cut, .left = size };
        tern_read_number(&reader);
        tern_read_string(&reader);
        tern_read_string(&reader);
        tern_read_strings(&reader, &some);
        ck_assert(reader.bad);
        tern_strings_free(&some);
        free(cut);
    }
    /* a length that lies, a string without an end, a head that is none */
    int64_t lie = -1;
    memcpy(parcel.bytes + 8, &lie, sizeof lie);
    reader = (struct tern_reader){ .at = parcel.bytes + 8, .left = parcel.size - 8 };
    ck_assert_ptr_null(tern_read_string(&reader));
    ck_assert(reader.bad);
    struct tern_parcel open_end = { 0 };
    tern_parcel_blob(&open_end, "abc", 3);
    reader = (struct tern_reader){ .at = open_end.bytes, .left = open_end.size };
    ck_assert_ptr_null(tern_read_string(&reader));
    ck_assert(reader.bad);
    wire.bytes[4] = (char)TERN_FRAME_KINDS;
    ck_assert_int_eq(tern_frame_read(wire.bytes, wire.size, &got), -1);
    wire.bytes[4] = TERN_FRAME_JOB;
    wire.bytes[3] = 0x7f;
    ck_assert_int_eq(tern_frame_read(wire.bytes, wire.size, &got), -1);
    tern_parcel_free(&open_end);
    tern_parcel_free(&parcel);
    tern_parcel_free(&wire);
    tern_strings_free(&words);
    tern_strings_free(&read);
}
END_TEST

START_TEST(test_policies)
{
    struct tern_options options = { 0 };
    ck_assert_int_eq(tern_policy_map_by("--map-by", "Socket:PE=4:OVERSUBSCRIBE", &options), 0);
    ck_assert(options.map.by == TERN_MAP_LEVEL_SOCKET && options.map.pe == 4 && options.oversubscribe);
    options = (struct tern_options){ 0 };
    ck_assert_int_eq(tern_policy_map_by("--map-by", "ppr:3:numa:pe=2", &options), 0);
    ck_assert(options.map.per_object == 3 && options.map.per_level == TERN_MAP_LEVEL_NUMA &&
              options.map.pe == 2);
    options = (struct tern_options){ 0 };
    options.map.by = TERN_MAP_LEVEL_DEFAULT;
    ck_assert_int_eq(tern_policy_map_by("--map-by", ":NOOVERSUBSCRIBE", &options), 0);
    ck_assert(options.map.by == TERN_MAP_LEVEL_DEFAULT && options.map.no_oversubscribe);
    ck_assert_int_eq(tern_policy_bind_to("--bind-to", "core:overload-allowed", &options), 0);
    ck_assert_int_eq(options.map.bind, TERN_MAP_LEVEL_CORE);
    ck_assert_int_eq(tern_policy_rank_by("--rank-by", "l3cache", &options), 0);
    ck_assert_int_eq(options.map.rank_by, TERN_MAP_LEVEL_L3);
    static const char *const bad[] = { "x",          "none",       "ppr",          "ppr:2",
                                       "ppr:x:core", "ppr:0:core", "ppr:2:none",   "core:x",
                                       "core:pe=0",  "core:pe=",   "slot:pe=99999" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(tern_policy_map_by("--map-by", bad[i], &options) == TERN_ERR_ARG,
                      "\"%s\" is accepted", bad[i]);
    ck_assert_int_eq(tern_policy_bind_to("--bind-to", "slot", &options), TERN_ERR_ARG);
    ck_assert_int_eq(tern_policy_rank_by("--rank-by", "none", &options), TERN_ERR_ARG);
}
END_TEST

START_TEST(test_soft_numbers)
{
    static const struct {
        const char *text;
        int most, expected; /* 0: refused */
    } cases[] = {
        { "4", 8, 4 },        { "4", 3, 0 },       { "1:5", 3, 3 },       { "1:5", 8, 5 },
        { "2:100:2", 7, 6 },  { "2:100:2", 8, 8 }, { "3:9:3,5", 6, 6 },   { "3:9:3,5", 5, 5 },
        { "9:1:-3", 8, 6 },   { "9:1:-3", 2, 0 },  { "-5:-1", 8, 0 },     { "-5:3", 8, 3 },
        { "0", 8, 0 },        { "0:0", 8, 0 },     { "-3:100:4", 8, 5 },  { "1:2:0", 8, 0 },
        { "", 8, 0 },         { "a", 8, 0 },       { "1:2:3:4", 8, 0 },   { "1,,2", 8, 0 },
        { "4,", 8, 0 },       { "2 3", 8, 0 },     { "1:99999999999999999999", 8, 8 },
        { "-99999999999999999999:4", 8, 4 },       { "10:1", 8, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int got = 0, rc = tern_policy_soft("-soft", cases[i].text, cases[i].most, &got);
        ck_assert_msg(got == cases[i].expected && (rc == 0) == (got > 0),
                      "-soft %s of %d: %d, expected %d", cases[i].text, cases[i].most, got,
                      cases[i].expected);
    }
}
END_TEST

START_TEST(test_quotas)
{
    ck_assert_int_eq(tern_quota_from_max("max 100000\n"), 0);
    ck_assert_int_eq(tern_quota_from_max("200000 100000\n"), 2);
    ck_assert_int_eq(tern_quota_from_max("50000 100000"), 1);
    ck_assert_int_eq(tern_quota_from_max("160000 100000"), 2);
    ck_assert_int_eq(tern_quota_from_max(""), 0);
    ck_assert_int_eq(tern_quota_from_period(-1, 100000), 0);
    ck_assert_int_eq(tern_quota_from_period(400000, 100000), 4);
    ck_assert_int_eq(tern_quota_from_period(400000, 0), 0);
}
END_TEST

static struct tern_host record(const char *description, const char *allowed_list)
{
    hwloc_topology_t topology;
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, description), 0);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(allowed, allowed_list);
    struct tern_host host = { 0 };
    tern_topology_record(topology, allowed, &host);
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
    return host;
}

START_TEST(test_machines)
{
    struct tern_host host = record("package:2 [numa] l3:2 core:4 pu:2", "0-31");
    ck_assert_int_eq(host.cpu_count, 32);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_SOCKET), 2);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_NUMA), 2);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_L3), 4);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_CORE), 16);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_L2),
                     4); /* none described: the next wider stands for it */
    for (enum tern_map_level level = TERN_MAP_LEVEL_NODE; level <= TERN_MAP_LEVEL_DEFAULT; level++)
        ck_assert_int_eq(tern_host_objects(&host, level), 1);
    free(host.cpus);
    /* what affinity leaves is numbered from 0 without holes */
    host = record("package:2 [numa] l3:2 core:4 pu:2", "5,20-23,31");
    ck_assert_int_eq(host.cpu_count, 6);
    ck_assert_int_eq(host.cpus[0].os_index, 5);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_CORE), 4);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_SOCKET), 2);
    ck_assert_int_eq(host.cpus[1].id[TERN_MAP_LEVEL_SOCKET], 1);
    ck_assert_int_eq(host.cpus[1].id[TERN_MAP_LEVEL_HWTHREAD], 1);
    free(host.cpus);
    /* neither packages nor cores described */
    host = record("pu:3", "0-2");
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_CORE), 3);
    ck_assert_int_eq(tern_host_objects(&host, TERN_MAP_LEVEL_SOCKET), 1);
    free(host.cpus);
    /* nothing left at all: still something to run on */
    host = record("core:2 pu:1", "");
    ck_assert_int_eq(host.cpu_count, 1);
    free(host.cpus);
}
END_TEST

/* The kernel's table of connections, as an agent finds its own there. */
/* Returns which of the jobs a, b, c, d are connected to `from`, as letters. */
static const char *tied(int from, const char *a, const char *b, const char *c, const char *d)
{
    static char letters[5];
    bool found[4];
    int count = 0;
    tern_ties_find((const char *const[]){a, b, c, d}, 4, from, found);
    for (int i = 0; i < 4; i++)
        if (found[i])
            letters[count++] = (char)('a' + i);
    letters[count] = 0;
    return letters;
}

static bool closed(const char *a, const char *b, const char *c)
{
    return tern_ties_are_closed((const char *const[]){a, b, c}, 3);
}

START_TEST(test_closed_jobs)
{
    ck_assert(closed("", "", ""));
    ck_assert(closed("a b", "b a", ""));
    ck_assert(closed("a b c", "b a", "c a"));
    ck_assert(closed("a", "b c", "c b"));
    ck_assert(closed("-a -b", "a b", ""));
    ck_assert(!closed("a b", "", ""));
    ck_assert(!closed("a x", "", "c x"));
    ck_assert(!closed("a b", "b a x", "c"));
    ck_assert(!closed("a b", "b *", ""));
}
END_TEST

START_TEST(test_connected_jobs)
{
    ck_assert_str_eq(tied(0, "", "", "", ""), "a");
    ck_assert_str_eq(tied(0, "a b", "b a", "", "d x"), "ab");
    ck_assert_str_eq(tied(0, "a b", "b a c", "c b", "d x"), "abc"); /* by a third job */
    ck_assert_str_eq(tied(0, "a x", "b c", "c b", "d x"), "ad");    /* by a job of another mpirun */
    ck_assert_str_eq(tied(0, "-a -b", "b a", "", ""), "a");         /* a has begun to part */
    ck_assert_str_eq(tied(1, "-a -b", "b a", "", ""), "ab");        /* b has not */
    ck_assert_str_eq(tied(0, "a -b c", "b a", "c a", ""), "abc");
    ck_assert_str_eq(tied(0, "ab cd", "abc ab", "cd ab d", "d c"), "abcd");
    ck_assert_str_eq(tied(0, "ab", "abc", "a", "b"), "a");
    ck_assert_str_eq(tied(2, "a *", "b c", "c b", ""), "abc");
    ck_assert_str_eq(tied(0, "a *", "b c", "-d", ""), "abc");

    char *first = NULL, *second = NULL, *words;
    ck_assert(tern_ties_note(&first, "a b"));
    ck_assert(!tern_ties_note(&second, "a b"));
    ck_assert(!tern_ties_note(&first, "a b"));
    ck_assert(!tern_ties_note(&first, ""));
    words = tern_ties_words(100);
    ck_assert_str_eq(words, "a b");
    free(words);
    ck_assert(tern_ties_note(&first, "a -b long_name"));
    words = tern_ties_words(8);
    ck_assert_str_eq(words, "a b -b *");
    free(words);
    ck_assert(tern_ties_note(&second, ""));
    ck_assert(tern_ties_note(&first, ""));
    words = tern_ties_words(8);
    ck_assert_str_eq(words, "");
    free(words);
}
END_TEST

START_TEST(test_connections)
{
    static const struct {
        const char *text, *ssh_connection;
        bool is;
        unsigned unanswered;
    } lines[] = {
        { "   1: 02004D0A:0016 01004D0A:D00E 01 00000000:00000000 02:000AF0CC 00000000     0        0 4712 2 0",
          "10.77.0.1 53262 10.77.0.2 22", true, 0 },
        { "   1: 02004D0A:0016 01004D0A:D00E 01 00000020:00000000 01:00000019 00000003     0        0 4712 2 0",
          "10.77.0.1 53262 10.77.0.2 22", true, 3 },
        { "   1: 02004D0A:0016 01004D0A:D00E 01 00000020:00000000 04:00000019 00000000     0        7 4712 2 0",
          "10.77.0.1 53262 10.77.0.2 22", true, 7 },
        { "   1: 02004D0A:0016 01004D0A:D00E 01 00000000:00000000 02:000AF0CC 00000000     0        0 4712 2 0",
          "10.77.0.3 53262 10.77.0.2 22", false, 0 },
        { "   1: 02004D0A:0016 01004D0A:D00F 01 00000000:00000000 02:000AF0CC 00000000     0        0 4712 2 0",
          "10.77.0.1 53262 10.77.0.2 22", false, 0 },
        { "   9: 0000000000000000FFFF000002004D0A:0016 0000000000000000FFFF000001004D0A:D00E 01 "
          "00000000:00000000 02:000AF0CC 00000000     0        0 4712 2 0",
          "10.77.0.1 53262 10.77.0.2 22", true, 0 },
        { "   9: 000077FD000000000000000002000000:0016 000077FD000000000000000001000000:D00E 01 "
          "00000000:00000000 02:000AF0CC 00000000     0        0 4712 2 0",
          "fd77::1 53262 fd77::2 22", true, 0 },
        { "   9: 000077FD000000000000000002000000:0016 000077FD000000000000000001000000:D00E 01 "
          "00000000:00000000 02:000AF0CC 00000000     0        0 4712 2 0",
          "fd77::1 53262 fd77::2", false, 0 },
    };
    struct tern_connection_line line;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert(tern_connection_line_read(lines[i].text, &line));
        ck_assert_uint_eq(line.unanswered, lines[i].unanswered);
        ck_assert_uint_eq(line.inode, 4712);
        ck_assert_msg(tern_connection_is(&line, lines[i].ssh_connection) == lines[i].is, "%s",
                      lines[i].text);
    }
    ck_assert(!tern_connection_line_read("  sl  local_address rem_address   st tx_queue rx_queue",
                                         &line));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parse");
    TCase *all = tcase_create("parse");
    tcase_add_test(all, test_hosts);
    tcase_add_test(all, test_hostfile_lines);
    tcase_add_test(all, test_hostfile_comments);
    tcase_add_test(all, test_host_lists);
    tcase_add_test(all, test_slurm_names);
    tcase_add_test(all, test_directions);
    tcase_add_test(all, test_slurm_numbers);
    tcase_add_test(all, test_allocation_files);
    tcase_add_test(all, test_allocation_is_found);
    tcase_add_test(all, test_hosts_of_children);
    tcase_add_test(all, test_frames);
    tcase_add_test(all, test_connections);
    tcase_add_test(all, test_connected_jobs);
    tcase_add_test(all, test_closed_jobs);
    tcase_add_test(all, test_policies);
    tcase_add_test(all, test_soft_numbers);
    tcase_add_test(all, test_quotas);
    tcase_add_test(all, test_machines);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
