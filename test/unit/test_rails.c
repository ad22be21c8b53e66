/* SPDX-License-Identifier: BSD-3-Clause */

/* Network cards that a rank uses together: which is the nearest on a recorded host, how ranks share
 * them out, and which card of one host is paired with which of another. */

#include "lib/btl/ofi/fabric/nic.h"
#include "lib/btl/ofi/wire/ofi_frame.h"
#include "recorded_host.h"
#include "suite.h"

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[] = "/tmp/test_rails.XXXXXX";

/* Two NUMA nodes, 0 and 2. This process runs on the second; far0 is a card of the first one. */
static void record_host(void)
{
    char own[4096] = "";
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cpus))
            snprintf(own + strlen(own), sizeof own - strlen(own), "%s%d", *own ? "," : "", cpu);
    strcat(own, "\n");
    record(root, "2000-2003\n", "sys/devices/system/node/node0/cpulist");
    record(root, "10 32\n", "sys/devices/system/node/node0/distance");
    record(root, own, "sys/devices/system/node/node2/cpulist");
    record(root, "32 10\n", "sys/devices/system/node/node2/distance");
    record(root, "0\n", "sys/class/infiniband/far0/device/numa_node");
    record(root, "2\n", "sys/class/infiniband/near0/device/numa_node");
    record(root, "2\n", "sys/class/net/eth0/device/numa_node");
    record(root, "-1\n", "sys/class/cxi/cxi0/device/numa_node");
}

START_TEST(distance_is_that_of_numa_nodes)
{
    ck_assert_int_eq(tern_ofi_nic_distance(root, "far0"), 32);
    ck_assert_int_eq(tern_ofi_nic_distance(root, "near0"), 10);
    ck_assert_int_eq(tern_ofi_nic_distance(root, "eth0"), 10);
    ck_assert_int_eq(tern_ofi_nic_distance(root, "cxi0"), 0);
    ck_assert_int_eq(tern_ofi_nic_distance(root, "none0"), 0);
}
END_TEST

/* Records a device of the PCI bus at a way below /sys/devices, and what points to it. */
static void record_device(const char *way, const char *node, const char *link)
{
    char target[512], path[512];
    record(root, node, "sys/devices/%s/numa_node", way);
    record(root, "", "%s.folder", link); /* makes the folders above it */
    snprintf(target, sizeof target, "%s/sys/devices/%s", root, way);
    snprintf(path, sizeof path, "%s/%s", root, link);
    if (symlink(target, path)) {
        perror(path);
        exit(1);
    }
}

/* A GPU, and cards behind the same switch, at the same root, at the same node, and at another. */
static void record_devices(void)
{
    record_device("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0", "0\n", "sys/bus/pci/devices/0000:17:00.0");
    record_device("pci0000:15/0000:15:01.0/0000:16:00.0/0000:18:00.0", "0\n", "sys/class/infiniband/switch0/device");
    record_device("pci0000:15/0000:15:03.0/0000:1a:00.0", "0\n", "sys/class/infiniband/root0/device");
    record_device("pci0000:30/0000:30:01.0/0000:31:00.0", "0\n", "sys/class/net/node0/device");
    record_device("pci0000:97/0000:97:01.0/0000:98:00.0", "1\n", "sys/class/cxi/beyond0/device");
}

START_TEST(cards_near_a_gpu_are_those_of_its_bus)
{
    static const char gpu[] = "0000:17:00.0";
    ck_assert_int_eq(tern_ofi_nic_device_distance(root, "switch0", gpu), 10);
    ck_assert_int_eq(tern_ofi_nic_device_distance(root, "root0", gpu), 20);
    ck_assert_int_eq(tern_ofi_nic_device_distance(root, "node0", gpu), 30);
    ck_assert_int_eq(tern_ofi_nic_device_distance(root, "beyond0", gpu), 40);
    ck_assert_int_eq(tern_ofi_nic_device_distance(root, "none0", gpu), 0);
    ck_assert_int_eq(tern_ofi_nic_device_distance(root, "switch0", "0000:99:00.0"), 0);
}
END_TEST

static const struct {
    int distances[4];
    uint32_t count, nearest;
} nearest[] = {
    {{40}, 1, 1},
    {{40, 10}, 2, 2},
    {{20, 40, 20, 30}, 4, 5},
    {{0, 0}, 2, 3},       /* nothing is known */
    {{0, 40}, 2, 1},      /* one that is not known is behind the nearest, and before others */
    {{0, 10}, 2, 2},
};

START_TEST(only_the_nearest_cards_serve_a_gpu)
{
    ck_assert_uint_eq(tern_ofi_nics_nearest(nearest[_i].distances, nearest[_i].count), nearest[_i].nearest);
}
END_TEST

START_TEST(a_card_that_nobody_knows_counts_as_up)
{
    ck_assert(tern_ofi_nic_is_up("no_such_card"));
    ck_assert(tern_ofi_nic_is_up("a_name_that_no_interface_may_have"));
}
END_TEST

static const struct {
    int distances[5];
    uint32_t count, before, order[5];
} orders[] = {
    {{10}, 1, 7, {0}},
    {{32, 10}, 2, 0, {1, 0}},
    {{10, 10}, 2, 0, {0, 1}},
    {{10, 10}, 2, 1, {1, 0}},
    {{10, 10}, 2, 2, {0, 1}},
    {{32, 10, 32, 10}, 4, 1, {3, 1, 2, 0}},
    {{10, 10, 10}, 3, 1, {1, 2, 0}},
    {{0, 0}, 2, 1, {1, 0}},       /* nothing is known */
    {{32, 0, 10}, 3, 0, {2, 1, 0}},
};

