/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TEST_OFI_STRICT_H
#define TERN_TEST_OFI_STRICT_H

/*
 * strict: a provider of libfabric for tests, layered on the provider net (tcp in libfabric 2). It demands all that a provider may demand, and keeps
 * to nothing that a provider need not keep to:
 *
 *   - every bit of mr_mode, FI_MR_HMEM only with FI_HMEM; each local buffer must lie in a registration that is enabled, of this endpoint and for
 *     this use; keys are raw ones of 48 bytes, which the reader must map
 *   - a context of FI_CONTEXT2 for each operation, which it overwrites, and which no other operation under way may have
 *   - completions come late and in any order, also those of messages; -FI_EAGAIN at any time; reads and registrations that fail
 *   - device memory only in a registration that says so, with the right device (strict_device.c), and never in a message; it must
 *     not have been freed since
 *   - a registration must not end while an operation uses it, nor when its memory has got other pages than it had
 *
 * Whoever breaks a rule is told which one, and ended by SIGABRT. libfabric loads it from a directory in FI_PROVIDER_PATH.
 *
 *   STRICT_AGAIN, STRICT_READ_FAILS, STRICT_WRITE_FAILS, STRICT_REFUSES, STRICT_SEND_FAILS   per thousand: -FI_EAGAIN; failed
 *                                                      reads and writes; refused registrations for them; sends that end with an error
 *   STRICT_MOST          bytes of the longest registration for reads and writes; longer ones are refused
 *   STRICT_LACKS_RMA=1   offers no FI_RMA
 *   STRICT_LACKS_DELIVERY=1   offers no FI_DELIVERY_COMPLETE
 *   STRICT_SHORT_KEYS=1  keys have 64 bits, and are not mapped (no FI_MR_RAW)
 *   STRICT_HMEM          offers FI_HMEM, and registers device memory of the tests' CUDA driver (test/device/fake.h): `yes`; `dmabuf`:
 *                        only by descriptors; `refuses`: none; `small`: at most 8 MiB at a time, as cards show that have a small BAR
 *   STRICT_SEED          other random decisions
 *   STRICT_REPORT=FILE   each process appends a line of what it counted, when it ends; `left` are registrations for reads and
 *                        writes, and mapped keys, that have not ended, `device_left` those of device memory; `steps_out`, `steps_in`:
 *                        frames before which, since the last one, the CUDA driver had begun a copy
 */

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>

/* but FI_MR_RAW */
#define STRICT_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)
/* of registrations for reads and writes */
#define STRICT_COPIES (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

enum { STRICT_INJECT = 64 };

#define STRICT_OF(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

struct strict_fabric {
    struct fid_fabric fid;
    struct fid_fabric *inner;
};

struct strict_domain {
    struct fid_domain fid;
    struct fid_domain *inner;
    bool devices;    /* FI_HMEM was asked for */
    bool one_thread; /* FI_THREAD_DOMAIN was asked for */
    pthread_mutex_t lock;
    struct strict_mr *regions;  /* guarded by the lock */
    struct strict_map *maps;    /* likewise */
};

/* A registration. */
struct strict_mr {
    struct fid_mr fid;
    struct strict_domain *domain;
    struct strict_mr *next;
    char *start;
    size_t length;
    uint64_t access, key;
    struct strict_ep *endpoint;
    bool enabled;
    int uses;    /* operations under way */
    int pins[2]; /* strict_pins.c */
    char *window;       /* of device memory: where it is reached; else NULL */
    uint64_t device_id; /* of its allocation */
    struct fid_mr *inner;
};

/* A raw key, as it travels. */
struct strict_key {
    uint64_t magic, base, length, inner, salt, check;
};

/* A raw key that was mapped. */
struct strict_map {
    struct strict_map *next;
    uint64_t handle;
    struct strict_key key;
};

/* A buffer that takes many messages is posted as slots, each for one: net itself loses messages there (bare_multi_recv.c). */
enum strict_kind { STRICT_RECEIVE, STRICT_MANY, STRICT_SLOT, STRICT_SEND, STRICT_READ, STRICT_WRITE };

/* An operation under way. */
struct strict_op {
    struct strict_op *next;
    struct fi_context2 *context;
    enum strict_kind kind;
    struct strict_ep *endpoint;
    struct strict_mr *mr; /* NULL: the endpoint is closed */
    bool fails;
    struct strict_op *whole; /* of STRICT_SLOT: the buffer that takes many messages */
    int slots;               /* of STRICT_MANY: that have not been filled */
};

