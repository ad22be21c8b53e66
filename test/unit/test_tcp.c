/* SPDX-License-Identifier: BSD-3-Clause */

/* The network's pure half: which addresses are used, which pairs of them are tried, who is let in, what counts as a frame,
 * which connections are dead. */

#include "lib/btl/tcp/address.h"
#include "lib/btl/tcp/framing.h"
#include "lib/btl/tcp/flusher.h"
#include "lib/btl/tcp/greeting.h"
#include "lib/btl/tcp/link.h"
#include "lib/btl/tcp/silence.h"
#include "lib/util/net/cipher.h"
#include "lib/util/base/error.h"
#include "suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct tern_tcp_address address(const char *text, int prefix, const char *interface)
{
    struct tern_tcp_address result = {.prefix = (uint8_t)prefix, .port = 1024};
    result.family = strchr(text, ':') ? 6 : 4;
    ck_assert_int_eq(inet_pton(result.family == 6 ? AF_INET6 : AF_INET, text, result.bytes), 1);
    strcpy(result.interface, interface);
    return result;
}

/* ---- listening ---- */

static int prepared;

static void prepare(int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    prepared++;
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    ck_assert_int_eq(((struct sockaddr_in6 *)&at)->sin6_port, 0); /* at this place in both families: it is not bound yet */
}

/* Returns 0 if a connection to an address with `port` is accepted at `fd`, else errno. */
static int reach(int fd, const char *text, uint16_t port)
{
    struct sockaddr_storage to;
    struct tern_tcp_address there = address(text, 0, "");
    socklen_t size = tern_tcp_sockaddr(&there, port, &to);
    int ours = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = connect(ours, (struct sockaddr *)&to, size) ? errno : 0;
    struct pollfd listener = {.fd = fd, .events = POLLIN};
    int theirs = error || poll(&listener, 1, -1) != 1 ? -1 : accept(fd, NULL, NULL);
    ck_assert(error || theirs >= 0);
    close(theirs);
    close(ours);
    return error;
}

START_TEST(a_socket_listens_at_both_families)
{
    uint16_t port = 0;
    bool only_four = true;
    prepared = 0;
    int fd = tern_tcp_listen(0, 0, prepare, &port, &only_four);
    ck_assert(fd >= 0 && port);
    ck_assert_int_eq(prepared, 1);
    ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK && fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert_int_eq(reach(fd, "127.0.0.1", port), 0);
    int six = only_four ? 0 : reach(fd, "::1", port);
    ck_assert(!six || six == EADDRNOTAVAIL); /* a host may have IPv6 and no address */
    close(fd);
}
END_TEST

/* The first `taken` of three ports in a row are in use. */
START_TEST(the_first_free_port_is_taken)
{
    enum { PORTS = 3 };
    uint16_t first = 0, port = 0;
    bool only_four;
    int fds[PORTS] = {-1, -1, -1};
    while (fds[PORTS - 1] < 0) { /* strangers may hold one of them */
        for (int i = 0; i < PORTS; i++)
            close(fds[i]);
        fds[0] = tern_tcp_listen(0, 0, NULL, &first, &only_four);
        ck_assert(fds[0] >= 0);
        for (int i = 1; i < PORTS; i++)
            fds[i] = first > UINT16_MAX - PORTS
                         ? -1
                         : tern_tcp_listen(first + i, first + i, NULL, &port, &only_four);
    }
    ck_assert_int_eq(tern_tcp_listen(first, first + PORTS - 1, NULL, &port, &only_four), -1);
    ck_assert_int_eq(errno, EADDRINUSE);
    close(fds[PORTS - 1]);
    fds[PORTS - 1] = tern_tcp_listen(first, first + PORTS - 1, NULL, &port, &only_four);
    ck_assert(fds[PORTS - 1] >= 0);
    ck_assert_uint_eq(port, first + PORTS - 1);
    for (int i = 0; i < PORTS; i++)
        close(fds[i]);
    ck_assert_int_eq(tern_tcp_listen(2, 1, NULL, &port, &only_four), -1);
    ck_assert_int_eq(errno, EADDRNOTAVAIL);
}
END_TEST

/* ---- which interfaces ---- */

