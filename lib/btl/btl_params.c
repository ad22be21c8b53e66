/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of the byte movers. `mpi_info --param all all` prints them. */

#include "lib/settings/setting.h"

/* a row leaves out the members that it does not need: choices, when and scope */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_setting btl[] = {
    {"btl", TERN_PARAM_STRING, "", "",
     "Byte movers to use: self, shm, ipc, ofi, tcp (vader, sm and smcuda are other names of shm, "
     "and shm brings ipc with it). A leading ^ excludes those that follow. Empty: all."},
    {"btl_show_paths", TERN_PARAM_BOOL, "0", "",
     "Print by which paths this rank has reached the others when it leaves MPI: byte mover, "
     "interface, addresses. mpirun --display paths sets it.", .internal = true},
    {"btl_show_fabric", TERN_PARAM_BOOL, "0", "",
     "Print what each host has for libfabric: network devices, the library, its providers; which "
     "one is used, and why not the others. mpirun --display fabric sets it.", .internal = true},
    {"btl_show_topology", TERN_PARAM_BOOL, "0", "",
     "Print what each host is made of: NUMA nodes, GPUs, network cards, and the ways between them. "
     "mpirun --display topo sets it.", .internal = true},
};

const struct tern_param_room tern_params_btl = {
    "btl", TERN_PARAM_ROWS(btl), "Byte movers: what carries packets between processes."};

static const struct tern_setting btl_shm[] = {
    {"btl_shm_single_copy", TERN_PARAM_STRING, "auto", "",
     "Copy large messages directly from the sender's memory, if the system allows it: always, "
     "never, or auto. auto: only if the sender does not wait in MPI; if both wait, two copies "
     "through shared memory are faster.",
     "auto,xpmem,knem|always,cma,1|never,none,0,emulated",
     .also = "btl_vader_single_copy_mechanism btl_sm_single_copy_mechanism"},
};

const struct tern_param_room tern_params_btl_shm = {
    "btl_shm", TERN_PARAM_ROWS(btl_shm), "The byte mover for ranks on one node: shared memory."};

static const struct tern_setting btl_ofi[] = {
    {"btl_ofi_provider", TERN_PARAM_STRING, "", "",
     "Provider of libfabric to use, as fi_info names it: verbs;ofi_rxm, efa, cxi, tcp;ofi_rxm. "
     "Empty: the best one for the hardware of this host. Set the same value on all ranks."},
    {"btl_ofi_device", TERN_PARAM_STRING, "", "",
     "Devices to use, as fi_info names them (their domains), separated by commas: mlx5_0, cxi0, "
     "eth0. Empty: those nearest to the rank, which ranks of a node share out; of a provider that "
     "works over IP the first that can be used."},
    {"btl_ofi_rails", TERN_PARAM_INT, "4", "devices",
     "Devices that a rank uses at most, if btl_ofi_device names none. Long messages go by all of "
     "them.",
     .least = 1, .most = 4},
    {"btl_ofi_cache", TERN_PARAM_STRING, "auto", "",
     "Keep registrations of memory after a message, for the next one from or to the same memory: "
     "always, never, or auto: if the provider pins memory and the memory is used again. Memory "
     "that the program gives back is noticed (userfaultfd).",
     "auto|always|never"},
    {"btl_ofi_cache_memory", TERN_PARAM_SIZE, "1g", "bytes",
     "Memory whose registrations are kept at most, in each rank.",
     .least = 0, .most = 1ll << 50, .internal = true},
    {"btl_ofi_hmem", TERN_PARAM_STRING, "auto", "",
     "Let network cards read and write the memory of GPUs themselves (FI_HMEM, GPUDirect RDMA): "
     "never; always; auto: with providers that move bytes by hardware; dmabuf: as always, and "
     "register device memory by descriptors (DMA-BUF) only.",
     "auto|always|dmabuf|never"},
};

const struct tern_param_room tern_params_btl_ofi = {
    "btl_ofi", TERN_PARAM_ROWS(btl_ofi), "The byte mover for fabrics: libfabric."};

static const struct tern_setting btl_tcp[] = {
    {"btl_tcp_if_include", TERN_PARAM_STRING, "", "",
     "Network interfaces to use, by name or subnet, separated by commas "
     "(eth0,10.1.0.0/16,fd00::/8). Empty: all that btl_tcp_if_exclude does not exclude."},
    {"btl_tcp_if_exclude", TERN_PARAM_STRING, "127.0.0.1/8,::1/128,sppp", "",
     "Network interfaces not to use, by name or subnet; not together with btl_tcp_if_include."},
    {"btl_tcp_links", TERN_PARAM_INT, "1", "",
     "Connections between two ranks for each pair of interfaces that they use.",
     .least = 1, .most = 8},
    {"btl_tcp_disable_family", TERN_PARAM_STRING, "0", "", "4: no IPv4, 6: no IPv6; 0: both.",
     "0|4|6"},
    {"btl_tcp_port_min_v4", TERN_PARAM_INT, "0", "",
     "The lowest TCP port to listen at; 0: the system chooses.",
     .least = 0, .most = 65535},
    {"btl_tcp_port_range_v4", TERN_PARAM_INT, "64511", "",
     "Number of ports, counted from btl_tcp_port_min_v4, that ranks may listen at.",
     .least = 1, .most = 65536},
    {"btl_tcp_sndbuf", TERN_PARAM_SIZE, "0", "bytes",
     "Size of the system's send buffer of a connection; 0: the system chooses.",
     .least = 0, .most = 1 << 30},
    /* 16k: the system counts its own memory for each segment, so a smaller buffer hardly holds one.
     * Then the window closes after each segment, and opens again only when the other end's timer
     * asks, five times a second. */
    {"btl_tcp_rcvbuf", TERN_PARAM_SIZE, "0", "bytes",
     "Size of the system's receive buffer of a connection; 0: the system chooses.",
     .least = 16 << 10, .most = 1 << 30, .or_zero = true},
    {"btl_tcp_congestion", TERN_PARAM_STRING, "", "",
     "Congestion control of connections: a name that the system offers, or `system` for its "
     "default. Empty: reno within a host; between hosts the system's default, but cubic or reno if "
     "the default is bbr, which delays packets.", .internal = true},
    {"btl_tcp_encrypt", TERN_PARAM_BOOL, "0", "",
     "Encrypt and authenticate all messages by TCP between ranks (AES-128-GCM). The mover ofi, "
     "which cannot do that, is left out. Set the same value on all ranks. docs/tuning.md shows the "
     "cost."},
    {"btl_tcp_timeout", TERN_PARAM_INT, "30", "s",
     "If a peer's host is silent for this time, its connections are lost. Set the same value on "
     "all ranks. A peer that computes or is stopped is not lost, because its host answers.",
     .least = 3, .most = 24 * 3600},
};

const struct tern_param_room tern_params_btl_tcp = {
    "btl_tcp", TERN_PARAM_ROWS(btl_tcp), "The byte mover between nodes: TCP connections."};
