/* SPDX-License-Identifier: BSD-3-Clause */

/* What is said of a recorded host: two NUMA nodes; two GPUs and a card of the first behind one switch, a GPU and a card of the
 * second; and a card whose place is not known. */

#include "lib/util/base/log.h"
#include "lib/util/machine/host_topology.h"
#include "recorded_host.h"
#include "suite.h"

#include <unistd.h>

static char root[] = "/tmp/test_host_topology.XXXXXX";
static char said[8192];

static bool take(const char *text)
{
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", text);
    return true;
}

static void point(const char *target, const char *format, const char *name)
{
    char path[256], to[512];
    snprintf(path, sizeof path, format, name);
    record(root, "", "%s.folder", path); /* makes the folders above it */
    snprintf(to, sizeof to, "%s%s", root, path);
    if (symlink(target, to)) {
        perror(to);
        exit(1);
    }
}

/* Records a device of the PCI bus at a way below /sys/devices. */
static void record_device(const char *way, const char *class, const char *vendor, const char *node)
{
    const char *address = strrchr(way, '/') + 1;
    char target[512];
    record(root, class, "/sys/devices/%s/class", way);
    record(root, vendor, "/sys/devices/%s/vendor", way);
    record(root, "0x2330\n", "/sys/devices/%s/device", way);
    record(root, node, "/sys/devices/%s/numa_node", way);
    record(root, "32.0 GT/s PCIe\n", "/sys/devices/%s/current_link_speed", way);
    record(root, "16\n", "/sys/devices/%s/current_link_width", way);
    snprintf(target, sizeof target, "../../../devices/%s", way);
    point(target, "/sys/bus/pci/devices/%s", address);
}

static void record_card(const char *class, const char *name, const char *way)
{
    char target[512], link[64];
    snprintf(target, sizeof target, "../../../devices/%s", way);
    snprintf(link, sizeof link, "/sys/class/%s/%%s/device", class);
    point(target, link, name);
}

static void record_host(void)
{
    static const char *const cards[] = {"pci0000:15/0000:15:01.0/0000:16:00.0/0000:19:00.0", "pci0000:97/0000:97:03.0/0000:9a:00.0",
                                        "pci0000:00/0000:00:04.0"};
    record(root, "0-15,32-47\n", "/sys/devices/system/node/node0/cpulist");
    record(root, "Node 0 MemTotal:       131072000 kB\n", "/sys/devices/system/node/node0/meminfo");
    record(root, "16-31,48-63\n", "/sys/devices/system/node/node1/cpulist");
    record_device("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0", "0x030200\n", "0x10de\n", "0\n");
    record_device("pci0000:15/0000:15:01.0/0000:16:00.0/0000:18:00.0", "0x030200\n", "0x10de\n", "0\n");
    record_device("pci0000:97/0000:97:01.0/0000:98:00.0", "0x030200\n", "0x1002\n", "1\n");
    record_device("pci0000:15/0000:15:02.0", "0x030000\n", "0x1a03\n", "0\n"); /* a board's own display */
    record_device(cards[0], "0x020700\n", "0x15b3\n", "0\n");
    record_device(cards[1], "0x020000\n", "0x15b3\n", "1\n");
    record_device(cards[2], "0x020000\n", "0x1af4\n", "-1\n");
    record_card("infiniband", "mlx5_0", cards[0]);
    record_card("net", "ib0", cards[0]);
    record_card("net", "eth1", cards[1]);
    record_card("net", "eth0", "pci0000:00/0000:00:04.0/virtio1");
    record(root, "0x1\n", "/sys/devices/%s/virtio1/device", cards[2]);
    record(root, "", "/sys/class/net/lo/address"); /* no device */
}

static void expect(const char *line)
{
    if (!strstr(said, line))
        ck_abort_msg("no '%s' in:\n%s", line, said);
}

START_TEST(devices_stand_at_their_nodes)
{
    tern_log_divert(take);
    tern_host_topology_show(root);
    tern_log_divert(NULL);
    expect("  NUMA node 0: processors 0-15,32-47; 128000 MiB\n"
           "topology:     GPU 0000:17:00.0: NVIDIA 0x2330, 32.0 GT/s PCIe x 16\n"
           "topology:     GPU 0000:18:00.0: NVIDIA 0x2330, 32.0 GT/s PCIe x 16\n"
           "topology:     network card 0000:19:00.0: mlx5_0, ib0, 32.0 GT/s PCIe x 16\n"
           "topology:   NUMA node 1: processors 16-31,48-63\n"
           "topology:     GPU 0000:98:00.0: AMD 0x2330, 32.0 GT/s PCIe x 16\n"
           "topology:     network card 0000:9a:00.0: eth1, 32.0 GT/s PCIe x 16\n"
           "topology:   devices whose NUMA node the kernel does not tell:\n"
           "topology:     network card 0000:00:04.0: eth0, 32.0 GT/s PCIe x 16\n");
    expect("0000:17:00.0 to 0000:18:00.0: by a switch\n");
    expect("0000:17:00.0 to 0000:19:00.0: by a switch\n");
    expect("0000:17:00.0 to 0000:98:00.0: between NUMA nodes\n");
    expect("0000:98:00.0 to 0000:9a:00.0: by a root of the bus\n");
    ck_assert(!strstr(said, "0000:18:00.0 to 0000:17:00.0"));
    ck_assert(!strstr(said, "0000:15:02.0"));
}
END_TEST

START_TEST(a_host_without_files_is_said)
{
    said[0] = '\0';
    tern_log_divert(take);
    tern_host_topology_show("/nowhere");
    tern_log_divert(NULL);
    expect("the kernel tells no NUMA nodes");
}
END_TEST

int main(void)
{
    if (!mkdtemp(root))
        return 1;
    record_host();
    Suite *suite = suite_create("topology");
    TCase *tcase = suite_case(suite, "topology");
    tcase_add_test(tcase, devices_stand_at_their_nodes);
    tcase_add_test(tcase, a_host_without_files_is_said);
    int failed = suite_run(suite);
    record_end(root);
    return failed;
}
