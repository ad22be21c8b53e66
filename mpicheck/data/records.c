/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/data/records.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/text.h"
#include "mpicheck/data/fold.h"

/* Numbers beyond these are no measurement; sums and products of those below are finite. */
static const double number_most = 1e12, begin_most = 1e11;

/* LIST_MOST: entries of each list of a host, and phases. */
enum { WORD_MOST = 128, LIST_MOST = 8192, NUMBERS_MOST = 1 << 20 };

/* Returns true if a record has no other bytes than printable ones of ASCII: most have not. */
static bool is_plain(const char *record)
{
    while (*record >= ' ' && *record <= '~')
        record++;
    return !*record;
}

char *tern_mc_printable(const char *record)
{
    char *plain = is_plain(record) ? strdup(record) : NULL;
    if (plain)
        return plain;
    size_t room = 4 * strlen(record) + 1;
    char *spaced = tern_mc_format("%s", record), *made = tern_mc_alloc((long)room, 1);
    for (char *at = spaced; *at; at++)
        if (*at == '\t' || *at == '\n')
            *at = ' ';
    tern_text_make_printable(spaced, false, made, room);
    free(spaced);
    return made;
}

/* ---- fields ---- */

/* What is left of a record. `wrong`: a field was not as expected. */
struct fields {
    const char *at;
    bool wrong;
};

typedef char word[WORD_MOST];

/* Reads the next word. A word that is missing or too long is wrong, and reads as "". */
static void read_word(struct fields *fields, word ret_word)
{
    fields->at += strspn(fields->at, " ");
    size_t length = strcspn(fields->at, " ");
    bool fits = length > 0 && length < WORD_MOST;
    memcpy(ret_word, fields->at, fits ? length : 0);
    ret_word[fits ? length : 0] = 0;
    fields->wrong |= !fits;
    fields->at += length;
}

/* Reads the next word, which becomes a part of a command that users are advised to run: it must not
 * have a character that a shell obeys. */
static void read_name(struct fields *fields, word ret_name)
{
    read_word(fields, ret_name);
    for (const char *at = ret_name; *at; at++)
        fields->wrong |= (signed char)*at > 0 && !isalnum((unsigned char)*at) &&
                         !strchr("_.,:@%/+-", *at);
}

/* Returns the next number, at least `least`. */
static double read_number(struct fields *fields, double least)
{
    word text;
    char *rest;
    read_word(fields, text);
    double value = strtod(text, &rest);
    /* strtod also reads nan, inf and hexadecimal digits */
    bool right = *text && !*rest && text[strspn(text, "+-.0123456789e")] == 0 &&
                 value >= least && value <= number_most;
    fields->wrong |= !right;
    return right ? value : 0;
}

static float read_float(struct fields *fields)
{
    return (float)read_number(fields, 0);
}

/* Returns the next share, a part of 1: clocks of different kinds make it a little more, or less
 * than nothing. */
static double read_share(struct fields *fields)
{
    return read_number(fields, -number_most);
}

/* Returns the next whole number, from `least` to `most`. */
static long read_whole(struct fields *fields, long least, long most)
{
    word text;
    char *rest;
    read_word(fields, text);
    long value = strtol(text, &rest, 10);
    bool right = *text && !*rest && value >= least && value <= most;
    fields->wrong |= !right;
    return right ? value : least;
}

static int read_index(struct fields *fields)
{
    return (int)read_whole(fields, 0, NUMBERS_MOST);
}

/* Returns all that is left; "": nothing. */
static const char *read_rest(struct fields *fields)
{
    const char *rest = fields->at + strspn(fields->at, " ");
    fields->at += strlen(fields->at);
    return rest;
}

/* Returns true if all fields were right and none is left. */
static bool is_right(const struct fields *fields)
{
    return !fields->wrong && !fields->at[strspn(fields->at, " ")];
}

/* ---- growing lists; beyond LIST_MOST a record is refused ---- */

static void *grow(void *list, int count, size_t size)
{
    return count < LIST_MOST ? tern_mc_grow(list, count, size) : NULL;
}

