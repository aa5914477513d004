/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program that does not belong to the job is at the ports of its endpoints: two processes
 * exchange checked messages, over tcp on the loopback interface, while it attacks.  It is a child
 * of the first one, from before MPI, and knows what anybody on the host can know: which ports there
 * are.  It speaks the protocol of libfabric 2.1's tcp.
 *
 * Nothing may be said to it, nothing that it does may stay, no data may be wrong, and nobody may
 * crash.  With btl_epofi_hello 0 it gets a member's place, and ends processes.
 *
 *   --attack N   only that one, from 0
 *
 * Guards: btl_epofi_handshake.c, btl_epofi_sockets.c
 */

#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* pipe2 */
#endif

#include <mpi.h>
#include <mpi-ext.h>

#include "../../lib/tcp_hello.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 2, LARGE = 300000, UNPROVEN = 64 /**< btl_epofi_unproven */ };

/** What a connection is given: as long as it takes, or hardly any time. */
enum { TO_ITS_END = -1, BRIEFLY = 2 /**< ms */ };

/* ---- the intruder ---------------------------------------------------------------------------- */

/** What the attacker has found out. */
typedef struct result_t {
    int ports; /**< that the attacker has found, one for each process */
    int heard; /**< bytes that the attacker has received */
    int open;  /**< connections that were not closed */
} result_t;

static uint16_t ports[PROCESSES];
static result_t result;

/** Does a process have a socket of this number open? */
static int has_socket(pid_t pid, unsigned long inode)
{
    char folder[64], path[400], link[64], wanted[64];
    int found = 0;
    DIR *dir;

    snprintf(folder, sizeof(folder), "/proc/%d/fd", (int) pid);
    snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
    dir = opendir(folder);
    for (struct dirent *item; NULL != dir && !found && NULL != (item = readdir(dir));) {
        ssize_t size;

        snprintf(path, sizeof(path), "%s/%s", folder, item->d_name);
        size = readlink(path, link, sizeof(link) - 1);
        link[0 < size ? size : 0] = '\0';
        found = 0 == strcmp(link, wanted);
    }
    if (NULL != dir) {
        closedir(dir);
    }
    return found;
}

/** The port on the loopback address that a process listens on. */
static uint16_t port_of(pid_t pid)
{
    FILE *table = fopen("/proc/net/tcp", "r");
    unsigned int address, port, state;
    unsigned long inode;
    uint16_t found = 0;
    char line[256];

    while (NULL != table && 0 == found && NULL != fgets(line, sizeof(line), table)) {
        if (4
                == sscanf(line, "%*d: %x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*d %*d %lu", &address,
                          &port, &state, &inode)
            && htonl(INADDR_LOOPBACK) == address && 10 == state && has_socket(pid, inode)) {
            found = (uint16_t) port;
        }
    }
    if (NULL != table) {
        fclose(table);
    }
    return found;
}

static int dial(int whom)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(ports[whom]),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (0 != connect(fd, (struct sockaddr *) &to, sizeof(to))) {
        close(fd);
        return -1;
    }
    return fd;
}

static void say(int fd, const void *bytes, size_t size)
{
    (void) !send(fd, bytes, size, MSG_NOSIGNAL);
}

/** Count what is said, until it ends or for so many ms, and close it. */
static void hear(int fd, int ms)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    char bytes[4096];
    ssize_t got = 1;

    while (0 < got && 1 == poll(&readable, 1, ms)) {
        got = recv(fd, bytes, sizeof(bytes), 0);
        result.heard += 0 < got ? (int) got : 0;
    }
    result.open += 0 < got;
    close(fd);
}

static void handshake(int fd, uint16_t port)
{
    const tcp_hello_t hello = tcp_hello(port);

    say(fd, &hello, sizeof(hello));
}

/** To be each of them to the other one. */
static void place(void)
{
    for (int i = 0; i < PROCESSES; ++i) {
        int fd = dial(i);

        handshake(fd, ports[1 - i]);
        hear(fd, TO_ITS_END);
    }
}

