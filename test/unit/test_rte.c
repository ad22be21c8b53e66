/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank concludes from its surroundings: processors from recorded control groups, and whether an inherited
 * descriptor is the memory of its job. */

#include "lib/rte/cpus.h"
#include "lib/rte/node_memory.h"
#include "lib/rte/rte.h"
#include "suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- processors ---- */

/* A host: files and their contents. */
struct host {
    const char *what;
    struct {
        const char *path, *text;
    } files[8];
    struct tern_rte_quota expected;
};

static const struct host hosts[] = {
    {"no control groups at all", {{0}}, {0, 0}},
    {"version 2, root group, no limit", {{"proc/self/cgroup", "0::/\n"}}, {0, 0}},
    {"version 2, no limit set",
     {{"proc/self/cgroup", "0::/user.slice\n"}, {"sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"}},
     {0, 0}},
    {"version 2, two processors",
     {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "200000 100000\n"}},
     {200000, 100000}},
    {"version 2, the group above has the smaller limit",
     {{"proc/self/cgroup", "0::/a/b/c\n"},
      {"sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "800000 100000\n"},
      {"sys/fs/cgroup/a/cpu.max", "300000 100000\n"}},
     {300000, 100000}},
    {"version 2, half a processor",
     {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "50000 100000\n"}},
     {50000, 100000}},
    {"version 2, two and a half",
     {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "250000 100000\n"}},
     {250000, 100000}},
    {"version 2 in a container that sees only its own group, with the limit at the mount",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "400000 100000\n"}},
     {400000, 100000}},
    {"version 2, a path of the host's that is not mounted here",
     {{"proc/self/cgroup", "0::/docker/0123\n"}, {"sys/fs/cgroup/cpu.max", "400000 100000\n"}},
     {400000, 100000}},
    {"version 2, group outside of our namespace",
     {{"proc/self/cgroup", "0::/../other\n"},
      {"sys/fs/other/cpu.max", "100000 100000\n"},
      {"sys/fs/cgroup/cpu.max", "600000 100000\n"}},
     {600000, 100000}},
    {"version 1, quota in the cpu,cpuacct hierarchy",
     {{"proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n0::/\n"},
      {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "500000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"}},
     {500000, 100000}},
    {"version 1, no quota is -1",
     {{"proc/self/cgroup", "3:cpu:/job\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"}},
     {0, 0}},
    {"version 1, only cpuset: says nothing about quota",
     {{"proc/self/cgroup", "3:cpuset:/job\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000\n"},
      {"sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"}},
     {0, 0}},
    {"the tightest limit is that with the smallest part of a period",
     {{"proc/self/cgroup", "0::/a/b\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "20000 10000\n"},
      {"sys/fs/cgroup/a/cpu.max", "150000 100000\n"}},
     {150000, 100000}},
    {"nonsense is passed over",
     {{"proc/self/cgroup", "no colon\n0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "much\n"}},
     {0, 0}},
};

/* Makes the directories above `path`. */
static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700); /* may be there */
        *slash = '/';
    }
}

static void remove_empty_parents(char *path, size_t keep)
{
    for (char *slash = strrchr(path, '/'); slash && (size_t)(slash - path) > keep; slash = strrchr(path, '/')) {
        *slash = 0;
        rmdir(path); /* fails while another file is in it */
    }
}

START_TEST(quota_of_recorded_hosts)
{
    const struct host *host = &hosts[_i];
    char root[] = "/tmp/test_rte.XXXXXX", path[512];
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (int i = 0; host->files[i].path; i++) {
        snprintf(path, sizeof path, "%s/%s", root, host->files[i].path);
        make_parents(path);
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(host->files[i].text, file);
        fclose(file);
    }
    struct tern_rte_quota quota = tern_rte_read_quota(root);
    for (int i = 0; host->files[i].path; i++) {
        snprintf(path, sizeof path, "%s/%s", root, host->files[i].path);
        unlink(path);
        remove_empty_parents(path, sizeof root - 1);
    }
    ck_assert_int_eq(rmdir(root), 0);
    ck_assert_msg(quota.quota_us == host->expected.quota_us && quota.period_us == host->expected.period_us,
                  "%s: got %lld of %lld us", host->what, (long long)quota.quota_us, (long long)quota.period_us);
}
END_TEST

START_TEST(this_process_may_run_somewhere)
{
    long online = sysconf(_SC_NPROCESSORS_CONF);
    ck_assert_int_ge(tern_rte_cpus(), 1);
    ck_assert_int_le(tern_rte_cpus(), online);
}
END_TEST

/* ---- node memory ---- */

#define TOKEN "0123456789abcdef0123456789abcdef"
enum { SIZE = 8192 };

static int make_memory(const char *begin)
{
    int fd = memfd_create("test_rte", 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, SIZE), 0);
    ck_assert_int_eq(pwrite(fd, begin, strlen(begin), 0), (ssize_t)strlen(begin));
    return fd;
}

static size_t behind; /* bytes of the launcher's */

static bool adopt(int fd, const char *rest, int *ret_fd, size_t *ret_size)
{
    char text[200];
    snprintf(text, sizeof text, "%d:%s", fd, rest);
    return tern_rte_adopt_node_memory(text, NULL, ret_fd, ret_size, &behind);
}