static char *copy(const char *text)
{
    return tern_mc_format("%s", text);
}

static void set_text(char **at, const char *text)
{
    free(*at);
    *at = copy(text);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- records of a host ---- */

/* Whom a record is about. */
struct place {
    struct tern_mc_data *data;
    struct tern_mc_host *host; /* NULL: not about one host */
    int from, to;              /* of a pair */
    size_t at;                 /* the pair's place in matrices */
};

/* Hosts come in their order, each once. */
static bool take_host(struct place *place, struct fields *fields)
{
    word name;
    read_name(fields, name);
    bool next = !place->host->name &&
                (place->host == place->data->hosts || place->host[-1].name != NULL);
    if (!is_right(fields) || !next)
        return false;
    place->host->name = copy(name);
    return true;
}

static bool take_gone(struct place *place, struct fields *fields)
{
    set_text(&place->host->gone, read_rest(fields));
    return true;
}

static bool take_unmeasured(struct place *place, struct fields *fields)
{
    set_text(&place->host->unmeasured, read_rest(fields));
    return true;
}

static bool take_lacks(struct place *place, struct fields *fields)
{
    word nic;
    read_name(fields, nic);
    const char *why = read_rest(fields);
    if (!is_right(fields))
        return false;
    set_text(&place->host->lacks, nic);
    set_text(&place->host->gone, why);
    return true;
}

/* A host may be asked twice; an interface may have several addresses. */
static bool take_fact(struct place *place, struct fields *fields)
{
    struct tern_mc_host *host = place->host;
    word key;
    read_name(fields, key);
    const char *value = read_rest(fields);
    if (!is_right(fields))
        return false;
    for (int i = 0; i < host->fact_count; i++)
        if (strcmp(host->facts[i].key, key) == 0 && strcmp(host->facts[i].value, value) == 0)
            return true;
    struct tern_mc_fact *facts = grow(host->facts, host->fact_count, sizeof *facts);
    if (!facts)
        return false;
    host->facts = facts;
    facts[host->fact_count++] = (struct tern_mc_fact){copy(key), copy(value)};
    return true;
}

static bool take_core(struct place *place, struct fields *fields)
{
    struct tern_mc_host *host = place->host;
    struct tern_mc_core core = {.cpu = read_index(fields)};
    core.work_us = read_number(fields, 0);
    core.share = read_share(fields);
    if (!is_right(fields))
        return false;
    for (int i = 0; i < host->core_count; i++) {
        struct tern_mc_core *at = &host->cores[i];
        if (at->cpu != core.cpu)
            continue;
        at->work_us = core.work_us < at->work_us ? core.work_us : at->work_us;
        at->share = larger(at->share, core.share);
        return true;
    }
    struct tern_mc_core *cores = grow(host->cores, host->core_count, sizeof *cores);
    if (!cores)
        return false;
    host->cores = cores;
    cores[host->core_count++] = core;
    return true;
}

static bool take_node(struct place *place, struct fields *fields)
{
    struct tern_mc_host *host = place->host;
    double gbs = read_number(fields, 0), pause_ms = read_number(fields, 0);
    double throttled_ms = read_number(fields, -number_most);
    if (!is_right(fields))
        return false;
    host->memory_gbs = larger(host->memory_gbs, gbs);
    host->pause_ms = !host->has_node || pause_ms < host->pause_ms ? pause_ms : host->pause_ms;
    host->throttled_ms += throttled_ms;
    host->has_node = true;
    return true;
}

static bool take_clock(struct place *place, struct fields *fields)
{
    struct tern_mc_host *host = place->host;
    double offset_s = read_number(fields, -number_most), error_s = read_number(fields, 0);
    if (!is_right(fields))
        return false;
    host->clock_s = offset_s;
    host->clock_error_s = error_s;
    host->has_clock = true;
    return true;
}

/* A later figure of the same connection replaces the earlier one. */
static bool take_socket(struct place *place, struct fields *fields)
{
    struct tern_mc_host *host = place->host;
    word nic, own, other;
    read_name(fields, nic);
    read_name(fields, own);
    read_name(fields, other);
    double segments = read_number(fields, 0), resent = read_number(fields, 0);
    if (!is_right(fields))
        return false;
    for (int i = 0; i < host->socket_count; i++) {
        struct tern_mc_socket *at = &host->sockets[i];
        if (strcmp(at->own, own) || strcmp(at->other, other))
            continue;
        at->segments = segments;
        at->resent = resent;
        return true;
    }
    struct tern_mc_socket *sockets = grow(host->sockets, host->socket_count, sizeof *sockets);
    if (!sockets)
        return false;
    host->sockets = sockets;
    sockets[host->socket_count++] =
        (struct tern_mc_socket){copy(nic), copy(own), copy(other), segments, resent};
    return true;
}

static bool take_gpu(struct place *place, struct fields *fields)
{
    struct tern_mc_host *host = place->host;
    struct tern_mc_gpu gpu = {.number = read_index(fields)};
    gpu.to = read_number(fields, 0);
    gpu.from = read_number(fields, 0);
    gpu.within = read_number(fields, 0);
    gpu.share = read_share(fields);
    const char *name = read_rest(fields);
    if (!is_right(fields))
        return false;
    for (int i = 0; i < host->gpu_count; i++) {
        struct tern_mc_gpu *at = &host->gpus[i];
        if (at->number != gpu.number)
            continue;
        at->to = larger(at->to, gpu.to);
        at->from = larger(at->from, gpu.from);
        at->within = larger(at->within, gpu.within);
        at->share = larger(at->share, gpu.share);
        return true;
    }
    struct tern_mc_gpu *gpus = grow(host->gpus, host->gpu_count, sizeof *gpus);
    if (!gpus)
        return false;
    host->gpus = gpus;
    gpu.name = copy(name);
    gpus[host->gpu_count++] = gpu;
    return true;
}

static bool take_gpu_pair(struct place *place, struct fields *fields)
{
    struct tern_mc_host *host = place->host;
    struct tern_mc_gpu_pair pair = {.from = read_index(fields)};
    pair.to = read_index(fields);
    pair.gbs = read_number(fields, 0);
    pair.share = read_share(fields);
    pair.reaches = read_whole(fields, 0, 1);
    if (!is_right(fields))
        return false;
    for (int i = 0; i < host->gpu_pair_count; i++) {
        struct tern_mc_gpu_pair *at = &host->gpu_pairs[i];
        if (at->from != pair.from || at->to != pair.to)
            continue;
        at->gbs = larger(at->gbs, pair.gbs);
        at->share = larger(at->share, pair.share);
        return true;
    }
    struct tern_mc_gpu_pair *pairs = grow(host->gpu_pairs, host->gpu_pair_count, sizeof *pairs);
    if (!pairs)
        return false;
    host->gpu_pairs = pairs;
    pairs[host->gpu_pair_count++] = pair;
    return true;
}

static bool take_last(struct place *place, struct fields *fields)
{
    double last = read_number(fields, 0);
    if (!is_right(fields))
        return false;
    place->host->last = last;
    return true;
}

/* ---- records of a pair ---- */

static struct tern_mc_alone *alone_entry(struct tern_mc_data *data, int from, int to)
{
    for (int i = 0; i < data->alone_count; i++)
        if (data->alone[i].from == from && data->alone[i].to == to)
            return &data->alone[i];
    struct tern_mc_alone *alone = grow(data->alone, data->alone_count, sizeof *alone);
    if (!alone)
        return NULL;
    data->alone = alone;
    alone[data->alone_count] = (struct tern_mc_alone){.from = from, .to = to};
    return &alone[data->alone_count++];
}

/* Reads a phase that measures pairs. */
static void read_phase(struct fields *fields, word ret_phase)
{
    read_word(fields, ret_phase);
    fields->wrong |= strcmp(ret_phase, "pairs") != 0 && strcmp(ret_phase, "alone") != 0 &&
                     strcmp(ret_phase, "soak") != 0;
}

static void set_pair_text(struct place *place, const char *text)
{
    if (*text)
        set_text(&place->data->texts[place->at], text);
}

static bool take_dead(struct place *place, struct fields *fields)
{
    word stage;
    read_word(fields, stage);
    bool first = strcmp(stage, "first") == 0;
    const char *text = read_rest(fields);
    if (!is_right(fields) || (!first && strcmp(stage, "long") != 0))
        return false;
    place->data->state[place->at] |= first ? TERN_MC_DEAD_FIRST : TERN_MC_DEAD_LONG;
    set_pair_text(place, text);
    return true;
}

static bool take_latency(struct place *place, struct fields *fields)
{
    struct tern_mc_data *data = place->data;
    word phase;
    read_phase(fields, phase);
    float least = read_float(fields), median = read_float(fields), p99 = read_float(fields);
    if (!is_right(fields))
        return false;
    for (int way = 0; way < 2; way++) {
        int a = way ? place->to : place->from, b = way ? place->from : place->to;
        size_t at = (size_t)a * (size_t)data->count + (size_t)b;
        if (strcmp(phase, "alone") == 0) {
            struct tern_mc_alone *alone = alone_entry(data, a, b);
            if (!alone)
                return false;
            if (alone->latency_count < TERN_MC_SAMPLES_MOST)
                alone->latency[alone->latency_count++] = least;
        } else {
            data->least[at] = least;
            data->median[at] = median;
            data->p99[at] = p99;
        }
    }
    return true;
}

static bool take_bandwidth(struct place *place, struct fields *fields)
{
    struct tern_mc_data *data = place->data;
    word phase;
    read_phase(fields, phase);
    float bandwidth = read_float(fields), share = (float)read_share(fields);
    if (!is_right(fields))
        return false;
    if (strcmp(phase, "alone") == 0) {
        struct tern_mc_alone *alone = alone_entry(data, place->from, place->to);
        if (!alone)
            return false;
        if (alone->count < TERN_MC_SAMPLES_MOST) {
            alone->share[alone->count] = share;
            alone->bandwidth[alone->count++] = bandwidth;
        }
    } else if (strcmp(phase, "soak") == 0) {
        data->soaked = true;
        if (data->bandwidth[place->at] == 0 || bandwidth > data->bandwidth[place->at])
            data->bandwidth[place->at] = bandwidth;
    } else {
        data->bandwidth[place->at] = bandwidth;
    }
    return true;
}

static struct tern_mc_net *net_entry(struct tern_mc_host *host, const char *nic)
{
    for (int i = 0; i < host->net_count; i++)
        if (strcmp(host->nets[i].nic, nic) == 0)
            return &host->nets[i];
    struct tern_mc_net *nets = grow(host->nets, host->net_count, sizeof *nets);
    if (!nets)
        return NULL;
    host->nets = nets;
    nets[host->net_count] = (struct tern_mc_net){.nic = copy(nic)};
    return &nets[host->net_count++];
}

/* Keeps the best of each host, and who does not answer. */
static bool take_net(struct place *place, struct fields *fields)
{
    static const double least_share = 0.1;
    struct tern_mc_data *data = place->data;
    word nic;
    read_name(fields, nic);
    double mbps = read_number(fields, 0), share = read_share(fields);
    if (!is_right(fields))
        return false;
    struct tern_mc_net *sender = net_entry(&data->hosts[place->from], nic);
    struct tern_mc_net *receiver = net_entry(&data->hosts[place->to], nic);
    struct tern_mc_silence *silences =
        mbps > 0 ? NULL : grow(data->silences, data->silence_count, sizeof *silences);
    if (!sender || !receiver || (mbps <= 0 && !silences))
        return false;
    double allowing = mbps / larger(share, least_share);
    sender->sends = larger(sender->sends, mbps);
    sender->sends_allowing = larger(sender->sends_allowing, allowing);
    sender->calls++;
    receiver->receives = larger(receiver->receives, mbps);
    receiver->receives_allowing = larger(receiver->receives_allowing, allowing);
    receiver->called++;
    if (silences) {
        receiver->unheard++;
        data->silences = silences;
        silences[data->silence_count++] =
            (struct tern_mc_silence){place->from, place->to, copy(nic)};
    }
    return true;
}

static bool take_first(struct place *place, struct fields *fields)
{
    float late_ms = read_float(fields);
    if (!is_right(fields))
        return false;
    place->data->late_ms[place->at] = late_ms;
    return true;
}

static bool take_call(struct place *place, struct fields *fields)
{
    place->data->state[place->at] |= TERN_MC_UNCALLED;
    set_text(&place->data->texts[place->at], read_rest(fields));
    return true;
}

static bool take_wrong(struct place *place, struct fields *fields)
{
    read_whole(fields, 0, LONG_MAX);
    read_whole(fields, 0, INT_MAX);
    if (!is_right(fields))
        return false;
    place->data->state[place->at] |= TERN_MC_WRONG;
    place->data->wrong_blocks++;
    return true;
}

static bool stop_pair(struct place *place, struct fields *fields, uint8_t state)
{
    word stage;
    read_word(fields, stage);
    const char *text = state == TERN_MC_BROKEN ? read_rest(fields) : "";
    if (!is_right(fields) || !islower((unsigned char)*stage))
        return false;
    place->data->state[place->at] |= state;
    place->data->stages[place->at] = *stage;
    set_pair_text(place, text);
    return true;
}

static bool take_hang(struct place *place, struct fields *fields)
{
    return stop_pair(place, fields, TERN_MC_HUNG);
}

static bool take_broken(struct place *place, struct fields *fields)
{
    return stop_pair(place, fields, TERN_MC_BROKEN);
}

/* ---- records of the whole ---- */

static bool take_begin(struct place *place, struct fields *fields)
{
    double begin = read_number(fields, 0);
    const char *title = read_rest(fields);
    if (!is_right(fields) || begin > begin_most)
        return false;
    place->data->begin = begin;
    set_text(&place->data->title, title);
    return true;
}

static bool take_phase(struct place *place, struct fields *fields)
{
    struct tern_mc_data *data = place->data;
    word name;
    read_name(fields, name);
    double seconds = read_number(fields, 0);
    const char *result = read_rest(fields);
    if (!is_right(fields))
        return false;
    struct tern_mc_phase *phases = grow(data->phases, data->phase_count, sizeof *phases);
    if (!phases)
        return false;
    data->phases = phases;
    phases[data->phase_count++] = (struct tern_mc_phase){copy(name), copy(result), seconds};
    return true;
}

static bool take_together(struct place *place, struct fields *fields)
{
    struct tern_mc_data *data = place->data;
    word name;
    read_name(fields, name);
    double x = read_number(fields, 0), y = read_number(fields, 0);
    if (!is_right(fields) || y > INT_MAX)
        return false;
    if (strcmp(name, "bisection") == 0) {
        data->bisection = x;
        data->bisection_worst = y;
    } else if (strcmp(name, "allreduce") == 0) {
        data->allreduce_us = x;
    } else if (strcmp(name, "alltoall") == 0) {
        data->alltoall = x;
        data->alltoall_piece = (int)y;
    } else {
        return false;
    }
    return true;
}

/* Forgets which hosts do not reach each other: they are asked again. */
static bool take_reach(struct place *place, struct fields *fields)
{
    struct tern_mc_data *data = place->data;
    if (!is_right(fields))
        return false;
    for (size_t i = 0; i < (size_t)data->count * (size_t)data->count; i++) {
        data->state[i] &= (uint8_t)~(TERN_MC_DEAD_FIRST | TERN_MC_DEAD_LONG);
        data->late_ms[i] = 0;
    }
    return true;
}

static bool take_end(struct place *place, struct fields *fields)
{
    word how;
    read_word(fields, how);
    bool interrupted = strcmp(how, "interrupted") == 0;
    if (!is_right(fields) || (!interrupted && strcmp(how, "done") != 0))
        return false;
    place->data->ended = true;
    place->data->interrupted = interrupted;
    return true;
}

/* ---- all records ---- */

enum about { THE_WHOLE, A_HOST, A_PAIR };

static const struct kind {
    const char *form; /* its first word is that of the record */
    enum about about;
    bool from_hosts;  /* the probe prints it */
    bool (*take)(struct place *, struct fields *);
} kinds[] = {
    {"host I NAME (I = 0, 1, ... in this order)", A_HOST, false, take_host},
    {"gone I WHY", A_HOST, false, take_gone},
    {"unmeasured I WHY", A_HOST, false, take_unmeasured},
    {"lacks I NIC WHY", A_HOST, false, take_lacks},
    {"fact I KEY VALUE", A_HOST, true, take_fact},
    {"core I CPU WORK_US SHARE", A_HOST, true, take_core},
    {"node I GB_S PAUSE_MS THROTTLED_MS", A_HOST, true, take_node},
    {"clock I OFFSET_S ERROR_S", A_HOST, true, take_clock},
    {"socket I NIC OWN OTHER SEGMENTS RESENT", A_HOST, true, take_socket},
    {"gpu I GPU TO_GB_S FROM_GB_S WITHIN_GB_S SHARE NAME", A_HOST, true, take_gpu},
    {"gpupair I FROM_GPU TO_GPU GB_S SHARE REACHES", A_HOST, true, take_gpu_pair},
    {"last I SHARE", A_HOST, true, take_last},
    {"dead FROM TO first|long TEXT", A_PAIR, true, take_dead},
    {"first FROM TO LATE_MS", A_PAIR, true, take_first},
    {"lat A B pairs|alone|soak LEAST MEDIAN P99", A_PAIR, true, take_latency},
    {"bw FROM TO pairs|alone|soak MB_S SHARE", A_PAIR, true, take_bandwidth},
    {"wrong FROM TO OFFSET BYTES", A_PAIR, true, take_wrong},
    {"hang I PEER STAGE", A_PAIR, true, take_hang},
    {"broken I PEER STAGE TEXT", A_PAIR, true, take_broken},
    {"call FROM TO TEXT", A_PAIR, true, take_call},
    {"net FROM TO NIC MB_S SHARE", A_PAIR, true, take_net},
    {"begin UNIX_TIME TITLE", THE_WHOLE, false, take_begin},
    {"phase NAME SECONDS RESULT", THE_WHOLE, false, take_phase},
    {"reach", THE_WHOLE, false, take_reach},
    {"end done|interrupted", THE_WHOLE, false, take_end},
    {"together bisection|allreduce|alltoall VALUE VALUE", THE_WHOLE, true, take_together},
};

static const struct kind *find_kind(const char *record)
{
    size_t length = strcspn(record, " ");
    for (size_t i = 0; length > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(kinds[i].form, record, length) == 0 &&
            (kinds[i].form[length] == ' ' || kinds[i].form[length] == 0))
            return &kinds[i];
    return NULL;
}

const char *tern_mc_form_of(const char *record)
{
    const struct kind *kind = find_kind(record);
    return kind ? kind->form : NULL;
}

bool tern_mc_may_come_from_hosts(const char *record)
{
    const struct kind *kind = find_kind(record);
    return kind && kind->from_hosts;
}

bool tern_mc_take(struct tern_mc_data *data, const char *record)
{
    const struct kind *kind = find_kind(record);
    if (!kind)
        return false;
    struct place place = {.data = data};
    struct fields fields = {.at = record + strcspn(record, " ")};
    if (kind->about != THE_WHOLE)
        place.from = (int)read_whole(&fields, 0, data->count - 1);
    if (kind->about == A_HOST)
        place.host = &data->hosts[place.from];
    if (kind->about == A_PAIR) {
        place.to = (int)read_whole(&fields, 0, data->count - 1);
        place.at = (size_t)place.from * (size_t)data->count + (size_t)place.to;
        fields.wrong |= place.from == place.to;
    }
    return !fields.wrong && kind->take(&place, &fields);
}
