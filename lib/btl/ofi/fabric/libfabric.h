/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_LIBFABRIC_H
#define TERN_OFI_LIBFABRIC_H

/* libfabric, opened by dlopen when it is needed. All other functions of libfabric are inline
 * functions of its headers, which call through the objects that these make. */

#include <rdma/fabric.h>
#include <stdint.h>

struct tern_ofi_library {
    uint32_t (*version)(void);
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **ret_info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info); /* of NULL: an empty one */
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **ret_fabric, void *context);
    const char *(*strerror)(int error);
};
extern struct tern_ofi_library tern_ofi_library;

/* The version of the interface that we ask for. */
#define TERN_OFI_VERSION FI_VERSION(1, 17)

/* What later headers have: device memory by a descriptor of it (struct fi_mr_dmabuf). */
#define TERN_OFI_DMABUF_VERSION FI_VERSION(1, 20)
#define TERN_OFI_MR_DMABUF (1ull << 40)
struct tern_ofi_dmabuf {
    int fd;
    uint64_t offset; /* of the memory, behind `base` and the descriptor's first byte */
    size_t length;
    void *base;
};

/* Opens libfabric, once. Returns 0, or TERN_ERR_OTHER with text that says how to cure it. */
int tern_ofi_library_load(void);

/* Returns the file that was opened. */
const char *tern_ofi_library_file(void);

/* Returns the text of one of libfabric's error codes, of either sign. */
const char *tern_ofi_error(long code);

#endif