START_TEST(own_memory_is_adopted)
{
    int fd = make_memory("TERNSHM1" TOKEN), got = -1;
    size_t size = 0;
    ck_assert(adopt(fd, "8192:" TOKEN, &got, &size));
    ck_assert_int_eq(got, fd);
    ck_assert_uint_eq(size, SIZE);
    ck_assert_uint_eq(behind, 0);
    ck_assert(adopt(fd, "4096:" TOKEN, &got, &size));
    ck_assert_uint_eq(size, 4096);
    ck_assert_uint_eq(behind, SIZE - 4096);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}
END_TEST

/* Whoever starts us may have closed the descriptor; then the launcher's own is there. */
START_TEST(lost_memory_is_opened_at_the_launchers)
{
    int fd = make_memory("TERNSHM1" TOKEN), other = make_memory("something else"), got = -1;
    size_t size = 0;
    char path[64], wrong[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    snprintf(wrong, sizeof wrong, "/proc/%d/fd/%d", (int)getpid(), other);
    ck_assert(!tern_rte_adopt_node_memory("999:8192:" TOKEN, wrong, &got, &size, &behind));
    ck_assert(!tern_rte_adopt_node_memory("999:8192:" TOKEN, "/nowhere", &got, &size, &behind));
    ck_assert(tern_rte_adopt_node_memory("999:8192:" TOKEN, path, &got, &size, &behind));
    ck_assert(got >= 0 && got != fd);
    ck_assert_uint_eq(size, SIZE);
    ck_assert(fcntl(got, F_GETFD) & FD_CLOEXEC);
    close(got);
    close(other);
    close(fd);
}
END_TEST

START_TEST(jobs_of_our_launcher_are_known)
{
    ck_assert(tern_rte_gives_node_memory("tern-0123456789abcdef"));
    ck_assert(!tern_rte_gives_node_memory("tern-0123456789abcdef0"));
    ck_assert(!tern_rte_gives_node_memory("tern-host"));
    ck_assert(!tern_rte_gives_node_memory("prterun-host-1@1"));
}
END_TEST

START_TEST(everything_else_is_refused)
{
    static const char *const wrong[] = {"8192:" TOKEN "0", "8192:0123", "8193:" TOKEN, "8192", "", "x:" TOKEN,
                                        "8192:ffffffffffffffffffffffffffffffff"};
    int fd = make_memory("TERNSHM1" TOKEN), other = make_memory("something else"), pipes[2], got = -5;
    size_t size = 77;
    behind = 78;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!adopt(fd, wrong[i], &got, &size), "%s", wrong[i]);
    ck_assert(!adopt(other, "8192:" TOKEN, &got, &size));
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert(!adopt(pipes[0], "8192:" TOKEN, &got, &size));
    ck_assert(!adopt(-1, "8192:" TOKEN, &got, &size));
    close(fd);
    ck_assert(!adopt(fd, "8192:" TOKEN, &got, &size));
    ck_assert(!tern_rte_adopt_node_memory(NULL, NULL, &got, &size, &behind));
    ck_assert_int_eq(got, -5);
    ck_assert_uint_eq(size, 77);
    ck_assert_uint_eq(behind, 78);
    ck_assert(!(fcntl(other, F_GETFD) & FD_CLOEXEC)); /* not touched */
    close(other);
    close(pipes[0]);
    close(pipes[1]);
}
END_TEST

/* ---- a job of one ---- */

START_TEST(singleton_knows_itself)
{
    void *value;
    size_t length;
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_RANK");
    ck_assert_int_eq(tern_rte_init(), 0);
    ck_assert(!tern_rte.managed);
    ck_assert_uint_eq(tern_rte.size, 1);
    ck_assert_uint_eq(tern_rte.local_size, 1);
    ck_assert_uint_eq(tern_rte.local_ranks[0], 0);
    ck_assert_int_eq(tern_rte.node_memory_fd, -1);
    ck_assert_int_eq(tern_rte_put("key", "old", 4), 0);
    ck_assert_int_eq(tern_rte_put("key", "new", 4), 0);
    ck_assert_int_eq(tern_rte_fence(true), 0);
    ck_assert_int_eq(tern_rte_get(0, "key", &value, &length), 0);
    ck_assert_uint_eq(length, 4);
    ck_assert_str_eq(value, "new");
    free(value);
    ck_assert_int_ne(tern_rte_get(0, "none", &value, &length), 0);
    ck_assert_int_ne(tern_rte_get(1, "key", &value, &length), 0);
    ck_assert_int_eq(tern_rte_finalize(), 0);
    ck_assert_int_eq(tern_rte_init(), 0);
    ck_assert_uint_eq(tern_rte.size, 1);
    ck_assert_int_eq(tern_rte_finalize(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rte");
    TCase *tcase = suite_case(suite, "all");
    tcase_add_loop_test(tcase, quota_of_recorded_hosts, 0, sizeof hosts / sizeof *hosts);
    tcase_add_test(tcase, this_process_may_run_somewhere);
    tcase_add_test(tcase, own_memory_is_adopted);
    tcase_add_test(tcase, lost_memory_is_opened_at_the_launchers);
    tcase_add_test(tcase, jobs_of_our_launcher_are_known);
    tcase_add_test(tcase, everything_else_is_refused);
    tcase_add_test(tcase, singleton_knows_itself);
    return suite_run(suite);
}