/** Answers to nothing, of a rendezvous of tagged messages that nobody has begun. */
static void behind(void)
{
    for (int kind = 0; kind < 9; ++kind) {
        struct {
            uint8_t version, what;
            uint16_t flags;
            uint8_t data, unused, size, id;
            uint64_t length, more[4];
        } header = {.version = 3, .what = (uint8_t) kind, .data = 1, .size = 16, .length = 16 + 32};
        int fd = dial(kind % PROCESSES);

        handshake(fd, (uint16_t) (kind + 1));
        say(fd, &header, sizeof(header));
        hear(fd, TO_ITS_END);
    }
}

static void noise(void *bytes, size_t size)
{
    static uint64_t state = 88172645463325252u;

    for (size_t i = 0; i < size; ++i) {
        state ^= state << 13; /* Marsaglia's xorshift */
        state ^= state >> 7;
        state ^= state << 17;
        ((unsigned char *) bytes)[i] = (unsigned char) state;
    }
}

static void random_bytes(void)
{
    unsigned char bytes[512];

    for (int i = 0; i < 150; ++i) {
        int fd = dial(i % PROCESSES);

        handshake(fd, (uint16_t) (i + 1));
        noise(bytes, sizeof(bytes));
        bytes[0] = 3; /* the right version, and a kind that there is */
        bytes[1] %= 8;
        say(fd, bytes, sizeof(bytes));
        hear(fd, BRIEFLY);
    }
    result.open = 0; /* they were not given the time */
}

/** As in btl_epofi_handshake.h. */
static struct {
    uint64_t magic, nonce[2], proof;
} greeting = {.magic = UINT64_C(0x000167705265E90F)};

/** Greetings with proofs that are guessed, and cut. */
static void hellos(void)
{
    for (int i = 0; i < 20; ++i) {
        int fd = dial(i % PROCESSES);

        noise(greeting.nonce, i < 2 ? 0 : sizeof(greeting.nonce) + sizeof(greeting.proof));
        say(fd, &greeting, sizeof(greeting));
        handshake(fd, ports[(i + 1) % PROCESSES]);
        hear(fd, TO_ITS_END);
        fd = dial(i % PROCESSES);
        say(fd, &greeting, (size_t) i);
        close(fd);
    }
}

/** Half of them say half a greeting.  As many as may be are left open; that takes as long as it
 * takes. */