struct strict_held {
    struct fi_cq_data_entry entry; /* op_context: struct strict_op */
    int error;
};

struct strict_cq {
    struct fid_cq fid;
    struct fid_cq *inner;
    struct strict_domain *domain;
    pthread_mutex_t lock;
    struct strict_op *ops;
    struct strict_held *held;
    size_t held_count, held_room;
    struct strict_held failed; /* for readerr */
    bool has_failed;
};

struct strict_ep {
    struct fid_ep fid;
    struct fid_ep *inner;
    struct strict_domain *domain;
    struct strict_cq *cq;
    size_t least; /* FI_OPT_MIN_MULTI_RECV */
};

struct strict_counts {
    uint64_t registrations, maps, sends, injects, receives, reads, again, failed_reads, refused, failed_sends, overtaken, left;
    uint64_t writes, failed_writes;
    uint64_t device_registrations, device_reads, device_refused, device_left, steps_out, steps_in;
};
extern struct strict_counts strict_counts;
#define STRICT_COUNT(what) __atomic_fetch_add(&strict_counts.what, 1, __ATOMIC_RELAXED)

#define STRICT_UNCOUNT(what) __atomic_fetch_sub(&strict_counts.what, 1, __ATOMIC_RELAXED)

/* Says which rule was broken, and ends the process. */
void strict_broken(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* A random number; any thread. */
uint64_t strict_random(void);
/* True so often in a thousand as the environment variable says. */
enum strict_chance { STRICT_AGAIN, STRICT_READ_FAILS, STRICT_WRITE_FAILS, STRICT_REFUSES, STRICT_SEND_FAILS, STRICT_CHANCES };
bool strict_happens(enum strict_chance chance);
void *strict_allocate(size_t bytes);

/* True if keys have 64 bits. */
bool strict_short_keys(void);

/* Takes a lock; with FI_THREAD_DOMAIN nobody else may have it. */
void strict_lock(struct strict_domain *domain, pthread_mutex_t *lock);

int strict_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **ret_domain, void *context);
int strict_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **ret_cq, void *context);
int strict_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ret_ep, void *context);
extern struct fi_ops_mr strict_mr_ops;
/* Controls of the domain that concern raw keys. */
int strict_domain_control(struct fid *fid, int command, void *arg);
/* The registration behind a descriptor, which must cover the buffer for this use; counts a use. */
struct strict_mr *strict_use(struct strict_ep *endpoint, const void *buffer, size_t length, void *desc, uint64_t access,
                             const char *call);
void strict_end_use(struct strict_mr *mr);
/* Keeps the pages of a registration, and checks that they are still those of its addresses. */
void strict_pin(struct strict_mr *mr);
void strict_unpin(struct strict_mr *mr);
void strict_check_pins(struct strict_mr *mr, const char *call);
/* strict_device.c. Returns true if STRICT_HMEM is set. */
bool strict_offers_devices(void);
/* Finds the device memory that a registration describes. Sets *ret_start, *ret_length, *ret_window and *ret_id. Returns 0 or
 * libfabric's error. */
int strict_find_device(const struct fi_mr_attr *attr, uint64_t flags, char **ret_start, size_t *ret_length, char **ret_window,
                       uint64_t *ret_id);
/* Checks that the memory of a registration is of the kind that it says, and was not freed since. */
void strict_check_device(const struct strict_mr *mr, const void *buffer, const char *call);
/* Counts a step of a pipeline, when a frame is sent or something has arrived, if the program's driver has begun a copy since the
 * last call for the same count. */
void strict_note_step(uint64_t *count);
/* Ends the process if the buffer is in device memory: the call has no registration. */
void strict_check_host(const void *buffer, const char *call);
/* Translates a read or write of a peer's memory: sets the inner provider's offset and key. */
void strict_translate(struct strict_domain *domain, uint64_t address, size_t length, uint64_t handle, uint64_t *ret_offset,
                      uint64_t *ret_key);
/* Enters an operation; the caller has the queue's lock. */
struct strict_op *strict_begin(struct strict_ep *endpoint, void *context, enum strict_kind kind, struct strict_mr *mr);
struct strict_op *strict_begin_slot(struct strict_op *whole);
/* Ends it: its context is the caller's again. */
void strict_end(struct strict_cq *cq, struct strict_op *op);
/* Holds a completion back for a while. */
void strict_hold(struct strict_cq *cq, const struct fi_cq_data_entry *entry, int error);

#endif
