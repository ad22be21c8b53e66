/* SPDX-License-Identifier: BSD-3-Clause */

/* The order of ranks by where their GPUs are, for 1 to 12 GPUs on machines of several kinds, with ranks dealt out at random:
 * each slow way is passed once in each direction, and NVLink is used where there is a ring of it. */
#include "lib/coll/price/device_order.h"
#include "random.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS_MOST = 12, RANKS_MOST = 24 };

/* A machine: where its GPUs are. */
struct machine {
    int gpus;
    struct tern_gpu_way gpu[GPUS_MOST];
};

static void add_gpu(struct machine *machine, const char *way, int node)
{
    struct tern_gpu_way *gpu = &machine->gpu[machine->gpus];
    memset(gpu, 0, sizeof *gpu);
    snprintf(gpu->way, sizeof gpu->way, "%s/0000:%02x:00.0", way, 0x1a + machine->gpus++);
    gpu->node = node;
}

static void join(struct machine *machine, int a, int b)
{
    struct tern_gpu_way *one = &machine->gpu[a], *other = &machine->gpu[b];
    one->linked[one->links++] = tern_gpu_address(strrchr(other->way, '/') + 1);
}

/* Two GPUs behind each switch, two switches at each host bridge, two host bridges in each NUMA node. */
static struct machine bus(int gpus)
{
    struct machine machine = {0};
    char way[64];
    for (int i = 0; i < gpus; i++) {
        snprintf(way, sizeof way, "/pci0000:%02x/0000:%02x:%02x.0/0000:%02x:00.0", i / 4, i / 4, i / 2 % 2, 0x80 + i / 2);
        add_gpu(&machine, way, i / 8);
    }
    return machine;
}

static enum tern_gpu_reach reach_of(const struct machine *machine, const int *gpu_of, int a, int b)
{
    return tern_gpu_reach(&machine->gpu[gpu_of[a]], &machine->gpu[gpu_of[b]]);
}

static struct tern_device_order *order_of(const struct machine *machine, const int *gpu_of, int ranks)
{
    uint8_t reach[RANKS_MOST * RANKS_MOST];
    struct tern_device_order *order;
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++)
            reach[ranks * a + b] = (uint8_t)reach_of(machine, gpu_of, a, b);
    ck_assert_int_eq(tern_device_order_make(ranks, reach, &order), 0);
    for (int i = 0; i < ranks && order->rank_at; i++) {
        ck_assert_int_ge(order->rank_at[i], 0);
        ck_assert_int_lt(order->rank_at[i], ranks);
        ck_assert_int_eq(order->place_of[order->rank_at[i]], i);
    }
    return order;
}

/* Counts the steps of the ring by how they reach. */
static void count_steps(const struct machine *machine, const int *gpu_of, int ranks,
                        int counts[TERN_GPU_REACHES])
{
    struct tern_device_order *order = order_of(machine, gpu_of, ranks);
    memset(counts, 0, TERN_GPU_REACHES * sizeof *counts);
    for (int i = 0; i < ranks; i++) {
        int next = (i + 1) % ranks;
        counts[reach_of(machine, gpu_of, order->rank_at ? order->rank_at[i] : i,
                        order->rank_at ? order->rank_at[next] : next)]++;
    }
    tern_device_order_free(order);
}

static void deal_out(int *gpu_of, int gpus, int per_gpu)
{
    for (int r = 0; r < gpus * per_gpu; r++)
        gpu_of[r] = r / per_gpu;
    for (int r = gpus * per_gpu - 1; r > 0; r--) {
        int other = (int)choose(0, r), gpu = gpu_of[r];
        gpu_of[r] = gpu_of[other];
        gpu_of[other] = gpu;
    }
}

/* Parts of a tree, of which there are several, are each entered once. */
static int entered(int parts)
{
    return parts > 1 ? parts : 0;
}

START_TEST(each_part_of_the_bus_is_entered_once)
{
    int gpu_of[RANKS_MOST], counts[TERN_GPU_REACHES];
    for (int gpus = 1; gpus <= GPUS_MOST; gpus++)
        for (int per_gpu = 1; per_gpu <= 2; per_gpu++)
            for (int round = 0; round < 20; round++) {
                struct machine machine = bus(gpus);
                int nodes = entered((gpus + 7) / 8), bridges = entered((gpus + 3) / 4), switches = entered((gpus + 1) / 2);
                deal_out(gpu_of, gpus, per_gpu);
                count_steps(&machine, gpu_of, gpus * per_gpu, counts);
                ck_assert_int_eq(counts[TERN_GPU_FAR], nodes);
                ck_assert_int_eq(counts[TERN_GPU_FAR] + counts[TERN_GPU_NODE], bridges);
                ck_assert_int_eq(counts[TERN_GPU_FAR] + counts[TERN_GPU_NODE] + counts[TERN_GPU_ROOT], switches);
                ck_assert_int_eq(counts[TERN_GPU_SAME], gpus == 1 ? per_gpu : gpus * (per_gpu - 1));
            }
}
END_TEST

