/* SPDX-License-Identifier: BSD-3-Clause */

/* The file records.txt. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/util/base/log.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/records.h"

enum { LINE_MOST = 32768 /* bytes of a line */, SHOWN = 80 /* of a line in a message */ };

/* A file that is read line by line. */
struct reader {
    FILE *file;
    const char *path;
    long line;  /* number of the line that was read last */
    bool wrong; /* a message has said why reading ends */
    char text[LINE_MOST];
};

static bool refuse(struct reader *reader, const char *why)
{
    tern_log("%s line %ld: %s", reader->path, reader->line, why);
    reader->wrong = true;
    return false;
}

static bool end_early(struct reader *reader, const char *why)
{
    tern_log("%s: records end early (line %ld); %s", reader->path, reader->line, why);
    reader->wrong = true;
    return false;
}

/* Reads a line. Returns false at the end of the file; and if the line is no text, or has no end,
 * after a message. */
static bool read_line(struct reader *reader)
{
    size_t used = 0;
    int c;
    reader->line++;
    while ((c = getc_unlocked(reader->file)) != EOF && c != '\n') {
        if (c == 0 || used == LINE_MOST - 1)
            return refuse(reader, c ? "expected at most 32767 bytes in a line"
                                    : "expected text, found a byte 0");
        reader->text[used++] = (char)c;
    }
    reader->text[used] = 0;
    if (c == EOF && ferror(reader->file))
        return refuse(reader, strerror(errno));
    if (c == EOF && used > 0)
        return end_early(reader, "its end is missing: was the file cut?");
    return c != EOF;
}

/* Returns the number of hosts that a file of records is about. */
static int count_hosts(struct reader *reader)
{
    int count = 0, id, used;
    while (count <= TERN_MC_HOSTS_MOST && read_line(reader))
        if (sscanf(reader->text, "@ host %9d %n", &id, &used) == 1 && id == count)
            count++;
    rewind(reader->file);
    reader->line = 0;
    return count;
}

/* Takes the line that was read last. Returns false after a message. */
static bool take_line(struct reader *reader, struct tern_mc_data *data)
{
    char why[2 * SHOWN + 128], *record = tern_mc_printable(reader->text);
    const char *form = strncmp(record, "@ ", 2) ? NULL : tern_mc_form_of(record + 2);
    bool right = form && !data->ended && tern_mc_take(data, record + 2);
    if (!right) {
        snprintf(why, sizeof why, "malformed: %.*s; expected %s%s", SHOWN, record,
                 data->ended ? "nothing behind the record `end`"
                 : form      ? "@ "
                             : "a record, \"@ \" and a word that the manual's FILES list",
                 form && !data->ended ? form : "");
        refuse(reader, why);
    }
    free(record);
    return right;
}

static struct tern_mc_data *read_records(struct reader *reader)
{
    int count = count_hosts(reader);
    if (reader->wrong)
        return NULL;
    if (count > TERN_MC_HOSTS_MOST) {
        tern_log("%s has records of more hosts than %d", reader->path, TERN_MC_HOSTS_MOST);
        return NULL;
    }
    struct tern_mc_data *data = tern_mc_data_new(count > 0 ? count : 1);
    if (!data) {
        tern_log("no memory for the records of %d hosts", count);
        return NULL;
    }
    while (!reader->wrong && read_line(reader) && take_line(reader, data))
        ;
    if (!reader->wrong && !data->ended) {
        reader->line--;
        end_early(reader, "expected the record `end`: was mpicheck killed, or the file cut?");
    }
    if (!reader->wrong && count == 0)
        refuse(reader, "found no host; expected @ host 0 NAME");
    if (!reader->wrong)
        return data;
    tern_mc_data_free(data);
    return NULL;
}

struct tern_mc_data *tern_mc_read(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "re");
    bool regular = file && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
    if (!regular)
        tern_log("cannot read %s: %s; expected the records of an earlier mpicheck, records.txt",
                 path, file ? "it is no file with data" : strerror(errno));
    struct reader *reader = tern_mc_alloc(1, sizeof *reader);
    *reader = (struct reader){.file = file, .path = path};
    struct tern_mc_data *data = regular ? read_records(reader) : NULL;
    free(reader);
    if (file)
        fclose(file);
    return data;
}
