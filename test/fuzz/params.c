/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameter files; values; and the lists of interfaces and subnets, and the published addresses, that the network reads. */
#include "fuzz.h"

#include "lib/btl/tcp/address.h"
#include "lib/settings/setting.h"
#include "lib/settings/value.h"

#include <arpa/inet.h>
#include <ctype.h>

static void read_lines(char *text)
{
    char *rest = text, *name, *value;
    size_t length = strlen(text);
    while (tern_param_read_line(&rest, &name, &value)) {
        int64_t number;
        MUST(!value || name);
        if (!name)
            continue;
        MUST(name >= text && name + strlen(name) <= text + length && !strpbrk(name, "=\n"));
        MUST(!*name || (!isspace((unsigned char)*name) && !isspace((unsigned char)name[strlen(name) - 1])));
        if (!value)
            continue;
        MUST(value >= text && value + strlen(value) <= text + length && !strchr(value, '\n'));
        if (tern_param_read_value(TERN_PARAM_BOOL, value, &number))
            MUST(number == 0 || number == 1);
        if (tern_param_read_value(TERN_PARAM_INT, value, &number))
            MUST(tern_param_read_value(TERN_PARAM_SIZE, value, &number));
        if (strlen(name) < 40) /* it is slow */
            tern_param_nearest(name);
    }
}

static void read_filter(const char *text)
{
    struct tern_tcp_filter filter;
    struct tern_tcp_address address = { .family = 4, .prefix = 8, .bytes = { 10, 1, 2, 3 }, .interface = "eth0" };
    if (tern_tcp_filter_read("p", text, &filter))
        return;
    MUST(filter.count >= 0 && filter.count <= TERN_TCP_WORDS_MAX);
    for (int i = 0; i < filter.count; i++) {
        const struct tern_tcp_word *word = &filter.words[i];
        MUST(!word->is_subnet || word->subnet.prefix <= (word->subnet.family == 4 ? 32 : 128));
        MUST(memchr(word->interface, '\0', sizeof word->interface));
    }
    tern_tcp_filter_has(&filter, &address);
    address.family = 6;
    tern_tcp_filter_has(&filter, &address);
}

static void read_record(const void *bytes, size_t size)
{
    struct tern_tcp_address list[TERN_TCP_ADDRESSES_MAX];
    struct tern_tcp_pair pairs[TERN_TCP_ADDRESSES_MAX];
    char text[TERN_TCP_TEXT];
    int count = tern_tcp_record_read(bytes, size, 1024, list);
    MUST(count >= -1 && count <= TERN_TCP_ADDRESSES_MAX);
    for (int i = 0; i < count; i++) {
        struct sockaddr_storage address;
        MUST(list[i].family == 4 || list[i].family == 6);
        MUST(memchr(list[i].interface, '\0', sizeof list[i].interface));
        tern_tcp_text(&list[i], text);
        MUST(tern_tcp_sockaddr(&list[i], 1, &address) <= sizeof address);
    }
    if (count < 0)
        return;
    int paired = tern_tcp_pair(list, count, list, count, size & 1, pairs);
    MUST(paired <= TERN_TCP_ADDRESSES_MAX);
    for (int i = 0; i < paired; i++)
        MUST(pairs[i].own < count && pairs[i].theirs >= 0 && pairs[i].theirs < count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    switch (fuzz_byte(&input) % 3) {
    case 0: {
        char *text = fuzz_text(&input);
        read_lines(text);
        free(text);
        break;
    }
    case 1: {
        char *text = fuzz_text(&input);
        read_filter(text);
        free(text);
        break;
    }
    default: {
        void *bytes = fuzz_rest(&input, &size);
        read_record(bytes, size);
        free(bytes);
    }
    }
    return 0;
}