static const struct {
    const char *list, *address, *interface;
    bool has;
} filters[] = {
    {"", "10.0.0.1", "eth0", false},
    {"eth0", "10.0.0.1", "eth0", true},
    {"eth0", "10.0.0.1", "eth01", false},
    {"eth1,eth0", "10.0.0.1", "eth0", true},
    {" eth1 , eth0 ", "10.0.0.1", "eth0", true},
    {"10.0.0.0/8", "10.255.0.1", "eth0", true},
    {"10.0.0.0/8", "11.0.0.1", "eth0", false},
    {"10.0.0.0/8", "a00::1", "eth0", false},
    {"192.168.1.128/25", "192.168.1.200", "x", true},
    {"192.168.1.128/25", "192.168.1.100", "x", false},
    {"192.168.1.7/31", "192.168.1.6", "x", true},
    {"0.0.0.0/0", "8.8.8.8", "x", true},
    {"0.0.0.0/0", "fd00::1", "x", false},
    {"10.1.2.3/32", "10.1.2.3", "x", true},
    {"10.1.2.3/32", "10.1.2.2", "x", false},
    {"fd00::/8", "fdab::1", "x", true},
    {"fd00:1:2::/47", "fd00:1:3::1", "x", true},
    {"fd00:1:2::/48", "fd00:1:3::1", "x", false},
    {"::1/128,127.0.0.1/8", "127.9.9.9", "lo", true},
    {"::1/128,127.0.0.1/8", "::1", "lo", true},
};

START_TEST(interfaces_are_named_or_lie_in_a_subnet)
{
    struct tern_tcp_filter filter;
    struct tern_tcp_address one = address(filters[_i].address, 24, filters[_i].interface);
    ck_assert_int_eq(tern_tcp_filter_read("p", filters[_i].list, &filter), 0);
    ck_assert_int_eq(tern_tcp_filter_has(&filter, &one), filters[_i].has);
}
END_TEST

static const char *const bad_lists[] = {
    "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x", "10.0.0/8",  "fd00::/129",
    "10.0.0.1",    "fd00::1",     "/8",        "eth0,1.2.3.4", "a_name_of_16_ch",
};

START_TEST(a_wrong_word_is_named_with_its_parameter)
{
    struct tern_tcp_filter filter = {.count = 7};
    const char *list = bad_lists[_i];
    bool fits = strcmp(list, "a_name_of_16_ch") == 0; /* the longest there can be */
    int rc = tern_tcp_filter_read("btl_tcp_if_include", list, &filter);
    ck_assert_int_eq(rc, fits ? 0 : TERN_ERR_ARG);
    ck_assert(fits || (strstr(tern_error_text(rc), "btl_tcp_if_include") && filter.count == 7));
}
END_TEST

START_TEST(more_words_than_there_is_room_for_are_refused)
{
    struct tern_tcp_filter filter;
    char list[3 * (TERN_TCP_WORDS_MAX + 1) + 1] = "";
    for (int i = 0; i <= TERN_TCP_WORDS_MAX; i++)
        strcat(list, "ab,");
    ck_assert_int_eq(tern_tcp_filter_read("p", list, &filter), TERN_ERR_ARG);
}
END_TEST

/* ---- records ---- */

START_TEST(a_record_comes_back_as_it_was_and_nothing_else_does)
{
    struct tern_tcp_address list[3] = {address("10.0.0.1", 24, "eth0"), address("fd00::1", 64, "eth0"),
                                       address("192.168.0.1", 16, "a_name_of_16_ch")};
    struct tern_tcp_address back[TERN_TCP_ADDRESSES_MAX];
    unsigned char record[512], damaged[512];
    size_t size = tern_tcp_record_write(list, 3, record, sizeof record);
    ck_assert_uint_gt(size, 0);
    for (int i = 0; i < 3; i++)
        list[i].port = 1024;
    ck_assert_int_eq(tern_tcp_record_read(record, size, 1024, back), 3);
    ck_assert_mem_eq(back, list, sizeof list);
    tern_tcp_record_write(list, 3, damaged, size); /* of another rank of the host */
    ck_assert_mem_eq(damaged, record, size);
    ck_assert_int_eq(tern_tcp_record_read(record, size, 0, back), -1);
    ck_assert_int_eq(tern_tcp_record_read(record, size, 65536, back), -1);
    ck_assert_uint_eq(tern_tcp_record_write(list, 3, record, size - 1), 0);
    for (size_t length = 0; length < size; length++)
        ck_assert_int_eq(tern_tcp_record_read(record, length, 1024, back), -1);
    /* whatever is in it, it is refused or sane */
    srand(1);
    for (int i = 0; i < 100000; i++) {
        memcpy(damaged, record, size);
        for (int n = 1 + rand() % 4; n > 0; n--)
            damaged[(size_t)rand() % size] = (unsigned char)rand();
        int count = tern_tcp_record_read(damaged, size, 1024, back);
        ck_assert_int_le(count, 3);
        for (int k = 0; k < count; k++) {
            char text[TERN_TCP_TEXT];
            ck_assert(back[k].family == 4 || back[k].family == 6);
            ck_assert_uint_le(back[k].prefix, back[k].family == 4 ? 32 : 128);
            ck_assert(memchr(back[k].interface, 0, sizeof back[k].interface) != NULL);
            ck_assert_uint_lt(strlen(tern_tcp_text(&back[k], text)), sizeof text);
        }
    }
}
END_TEST