START_TEST(nearest_cards_come_first_and_are_shared_out)
{
    uint32_t order[5];
    tern_ofi_nics_order(orders[_i].distances, orders[_i].count, orders[_i].before, order);
    for (uint32_t i = 0; i < orders[_i].count; i++)
        ck_assert_uint_eq(order[i], orders[_i].order[i]);
}
END_TEST

/* Rails by the names of their fabrics; a dead one is "-". */
static struct tern_ofi_rails rails_of(const char *names)
{
    struct tern_ofi_rails rails = {0};
    for (; *names; names++) {
        struct tern_ofi_told_rail *rail = &rails.rail[rails.count++];
        rail->fabric[0] = *names;
        rail->name.length = *names == '-' ? 0 : 16;
    }
    return rails;
}

static const struct {
    const char *own, *theirs;
    bool routes;
    const char *pairs; /* own and theirs of each */
} pairings[] = {
    {"A", "A", false, "00"},
    {"A", "B", false, ""},
    {"A", "B", true, "00"},
    {"AB", "AB", true, "0011"},
    {"AB", "BA", true, "1001"},
    {"AA", "AA", false, "0011"}, /* cards of one fabric are paired in turn */
    {"AA", "A", false, "00"},
    {"A", "AA", false, "00"},
    {"-B", "AB", true, "11"}, /* what is left of both, not what may lead nowhere */
    {"AB", "-B", true, "11"},
    {"-B", "A-", true, "10"},
    {"-B", "A-", false, ""},
    {"AB", "CB", false, "11"},
    {"ABCD", "DCBA", false, "30211203"},
};

START_TEST(rails_of_one_fabric_are_paired)
{
    struct tern_ofi_rails own = rails_of(pairings[_i].own), theirs = rails_of(pairings[_i].theirs);
    uint32_t ours[TERN_OFI_RAILS], other[TERN_OFI_RAILS];
    char pairs[2 * TERN_OFI_RAILS + 1] = "";
    uint32_t count = tern_ofi_pair_rails(&own, &theirs, pairings[_i].routes, ours, other);
    for (uint32_t i = 0; i < count; i++) {
        pairs[2 * i] = (char)('0' + ours[i]);
        pairs[2 * i + 1] = (char)('0' + other[i]);
    }
    ck_assert_str_eq(pairs, pairings[_i].pairs);
}
END_TEST

START_TEST(cards_arrive_as_they_were_written)
{
    struct tern_ofi_card card = {.lane_count = 1, .provider = "net"}, read;
    unsigned char bytes[sizeof card];
    for (uint32_t count = 1; count <= TERN_OFI_RAILS; count++) {
        card.rails = rails_of("ABCD");
        card.rails.count = count;
        size_t length = tern_ofi_card_write(&card, bytes);
        ck_assert_uint_le(length, sizeof bytes);
        ck_assert(tern_ofi_card_read(bytes, length, &read));
        ck_assert_uint_eq(read.rails.count, count);
        ck_assert_str_eq(read.rails.rail[count - 1].fabric, card.rails.rail[count - 1].fabric);
        for (size_t shorter = 0; shorter < length; shorter++)
            ck_assert(!tern_ofi_card_read(bytes, shorter, &read));
    }
}
END_TEST

START_TEST(cards_with_impossible_numbers_are_refused)
{
    struct tern_ofi_card card = {.lane_count = 1, .provider = "net", .rails = rails_of("A")}, read;
    unsigned char bytes[sizeof card];
    size_t length = tern_ofi_card_write(&card, bytes);
    memcpy(&card, bytes, length);
    for (uint32_t count = 0; count < 70000; count += count ? count : 5) {
        card.rails.count = count;
        ck_assert(!tern_ofi_card_read(&card, length, &read));
    }
    card.rails.count = 1;
    ck_assert(tern_ofi_card_read(&card, length, &read));
    card.rails.rail[0].name.length = UINT32_MAX;
    ck_assert(!tern_ofi_card_read(&card, length, &read));
}
END_TEST

int main(void)
{
    if (!mkdtemp(root))
        return 1;
    record_host();
    record_devices();
    Suite *suite = suite_create("rails");
    TCase *tests = suite_case(suite, "rails");
    tcase_add_test(tests, distance_is_that_of_numa_nodes);
    tcase_add_test(tests, cards_near_a_gpu_are_those_of_its_bus);
    tcase_add_loop_test(tests, only_the_nearest_cards_serve_a_gpu, 0, sizeof nearest / sizeof *nearest);
    tcase_add_test(tests, a_card_that_nobody_knows_counts_as_up);
    tcase_add_loop_test(tests, nearest_cards_come_first_and_are_shared_out, 0,
                        (int)(sizeof orders / sizeof *orders));
    tcase_add_loop_test(tests, rails_of_one_fabric_are_paired, 0,
                        (int)(sizeof pairings / sizeof *pairings));
    tcase_add_test(tests, cards_arrive_as_they_were_written);
    tcase_add_test(tests, cards_with_impossible_numbers_are_refused);
    int failed = suite_run(suite);
    record_end(root);
    return failed;
}
