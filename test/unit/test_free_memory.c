/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory is free: recorded files of nodes and of control groups of both versions. */

#include "lib/node/free_memory.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1024ll * 1024)

static char root[] = "/tmp/test_free_memory.XXXXXX";

static void make_root(void)
{
    memcpy(strrchr(root, '.'), ".XXXXXX", sizeof ".XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}

/* Writes a file, and makes the directories around it. */
static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + sizeof root; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void expect(int64_t bytes, const char *words)
{
    char text[TERN_FREE_MEMORY_TEXT];
    ck_assert_int_eq(tern_free_memory(root, text), bytes);
    ck_assert_msg(strstr(text, words), "\"%s\" lacks \"%s\"", text, words);
}

static void write_node(int overcommit)
{
    write_file("/proc/meminfo", "MemTotal:       1048576 kB\nMemFree:         20480 kB\n"
                                "MemAvailable:    524288 kB\nSwapFree:        102400 kB\n"
                                "CommitLimit:     409600 kB\nCommitted_AS:    307200 kB\n");
    write_file("/proc/sys/vm/overcommit_memory", overcommit == 2 ? "2\n" : "0\n");
}

START_TEST(nothing_is_known)
{
    expect(INT64_MAX, "does not tell");
}
END_TEST

START_TEST(a_node_without_groups)
{
    write_node(0);
    expect(612 * MIB, "the node has 612 MiB of free memory");
    write_node(2);
    expect(100 * MIB, "vm.overcommit_memory=2");
}
END_TEST

START_TEST(groups_of_version_1)
{
    write_node(0);
    write_file("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory,hugetlb:/job/step\n0::/\n");
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "104857600\n");
    write_file("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "73400320\n");
    write_file("/sys/fs/cgroup/memory/job/memory.stat", "cache 5\ntotal_inactive_file 10485760\n");
    write_file("/sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
    expect(40 * MIB, "/sys/fs/cgroup/memory/job has 40 MiB");
}
END_TEST

START_TEST(groups_of_version_2)
{
    write_node(0);
    write_file("/proc/self/cgroup", "0::/slice/job\n");
    write_file("/sys/fs/cgroup/slice/memory.max", "max\n");
    write_file("/sys/fs/cgroup/slice/job/memory.max", "104857600\n");
    write_file("/sys/fs/cgroup/slice/job/memory.current", "104857600\n");
    write_file("/sys/fs/cgroup/slice/job/memory.stat", "anon 7\ninactive_file 1048576\n");
    write_file("/sys/fs/cgroup/slice/job/memory.swap.max", "4194304\n");
    write_file("/sys/fs/cgroup/slice/job/memory.swap.current", "2097152\n");
    expect(3 * MIB, "/sys/fs/cgroup/slice/job has 3 MiB");
    write_file("/sys/fs/cgroup/slice/job/memory.swap.max", "max\n");
    expect(101 * MIB, "/sys/fs/cgroup/slice/job has 101 MiB");
    write_file("/sys/fs/cgroup/slice/memory.max", "0\n");
    expect(100 * MIB, "/sys/fs/cgroup/slice has 100 MiB"); /* the swap */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("free memory");
    TCase *test = suite_case(suite, "recorded files");
    tcase_add_checked_fixture(test, make_root, remove_root);
    tcase_add_test(test, nothing_is_known);
    tcase_add_test(test, a_node_without_groups);
    tcase_add_test(test, groups_of_version_1);
    tcase_add_test(test, groups_of_version_2);
    return suite_run(suite);
}