/* ---- pairs ---- */

START_TEST(the_address_in_a_common_subnet_is_tried_first)
{
    struct tern_tcp_address own[] = {address("172.17.0.1", 16, "docker0"), address("10.1.0.1", 24, "eth0"),
                                     address("fd00::1", 64, "eth0"), address("10.2.0.1", 24, "eth1")};
    struct tern_tcp_address theirs[] = {address("8.8.8.8", 24, "wan0"), address("172.30.0.1", 16, "virbr0"),
                                        address("10.2.0.2", 24, "eth1"), address("fd00::2", 64, "eth0")};
    struct tern_tcp_pair pairs[TERN_TCP_ADDRESSES_MAX];
    ck_assert_int_eq(tern_tcp_pair(own, 4, theirs, 4, false, pairs), 4);
    ck_assert_int_eq(pairs[0].theirs, 2);
    ck_assert_int_eq(pairs[0].own, 3);
    ck_assert_int_eq(pairs[1].theirs, 3);
    ck_assert_int_eq(pairs[1].own, 2);
    ck_assert_int_eq(pairs[2].theirs, 1); /* private as ours, by way of a router */
    ck_assert_int_eq(pairs[2].own, -1);
    ck_assert_int_eq(pairs[3].theirs, 0);
}
END_TEST

START_TEST(the_loopback_reaches_nobody_but_this_host)
{
    struct tern_tcp_address own[] = {address("127.0.0.1", 8, "lo")}, theirs[] = {address("127.0.0.1", 8, "lo")};
    struct tern_tcp_pair pairs[TERN_TCP_ADDRESSES_MAX];
    ck_assert_int_eq(tern_tcp_pair(own, 1, theirs, 1, false, pairs), 0);
    ck_assert_int_eq(tern_tcp_pair(own, 1, theirs, 1, true, pairs), 1);
}
END_TEST

START_TEST(an_address_that_is_ours_too_is_tried_last_on_another_host)
{
    struct tern_tcp_address own[] = {address("172.17.0.1", 16, "docker0"), address("10.1.0.1", 24, "eth0")};
    struct tern_tcp_address theirs[] = {address("172.17.0.1", 16, "docker0"), address("10.2.0.2", 24, "eth1")};
    struct tern_tcp_pair pairs[TERN_TCP_ADDRESSES_MAX];
    ck_assert_int_eq(tern_tcp_pair(own, 2, theirs, 2, false, pairs), 2);
    ck_assert_int_eq(pairs[0].theirs, 1);
    ck_assert_int_eq(tern_tcp_pair(own, 2, theirs, 2, true, pairs), 2);
    ck_assert_int_eq(pairs[0].theirs, 0);
}
END_TEST

START_TEST(other_families_are_not_paired)
{
    struct tern_tcp_address own[] = {address("10.0.0.1", 8, "e")}, theirs[] = {address("fd00::2", 64, "e")};
    struct tern_tcp_pair pairs[TERN_TCP_ADDRESSES_MAX];
    ck_assert_int_eq(tern_tcp_pair(own, 1, theirs, 1, true, pairs), 0);
}
END_TEST

START_TEST(addresses_are_written_as_people_write_them)
{
    char text[TERN_TCP_TEXT];
    struct tern_tcp_address four = address("192.0.2.1", 24, "e"), six = address("fd00::2", 64, "e");
    ck_assert_str_eq(tern_tcp_text(&four, text), "192.0.2.1:1024");
    ck_assert_str_eq(tern_tcp_text(&six, text), "[fd00::2]:1024");
    struct sockaddr_storage mapped;
    struct tern_tcp_address as_six = address("::ffff:192.0.2.1", 64, "e");
    tern_tcp_sockaddr(&as_six, 7, &mapped);
    ck_assert_str_eq(tern_tcp_sockaddr_text(&mapped, text), "192.0.2.1:7");
}
END_TEST

