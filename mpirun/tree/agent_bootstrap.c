/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/tree/agent_bootstrap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"
#include "mpirun/wire/frame.h"

static const char last_line[] = "end\n";

static void write_line(struct tern_parcel *parcel, char *line)
{
    tern_parcel_raw(parcel, line, strlen(line));
    free(line);
}

char *tern_directions_write(const struct tern_directions *directions)
{
    struct tern_parcel parcel = {0};
    char secret[2 * TERN_SECRET_BYTES + 1];
    tern_secret_write(directions->secret, secret);
    write_line(&parcel, tern_must_format("secret %s\n", secret));
    write_line(&parcel, tern_must_format("port %d\n", directions->port));
    write_line(&parcel, tern_must_format("timeout %d\n", directions->timeout_ms));
    for (int i = 0; i < directions->addresses.count; i++)
        write_line(&parcel, tern_must_format("address %s\n", directions->addresses.items[i]));
    for (int i = 0; i < directions->hosts.count; i++)
        write_line(&parcel, tern_must_format("host %s\n", directions->hosts.items[i]));
    tern_parcel_raw(&parcel, last_line, sizeof last_line);
    return parcel.bytes;
}

bool tern_directions_end(const char *text, size_t size)
{
    size_t length = sizeof last_line - 1;
    return size > length && text[size - length - 1] == '\n' &&
           memcmp(text + size - length, last_line, length) == 0;
}

static bool take_number(const char *text, int most, int *ret_number)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < 1 || number > most)
        return false;
    *ret_number = (int)number;
    return true;
}

int tern_directions_read(char *text, struct tern_directions *ret_directions)
{
    struct tern_directions found = {0};
    bool good = true, secret = false;
    char *line, *rest = text;
    while (good && (line = strsep(&rest, "\n")) && strcmp(line, "end") != 0) {
        char *value = line;
        const char *word = strsep(&value, " ");
        if (!value)
            good = false;
        else if (strcmp(word, "secret") == 0)
            good = secret = tern_secret_read(value, found.secret);
        else if (strcmp(word, "port") == 0)
            good = take_number(value, UINT16_MAX, &found.port);
        else if (strcmp(word, "timeout") == 0)
            good = take_number(value, 1 << 30, &found.timeout_ms);
        else if (strcmp(word, "address") == 0)
            tern_strings_add(&found.addresses, value);
        else if (strcmp(word, "host") == 0)
            tern_strings_add(&found.hosts, value);
        else
            good = false;
    }
    if (good && secret && found.port && found.timeout_ms && found.addresses.count && line) {
        *ret_directions = found;
        return 0;
    }
    tern_strings_free(&found.addresses);
    tern_strings_free(&found.hosts);
    return tern_error(TERN_ERR_ARG, "standard input does not say where mpirun is; does the mpirun "
                                    "that started this agent have another version?");
}