/* Eight GPUs, each joined to four others: the corners of two squares with their diagonals, and pairs between them. */
START_TEST(a_ring_of_nvlink_is_found)
{
    int gpu_of[RANKS_MOST], counts[TERN_GPU_REACHES];
    for (int round = 0; round < 50; round++) {
        struct machine machine = bus(8);
        for (int a = 0; a < 4; a++) {
            join(&machine, a, a + 4);
            for (int b = 0; b < a; b++) {
                join(&machine, a, b);
                join(&machine, a + 4, b + 4);
            }
        }
        deal_out(gpu_of, 8, 1);
        count_steps(&machine, gpu_of, 8, counts);
        ck_assert_int_eq(counts[TERN_GPU_NVLINK], 8);
    }
}
END_TEST

/* Pairs with a bridge of NVLink, whose ends are behind different switches. */
START_TEST(pairs_of_nvlink_are_neighbours)
{
    int gpu_of[RANKS_MOST], counts[TERN_GPU_REACHES];
    for (int round = 0; round < 20; round++) {
        struct machine machine = bus(4);
        join(&machine, 0, 2);
        join(&machine, 3, 1);
        deal_out(gpu_of, 4, 1);
        count_steps(&machine, gpu_of, 4, counts);
        ck_assert_int_eq(counts[TERN_GPU_NVLINK], 2);
        ck_assert_int_eq(counts[TERN_GPU_SWITCH], 2);
    }
}
END_TEST

START_TEST(ranks_keep_their_order_if_it_is_as_good)
{
    static const int in_order[] = {0, 1, 2, 3, 4, 5, 6, 7}, twice[] = {0, 0, 1, 1, 2, 2, 3, 3}, mixed[] = {0, 2, 1, 3};
    struct machine machine = bus(8);
    for (int ranks = 1; ranks <= 8; ranks++) {
        struct tern_device_order *order = order_of(&machine, in_order, ranks);
        ck_assert_ptr_null(order->rank_at);
        tern_device_order_free(order);
    }
    struct tern_device_order *order = order_of(&machine, twice, 8);
    ck_assert_ptr_null(order->rank_at);
    tern_device_order_free(order);
    for (int i = 0; i < 8; i++)
        machine.gpu[i].switched = 18;
    order = order_of(&machine, mixed, 4);
    ck_assert_ptr_null(order->rank_at);
    ck_assert_int_eq(order->group, 4);
    ck_assert_int_eq(order->far, TERN_GPU_NVLINK);
    tern_device_order_free(order);
}
END_TEST

START_TEST(groups_are_what_the_worst_way_parts)
{
    static const int mixed[] = {0, 4, 1, 5, 2, 6, 3, 7};
    struct machine machine = bus(8);
    struct tern_device_order *order = order_of(&machine, mixed, 8);
    ck_assert_int_eq(order->group, 4);
    ck_assert_int_eq(order->near, TERN_GPU_ROOT);
    ck_assert_int_eq(order->far, TERN_GPU_NODE);
    tern_device_order_free(order);
    order = order_of(&machine, mixed, 2);
    ck_assert_int_eq(order->group, 2);
    ck_assert_int_eq(order->near, TERN_GPU_NODE);
    tern_device_order_free(order);
}
END_TEST

START_TEST(what_is_not_known_is_far)
{
    static const int each[] = {0, 1, 2, 3};
    struct machine machine = bus(4);
    int counts[TERN_GPU_REACHES];
    memset(&machine.gpu[2], 0, sizeof machine.gpu[2]);
    count_steps(&machine, each, 4, counts);
    ck_assert_int_eq(counts[TERN_GPU_FAR], 2);
    struct tern_gpu_way way;
    ck_assert(!tern_gpu_find("/nowhere", "0000:17:00.0", &way));
    ck_assert_str_eq(way.way, "");
    ck_assert_uint_eq(tern_gpu_address("00000000:17:00.0"), tern_gpu_address("0000:17:00.0"));
    ck_assert_uint_eq(tern_gpu_address("mlx5_0"), 0);
}
END_TEST

int main(void)
{
    seed = 20261127;
    Suite *suite = suite_create("order of devices");
    TCase *tcase = suite_case(suite, "order");
    tcase_add_test(tcase, each_part_of_the_bus_is_entered_once);
    tcase_add_test(tcase, a_ring_of_nvlink_is_found);
    tcase_add_test(tcase, pairs_of_nvlink_are_neighbours);
    tcase_add_test(tcase, ranks_keep_their_order_if_it_is_as_good);
    tcase_add_test(tcase, groups_are_what_the_worst_way_parts);
    tcase_add_test(tcase, what_is_not_known_is_far);
    return suite_run(suite);
}