/* ---- the handshake ---- */

static unsigned char secret[TERN_SECRET_BYTES] = {1, 2, 3}, other_secret[TERN_SECRET_BYTES] = {1, 2, 4};

static void say(struct tern_hello *hello, struct tern_tcp_greeting greeting)
{
    *hello = (struct tern_hello){.reached = {.family = 4, .port = 1024}};
    tern_tcp_greet(hello, greeting, "job");
    ck_assert_int_eq(tern_hello_seal(hello, &tern_tcp_service, secret), 0);
}

static void make(struct tern_hello *hello, struct tern_answer *answer, struct tern_confirm *confirm)
{
    say(hello, (struct tern_tcp_greeting){.lane = 3, .link = 1, .from = 5, .to = 6});
    *answer = (struct tern_answer){.verdict = TERN_TCP_WELCOME, .number = 6};
    ck_assert_int_eq(tern_answer_seal(answer, hello, secret), 0);
    ck_assert_int_eq(tern_confirm_seal(confirm, hello, answer, secret), 0);
}

static bool holds(const struct tern_hello *hello)
{
    return tern_hello_holds(hello, &tern_tcp_service, secret);
}

START_TEST(both_ends_prove_that_they_know_the_secret)
{
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    make(&hello, &answer, &confirm);
    ck_assert(holds(&hello));
    ck_assert(tern_answer_holds(&answer, &hello, secret));
    ck_assert(tern_confirm_holds(&confirm, &hello, &answer, secret));
    ck_assert(!tern_hello_holds(&hello, &tern_tcp_service, other_secret));
    ck_assert(!tern_answer_holds(&answer, &hello, other_secret));
    ck_assert(!tern_confirm_holds(&confirm, &hello, &answer, other_secret));
}
END_TEST

START_TEST(another_service_or_version_is_refused)
{
    struct tern_service other = tern_tcp_service, newer = tern_tcp_service;
    struct tern_hello hello = {.greeting = "all of the bytes"};
    other.name[7] = 0;
    newer.version++;
    ck_assert_int_eq(tern_hello_seal(&hello, &other, secret), 0);
    ck_assert(!holds(&hello) && tern_hello_holds(&hello, &other, secret));
    ck_assert_int_eq(tern_hello_seal(&hello, &newer, secret), 0);
    ck_assert(!holds(&hello) && tern_hello_holds(&hello, &newer, secret));
}
END_TEST

START_TEST(a_greeting_comes_as_it_was_said)
{
    struct tern_hello hello;
    struct tern_tcp_greeting greeting;
    say(&hello, (struct tern_tcp_greeting){.lane = 3, .link = 1, .from = 5, .to = 6});
    ck_assert(tern_tcp_greeting_read(&hello, "job", 7, &greeting));
    ck_assert(greeting.lane == 3 && greeting.link == 1 && greeting.from == 5 && greeting.to == 6);
    ck_assert(!tern_tcp_greeting_read(&hello, "another job", 7, &greeting));
    ck_assert(!tern_tcp_greeting_read(&hello, "job", 6, &greeting)); /* no rank 6 of 6 */
}
END_TEST