static void silence(void)
{
    enum { COUNT = 400 };
    static struct pollfd polls[COUNT];
    int ended = 0;

    for (int i = 0; i < COUNT; ++i) {
        polls[i] = (struct pollfd){.fd = dial(i % PROCESSES), .events = POLLIN};
        if (i < COUNT / 2) {
            say(polls[i].fd, &greeting, sizeof(greeting) / 2);
        }
    }
    while (PROCESSES * UNPROVEN < COUNT - ended) {
        ended = 0;
        (void) usleep(10000);
        (void) poll(polls, COUNT, 0);
        for (int i = 0; i < COUNT; ++i) {
            ended += 0 != polls[i].revents;
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        hear(polls[i].fd, 0);
    }
    result.open = 0;
}

/** Many that are closed again at once, as a scan does: they fill the queue of the listener. */
static void burst(void)
{
    enum { COUNT = 4200 };

    for (int i = 0; i < COUNT; ++i) {
        struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons(ports[i % PROCESSES]),
                                 .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

        (void) connect(fd, (struct sockaddr *) &to, sizeof(to));
        close(fd);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} attacks[] = {
    {"a member's place", place},
    {"what nobody has asked for", behind},
    {"random bytes behind a handshake", random_bytes},
    {"hellos that are wrong, or cut", hellos},
    {"400 connections that say nothing, or half a greeting", silence},
    {"4200 connections that are closed again at once", burst},
};

enum { ATTACKS = sizeof(attacks) / sizeof(attacks[0]) };

/** The attacker begins on a message; the pids come first. */
static void intruder(int in, int out)
{
    pid_t pids[PROCESSES];
    int which;

    if (sizeof(pids) != read(in, pids, sizeof(pids))) {
        return;
    }
    while (sizeof(which) == read(in, &which, sizeof(which))) {
        memset(&result, 0, sizeof(result));
        for (int i = 0; i < PROCESSES; ++i) {
            ports[i] = port_of(pids[i]);
            result.ports += 0 != ports[i];
        }
        if (PROCESSES == result.ports) {
            attacks[which].run();
        }
        if (sizeof(result) != write(out, &result, sizeof(result))) {
            return;
        }
    }
}

/* ---- the job --------------------------------------------------------------------------------- */

static MPI_Comm comm;
static int rank;
static int to_him = -1, from_him = -1;

/** Of all sizes, there and back, until the first says that it is enough.  @return wrong bytes */
static int talk(result_t *result_p)
{
    static const int sizes[] = {8, 1000, 60000, LARGE};
    static unsigned char buffer[LARGE];
    int wrong = 0;

    for (int round = 0, go = 1; go; ++round) {
        const int size = sizes[round % 4];
        struct pollfd done = {.fd = from_him, .events = POLLIN};

        memset(buffer, rank + 3 * round, (size_t) size);
        MPI_Sendrecv_replace(buffer, size, MPI_BYTE, 1 - rank, 1, 1 - rank, 1, comm,
                             MPI_STATUS_IGNORE);
        for (int i = 0; i < size; ++i) {
            wrong += (unsigned char) (1 - rank + 3 * round) != buffer[i];
        }
        if (0 == rank && 1 == poll(&done, 1, 0)) {
            go = sizeof(*result_p) != read(from_him, result_p, sizeof(*result_p));
        }
        MPI_Bcast(&go, 1, MPI_INT, 0, comm);
    }
    return wrong;
}

/** Before MPI is. */
static pid_t start_intruder(void)
{
    int there[2], back[2];
    pid_t pid;

    if (0 != pipe2(there, O_CLOEXEC) || 0 != pipe2(back, O_CLOEXEC)) {
        return -1;
    }
    pid = fork();
    if (0 == pid) {
        close(there[1]);
        close(back[0]);
        intruder(there[0], back[1]);
        _exit(0);
    }
    close(there[0]);
    close(back[1]);
    to_him = there[1];
    from_him = back[0];
    return pid;
}

static void attack(int which)
{
    result_t seen = {0};
    int wrong, all, ok;

    if (0 == rank) {
        (void) !write(to_him, &which, sizeof(which));
    }
    wrong = talk(&seen);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, comm);
    ok = PROCESSES == seen.ports && 0 == seen.heard && 0 == seen.open && 0 == all;
    if (0 == rank) {
        printf("%sok %d - %s: %d ports, %d bytes heard, %d connections left, %d bytes wrong\n",
               ok ? "" : "not ", which + 1, attacks[which].name, seen.ports, seen.heard, seen.open,
               all);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    pid_t pid = -1, own = getpid(), pids[PROCESSES];
    int provided, only = -1;

    for (int i = 1; i < argc - 1; ++i) {
        only = 0 == strcmp(argv[i], "--attack") ? atoi(argv[i + 1]) : only;
    }
    if (NULL != number && 0 == strcmp(number, "0")) {
        pid = start_intruder();
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Gather(&own, sizeof(own), MPI_BYTE, pids, sizeof(own), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("1..%d\n", 0 > only ? ATTACKS : 1);
        (void) !write(to_him, pids, sizeof(pids));
    }
    for (int i = 0; i < ATTACKS; ++i) {
        if (0 > only || only == i) {
            attack(i);
        }
    }
    MPI_Comm_free(&comm);
    if (0 == rank) {
        close(to_him);
        (void) waitpid(pid, NULL, 0);
    }
    MPI_Finalize();
    return 0;
}
