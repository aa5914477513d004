/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A message in memory that another process writes to while it is read: its header is another one
 * at each instruction that looks at it.  A page that may not be touched stops each of them; it is
 * then let through alone, by the processor's single step, and the header is changed behind it.  So
 * what is checked by one instruction and used by another is found at every input, and at the same
 * place again, which a second thread would not do.  On x86-64; elsewhere the message stays as it
 * is.
 */

#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* names of registers */
#endif

#include "fuzz.h"

#if defined(__x86_64__)

#    include <signal.h>
#    include <string.h>
#    include <sys/mman.h>
#    include <ucontext.h>
#    include <unistd.h>

#    define TRAP_FLAG 0x100
#    define CHANGES_MOST 100 /* reads that are stopped; a large payload is read by many */

static struct {
    unsigned char *page; /**< the message ends with it; the next one is never there */
    size_t page_size;
    unsigned char *message;
    size_t size;
    unsigned char original[FUZZ_CHANGING];
    uint64_t random;
    int changes;
    struct sigaction touch_before; /**< the sanitizer's or the fuzzer's handler */
} changing;

static uint64_t next_random(void)
{
    changing.random = changing.random * UINT64_C(6364136223846793005)
                      + UINT64_C(1442695040888963407);
    return changing.random >> 33;
}

/** As it was, but for one byte, or as it was altogether. */
static void change(void)
{
    const size_t most = changing.size < FUZZ_CHANGING ? changing.size : FUZZ_CHANGING;
    const uint64_t random = next_random();

    memcpy(changing.message, changing.original, most);
    if (0 < most && 0 != random % 4) {
        changing.message[random / 4 % most] = 0 != random % 3 ? (unsigned char) (random / 4096 % 16)
                                                              : (unsigned char) (random / 4096);
    }
}

/** Somebody touches the message: let him, for one instruction. */
static void on_touch(int signum, siginfo_t *info, void *context)
{
    const unsigned char *address = info->si_addr;

    if (NULL == changing.message || address < changing.page
        || address >= changing.page + changing.page_size || CHANGES_MOST < changing.changes) {
        (void) sigaction(signum, &changing.touch_before, NULL); /* a real one: it comes again */
        return;
    }
    (void) mprotect(changing.page, changing.page_size, PROT_READ | PROT_WRITE);
    ((ucontext_t *) context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int signum, siginfo_t *info, void *context)
{
    (void) signum;
    (void) info;
    ((ucontext_t *) context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t) TRAP_FLAG;
    change();
    if (CHANGES_MOST > ++changing.changes) {
        (void) mprotect(changing.page, changing.page_size, PROT_NONE);
    }
}

void *fuzz_changing_begin(const void *message, size_t size)
{
    struct sigaction touch = {.sa_sigaction = on_touch, .sa_flags = SA_SIGINFO};
    struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

    if (NULL == changing.page) {
        changing.page_size = (size_t) sysconf(_SC_PAGESIZE);
        changing.page = mmap(NULL, 2 * changing.page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                             -1, 0);
        FUZZ_CHECK(MAP_FAILED != (void *) changing.page, "no memory");
        (void) sigaction(SIGSEGV, &touch, &changing.touch_before);
        (void) sigaction(SIGTRAP, &step, NULL);
    }
    FUZZ_CHECK(changing.page_size >= size, "%zu bytes", size);
    (void) mprotect(changing.page, changing.page_size, PROT_READ | PROT_WRITE);
    /* At the end of the page, so that a read beyond it is seen, but aligned, as in a pipe. */
    changing.message = changing.page + ((changing.page_size - size) & ~(size_t) 7);
    changing.size = size;
    changing.random = size;
    changing.changes = 0;
    memcpy(changing.message, message, size);
    for (size_t i = 0; i < size; ++i) { /* the same input, the same changes */
        changing.random = changing.random * 31 + changing.message[i];
    }
    memcpy(changing.original, changing.message, size < FUZZ_CHANGING ? size : FUZZ_CHANGING);
    (void) mprotect(changing.page, changing.page_size, PROT_NONE);
    return changing.message;
}

void fuzz_changing_end(void)
{
    changing.message = NULL;
}

#else

static unsigned char still[8192] __attribute__((aligned(8)));

void *fuzz_changing_begin(const void *message, size_t size)
{
    FUZZ_CHECK(sizeof(still) >= size, "%zu bytes", size);
    for (size_t i = 0; i < size; ++i) {
        still[i] = ((const unsigned char *) message)[i];
    }
    return still;
}

void fuzz_changing_end(void)
{
}

#endif