/* Sealed by one who knows the secret and yet nonsense. */
START_TEST(a_greeting_names_a_lane_a_link_and_two_ranks)
{
    static const struct tern_tcp_greeting wrong[] = {{.lane = 8, .from = 1, .to = 2},
                                                     {.link = TERN_TCP_LINKS_MAX, .from = 1, .to = 2},
                                                     {.from = 2, .to = 2},
                                                     {.from = 7, .to = 2},
                                                     {.from = 2, .to = UINT32_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tern_hello hello;
        struct tern_tcp_greeting greeting;
        say(&hello, wrong[i]);
        ck_assert(holds(&hello) && !tern_tcp_greeting_read(&hello, "job", 7, &greeting));
    }
}
END_TEST

START_TEST(any_changed_bit_is_noticed)
{
    struct tern_hello hello, bent_hello;
    struct tern_answer answer, bent_answer;
    struct tern_confirm confirm, bent_confirm;
    make(&hello, &answer, &confirm);
    for (size_t bit = 0; bit < 8 * sizeof hello; bit++) {
        bent_hello = hello;
        ((unsigned char *)&bent_hello)[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_assert(!holds(&bent_hello));
        ck_assert(!tern_answer_holds(&answer, &bent_hello, secret));
        ck_assert(!tern_confirm_holds(&confirm, &bent_hello, &answer, secret));
    }
    for (size_t bit = 0; bit < 8 * sizeof answer; bit++) {
        bent_answer = answer;
        ((unsigned char *)&bent_answer)[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_assert(!tern_answer_holds(&bent_answer, &hello, secret));
        ck_assert(!tern_confirm_holds(&confirm, &hello, &bent_answer, secret));
    }
    for (size_t bit = 0; bit < 8 * sizeof confirm; bit++) {
        bent_confirm = confirm;
        ((unsigned char *)&bent_confirm)[bit / 8] ^= (unsigned char)(1 << bit % 8);
        ck_assert(!tern_confirm_holds(&bent_confirm, &hello, &answer, secret));
    }
}
END_TEST

START_TEST(no_two_hellos_are_the_same)
{
    struct tern_hello hello, again;
    struct tern_answer answer;
    struct tern_confirm confirm;
    make(&hello, &answer, &confirm);
    make(&again, &answer, &confirm);
    ck_assert_mem_ne(hello.nonce, again.nonce, sizeof hello.nonce);
    /* the answer to one is none to the other */
    ck_assert(!tern_answer_holds(&answer, &hello, secret));
}
END_TEST

START_TEST(the_first_bytes_tell_a_stranger)
{
    struct tern_hello hello;
    say(&hello, (struct tern_tcp_greeting){.from = 1});
    for (size_t length = 0; length <= sizeof hello; length++)
        ck_assert(tern_hello_begins(&tern_tcp_service, &hello, length));
    ck_assert(!tern_hello_begins(&tern_tcp_service, "GET / HTTP/1.0", 14));
    ck_assert(!tern_hello_begins(&tern_tcp_service, "\0", 1));
}
END_TEST

/* As a socket may bring it: byte by byte, with its end at any byte. */
START_TEST(a_message_is_whole_when_all_its_bytes_are_there)
{
    struct tern_hello hello, in;
    say(&hello, (struct tern_tcp_greeting){.from = 1});
    int ends[2];
    size_t got = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ck_assert_int_eq(tern_handshake_read(ends[1], &in, sizeof in, &got), TERN_PART);
    for (size_t i = 0; i < sizeof hello; i++) {
        ck_assert(tern_handshake_write(ends[0], (char *)&hello + i, 1));
        ck_assert_int_eq(tern_handshake_read(ends[1], &in, sizeof in, &got),
                         i + 1 < sizeof hello ? TERN_PART : TERN_WHOLE);
    }
    ck_assert_mem_eq(&in, &hello, sizeof in);
    got = 0;
    close(ends[0]);
    ck_assert_int_eq(tern_handshake_read(ends[1], &in, sizeof in, &got), TERN_ENDED);
    ck_assert(!tern_handshake_write(ends[1], &hello, sizeof hello));
    close(ends[1]);
}
END_TEST

START_TEST(a_secret_is_64_digits)
{
    unsigned char back[TERN_SECRET_BYTES];
    char text[2 * TERN_SECRET_BYTES + 1];
    tern_secret_write(secret, text);
    ck_assert(tern_secret_read(text, back));
    ck_assert_mem_eq(back, secret, sizeof secret);
    text[5] = 'g';
    ck_assert(!tern_secret_read(text, back));
    ck_assert(!tern_secret_read("00", back));
}
END_TEST

/* RFC 4231, test case 2, with the key filled up to our length by zeros, as HMAC does. */
START_TEST(hmac_is_that_of_the_rfc)
{
    static const unsigned char key[TERN_SECRET_BYTES] = "Jefe";
    static const unsigned char expected[TERN_PROOF_BYTES] = {
        0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
        0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    unsigned char proof[TERN_PROOF_BYTES];
    struct iovec parts[] = {{"what do ya want ", 16}, {"for nothing?", 12}};
    ck_assert_int_eq(tern_hmac(key, parts, 2, proof), 0);
    ck_assert_mem_eq(proof, expected, sizeof proof);
}
END_TEST

/* The first try finds no free descriptor, as when a rank has many files open. */
START_TEST(nettle_that_cannot_be_loaded_now_is_loaded_later)
{
    static const unsigned char key[TERN_SECRET_BYTES] = "key";
    unsigned char proof[TERN_PROOF_BYTES];
    struct iovec part = {"word", 4};
    struct rlimit old, none;
    int free_fd = dup(0);
    ck_assert_int_ge(free_fd, 0);
    close(free_fd);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){(rlim_t)free_fd, old.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    int without = tern_hmac(key, &part, 1, proof), cipher_without = tern_cipher_check();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
    ck_assert_int_eq(without, TERN_ERR_OTHER);
    ck_assert_int_eq(cipher_without, TERN_ERR_OTHER);
    ck_assert_int_eq(tern_hmac(key, &part, 1, proof), 0);
    ck_assert_int_eq(tern_cipher_check(), 0);
}
END_TEST

/* ---- records ---- */

enum { SAID = 50, RECORD = SAID + TERN_RECORD_EXTRA };

struct directions {
    struct tern_cipher *sends, *receives;
};

/* Of one connection: what the caller sends, as both ends see it. */
static struct directions connection(void)
{
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    make(&hello, &answer, &confirm);
    struct directions result = {tern_cipher_new(TERN_FROM_CALLER, &hello, &answer, secret),
                                tern_cipher_new(TERN_FROM_CALLER, &hello, &answer, secret)};
    ck_assert(result.sends && result.receives);
    return result;
}

static void end(struct directions *connection)
{
    tern_cipher_free(connection->sends);
    tern_cipher_free(connection->receives);
}

static const char said[SAID] = "nobody shall read it, make it or change it";

static void seal(struct directions *connection, unsigned char record[RECORD])
{
    memcpy(record + TERN_RECORD_HEAD, said, SAID);
    tern_cipher_seal(connection->sends, record, SAID);
    ck_assert_mem_ne(record + TERN_RECORD_HEAD, said, SAID);
}

/* As the link does. */
static bool opens(struct tern_cipher *receives, const unsigned char record[RECORD])
{
    unsigned char copy[RECORD];
    memcpy(copy, record, RECORD);
    if (tern_cipher_read_head(receives, copy) != SAID || !tern_cipher_open(receives, copy, SAID))
        return false;
    ck_assert_mem_eq(copy + TERN_RECORD_HEAD, said, SAID);
    return true;
}

START_TEST(records_open_in_order)
{
    struct directions one = connection();
    unsigned char first[RECORD], second[RECORD];
    seal(&one, first);
    seal(&one, second);
    ck_assert_mem_ne(first, second, RECORD);
    ck_assert(opens(one.receives, first) && opens(one.receives, second));
    ck_assert(!opens(one.receives, second)); /* a copy */
    end(&one);
    one = connection();
    seal(&one, first);
    seal(&one, second);
    ck_assert(!opens(one.receives, second)); /* the first is left out */
    end(&one);
}
END_TEST

START_TEST(a_record_of_another_connection_or_direction_does_not_open)
{
    struct directions one = connection(), other = connection();
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    unsigned char record[RECORD];
    seal(&one, record);
    ck_assert(!opens(other.receives, record) && opens(one.receives, record));
    end(&one);
    end(&other);
    make(&hello, &answer, &confirm);
    one.sends = tern_cipher_new(TERN_FROM_CALLER, &hello, &answer, secret);
    one.receives = tern_cipher_new(TERN_FROM_CALLED, &hello, &answer, secret);
    seal(&one, record);
    ck_assert(!opens(one.receives, record));
    tern_cipher_free(one.receives);
    one.receives = tern_cipher_new(TERN_FROM_CALLER, &hello, &answer, other_secret);
    ck_assert(!opens(one.receives, record));
    end(&one);
}
END_TEST

START_TEST(any_changed_bit_of_a_record_is_noticed)
{
    for (size_t bit = 0; bit < 8 * RECORD; bit++) {
        struct directions one = connection();
        unsigned char record[RECORD];
        seal(&one, record);
        record[bit / 8] ^= (unsigned char)(1 << bit % 8);
        bool head = bit < 8 * TERN_RECORD_HEAD; /* before anything else has to come */
        ck_assert_uint_eq(tern_cipher_read_head(one.receives, record), head ? 0 : SAID);
        ck_assert(head || !tern_cipher_open(one.receives, record, SAID));
        end(&one);
    }
}
END_TEST

START_TEST(no_head_says_more_than_a_record_holds)
{
    struct directions one = connection();
    static unsigned char record[TERN_RECORD_MOST + 1 + TERN_RECORD_EXTRA];
    tern_cipher_seal(one.sends, record, TERN_RECORD_MOST + 1);
    ck_assert_uint_eq(tern_cipher_read_head(one.receives, record), 0);
    end(&one);
}
END_TEST

/* ---- links ---- */

/* Reads what a link writes, and compares it with the frame of an eager message. */
static void expect_message(struct tern_tcp_link *link, int fd, const unsigned char *payload, size_t length)
{
    struct tern_tcp_frame frame;
    unsigned char *bytes = malloc(sizeof frame + length);
    size_t got = 0;
    while (got < sizeof frame + length) {
        ssize_t n = recv(fd, bytes + got, sizeof frame + length - got, MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
        tern_tcp_link_push(link);
        ck_assert_int_eq(link->error, 0);
    }
    memcpy(&frame, bytes, sizeof frame);
    ck_assert(tern_tcp_frame_sane(&frame));
    ck_assert_uint_eq(frame.length, length);
    ck_assert_int_eq(memcmp(bytes + sizeof frame, payload, length), 0);
    free(bytes);
}

/* The link's user asks for room before it sends a long message. The system may have less all the same. */
START_TEST(a_long_message_without_room_is_kept_and_sent)
{
    int ends[2], few = 64 * 1024;
    uint64_t polled_at = 0;
    unsigned char *payload = malloc(TERN_TCP_EAGER_MOST);
    struct tern_packet packet = {.kind = TERN_PACKET_EAGER};
    for (size_t i = 0; i < TERN_TCP_EAGER_MOST; i++)
        payload[i] = (unsigned char)(i * 7 + (i >> 12));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ck_assert_int_eq(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &few, sizeof few), 0);
    struct tern_tcp_link *link = tern_tcp_link_new(ends[1], NULL, (struct tern_process){0, 1}, 0, 0);
    link->polled_at = &polled_at;
    ck_assert(!tern_tcp_link_has_room(link, TERN_TCP_EAGER_MOST));
    ck_assert_int_eq(tern_tcp_link_send(link, &packet, payload, 100, false), 0);
    ck_assert_int_eq(tern_tcp_link_send(link, &packet, payload, TERN_TCP_EAGER_MOST, false), 0);
    expect_message(link, ends[0], payload, 100);
    expect_message(link, ends[0], payload, TERN_TCP_EAGER_MOST);
    ck_assert_int_eq(tern_tcp_link_send(link, &packet, payload, 100, false), 0);
    expect_message(link, ends[0], payload, 100);
    tern_tcp_link_free(link);
    tern_tcp_flusher_stop();
    close(ends[0]);
    free(payload);
}
END_TEST

/* ---- frames ---- */

START_TEST(only_what_a_sane_peer_sends_is_a_frame)
{
    struct tern_packet packet = {.kind = TERN_PACKET_EAGER};
    struct tern_tcp_frame frame = tern_tcp_frame_of(&packet, 0);
    ck_assert(tern_tcp_frame_sane(&frame));
    frame = tern_tcp_frame_of(&packet, TERN_TCP_EAGER_MOST);
    ck_assert(tern_tcp_frame_sane(&frame));
    frame = tern_tcp_frame_of(&packet, TERN_TCP_EAGER_MOST + 1);
    ck_assert(!tern_tcp_frame_sane(&frame));
    packet.kind = TERN_PACKET_EAGER_SYNC;
    frame = tern_tcp_frame_of(&packet, TERN_TCP_PACKET_MAX + 1);
    ck_assert(!tern_tcp_frame_sane(&frame));
    frame = tern_tcp_frame_of(&packet, 4);
    frame.length = 8;
    ck_assert(!tern_tcp_frame_sane(&frame));
    packet.kind = TERN_PACKET_CLEAR;
    frame = tern_tcp_frame_of(&packet, sizeof(struct tern_reply));
    ck_assert(tern_tcp_frame_sane(&frame));
    frame = tern_tcp_frame_of(&packet, sizeof(struct tern_reply) - 1);
    ck_assert(!tern_tcp_frame_sane(&frame));
    packet.kind = TERN_PACKET_DATA;
    frame = tern_tcp_frame_of(&packet, 0);
    ck_assert(!tern_tcp_frame_sane(&frame));
    for (int kind = 0; kind < 256; kind++) {
        packet.kind = (uint8_t)kind;
        frame = tern_tcp_frame_of(&packet, (uint32_t)-1);
        ck_assert(!tern_tcp_frame_sane(&frame));
    }
}
END_TEST

/* ---- which connections are dead ---- */

START_TEST(a_connection_is_dead_when_something_waits_and_nothing_comes)
{
    struct tern_tcp_silence silence = {0};
    tern_tcp_silence_set_limit(30);
    uint64_t period_ms = tern_tcp_silence_period_ms();
    uint32_t looks = 0;
    ck_assert(!tern_tcp_silence_note(&silence, true, 7, period_ms));
    while (!tern_tcp_silence_note(&silence, true, 7, period_ms))
        looks++;
    ck_assert_uint_ge((looks + 1) * period_ms, 30000);
    ck_assert_uint_lt(looks * period_ms, 30000);
}
END_TEST

START_TEST(any_segment_or_an_empty_queue_ends_the_silence)
{
    struct tern_tcp_silence silence = {0};
    tern_tcp_silence_set_limit(30);
    uint64_t period_ms = tern_tcp_silence_period_ms();
    for (int look = 0; look < 1000; look++) /* an answer to a probe now and then, as from a host whose rank is away for hours */
        ck_assert(!tern_tcp_silence_note(&silence, true, (uint32_t)look / 5, period_ms));
    for (int look = 0; look < 1000; look++)
        ck_assert(!tern_tcp_silence_note(&silence, look % 5 != 0, 9, period_ms));
}
END_TEST

START_TEST(a_time_without_looks_is_not_taken_for_silence)
{
    struct tern_tcp_silence silence = {0};
    tern_tcp_silence_set_limit(30);
    ck_assert(!tern_tcp_silence_note(&silence, true, 7, 1));
    ck_assert(!tern_tcp_silence_note(&silence, true, 7, 3600 * 1000)); /* this rank was stopped, or its host suspended */
    ck_assert_uint_le(silence.silent_ms, 2 * tern_tcp_silence_period_ms());
    tern_tcp_silence_set_limit(1); /* keepalive counts seconds, and is to ask more than once */
    ck_assert_uint_ge(tern_tcp_silence_period_ms() * 8, 3000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tcp");
    TCase *tests = suite_case(suite, "tcp");
    tcase_add_test(tests, a_socket_listens_at_both_families);
    tcase_add_test(tests, the_first_free_port_is_taken);
    tcase_add_loop_test(tests, interfaces_are_named_or_lie_in_a_subnet, 0, (int)(sizeof filters / sizeof *filters));
    tcase_add_loop_test(tests, a_wrong_word_is_named_with_its_parameter, 0, (int)(sizeof bad_lists / sizeof *bad_lists));
    tcase_add_test(tests, nettle_that_cannot_be_loaded_now_is_loaded_later); /* before others load it */
    tcase_add_test(tests, more_words_than_there_is_room_for_are_refused);
    tcase_add_test(tests, a_record_comes_back_as_it_was_and_nothing_else_does);
    tcase_add_test(tests, the_address_in_a_common_subnet_is_tried_first);
    tcase_add_test(tests, the_loopback_reaches_nobody_but_this_host);
    tcase_add_test(tests, an_address_that_is_ours_too_is_tried_last_on_another_host);
    tcase_add_test(tests, other_families_are_not_paired);
    tcase_add_test(tests, addresses_are_written_as_people_write_them);
    tcase_add_test(tests, both_ends_prove_that_they_know_the_secret);
    tcase_add_test(tests, another_service_or_version_is_refused);
    tcase_add_test(tests, a_greeting_comes_as_it_was_said);
    tcase_add_test(tests, a_greeting_names_a_lane_a_link_and_two_ranks);
    tcase_add_test(tests, any_changed_bit_is_noticed);
    tcase_add_test(tests, no_two_hellos_are_the_same);
    tcase_add_test(tests, the_first_bytes_tell_a_stranger);
    tcase_add_test(tests, a_message_is_whole_when_all_its_bytes_are_there);
    tcase_add_test(tests, a_secret_is_64_digits);
    tcase_add_test(tests, hmac_is_that_of_the_rfc);
    tcase_add_test(tests, records_open_in_order);
    tcase_add_test(tests, a_record_of_another_connection_or_direction_does_not_open);
    tcase_add_test(tests, any_changed_bit_of_a_record_is_noticed);
    tcase_add_test(tests, no_head_says_more_than_a_record_holds);
    tcase_add_test(tests, a_long_message_without_room_is_kept_and_sent);
    tcase_add_test(tests, only_what_a_sane_peer_sends_is_a_frame);
    tcase_add_test(tests, a_connection_is_dead_when_something_waits_and_nothing_comes);
    tcase_add_test(tests, any_segment_or_an_empty_queue_ends_the_silence);
    tcase_add_test(tests, a_time_without_looks_is_not_taken_for_silence);
    return suite_run(suite);
}
