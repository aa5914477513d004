/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Entering functions: pages, and the order of things.
 *
 * Code is written to a file in memory (memfd) and mapped from there, readable and executable: no
 * page is ever writable and executable, nor becomes executable after it was writable, which
 * hardened systems forbid.  mmap replaces a page of the library in one step: a thread that runs in
 * it finds the page as it was or as it is, and never none, as it would where a page is made
 * writable for a while.
 *
 * Tests: unit/test_hook_entry
 */

#define _GNU_SOURCE 1

#include "entry.h"

#if MPIX_ENDPOINTS_ENTRIES

#    include <errno.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/mman.h>
#    include <unistd.h>

#    if !defined(MFD_NOEXEC_SEAL)
#        define MFD_NOEXEC_SEAL 0x0008U
#    endif
#    if !defined(MAP_FIXED_NOREPLACE)
#        define MAP_FIXED_NOREPLACE 0x100000
#    endif

/** How far apart the places are that are tried for a new page. */
#    define STEP ((uintptr_t) 256 << 10)

/** What the system said last. */
static char refusal[160];

static const char *entry_refused(const char *what)
{
    snprintf(refusal, sizeof(refusal), "the system lets no changed code be run (%s: %s)", what,
             strerror(errno));
    return refusal;
}

static size_t page_size(void)
{
    return (size_t) sysconf(_SC_PAGESIZE);
}

static bool write_all(int fd, const uint8_t *bytes, size_t length)
{
    while (0 < length) {
        const ssize_t written = write(fd, bytes, length);

        if (0 > written && EINTR == errno) {
            continue;
        }
        if (0 >= written) {
            return false;
        }
        bytes += written;
        length -= (size_t) written;
    }
    return true;
}

/** Have these bytes, whole pages of code, at this address, in place of what is there. */
static const char *map_code(const uint8_t *address, const uint8_t *bytes, size_t length)
{
    static const char name[] = "libmpix_endpoints";
    /* The file is no program: systems that want it said refuse otherwise, older ones know no such
     * flag. */
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    const char *why = NULL;

    if (0 > fd) {
        fd = memfd_create(name, MFD_CLOEXEC);
    }
    if (0 > fd) {
        return entry_refused("memfd_create");
    }
    if (!write_all(fd, bytes, length)) {
        why = entry_refused("write");
    } else if (MAP_FAILED
               == mmap((void *) address, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
                       0)) {
        why = entry_refused("mmap");
    } else {
        __builtin___clear_cache((char *) address, (char *) address + length);
    }
    close(fd);
    return why;
}

/** Can a page here be reached from all of the function, and the function from there? */
static bool in_reach(const mpix_endpoints_entry_t *entry, uintptr_t page)
{
    const uintptr_t function = (uintptr_t) entry->function;

    return (function < page ? page - function : function - page) < MPIX_ENDPOINTS_MACHINE_REACH;
}

/** Take an unused page near the function.  @return NULL if there is none */
static uint8_t *near_page(const mpix_endpoints_entry_t *entry)
{
    const uintptr_t page = (uintptr_t) entry->function & ~((uintptr_t) page_size() - 1);

    for (uintptr_t distance = STEP; distance < MPIX_ENDPOINTS_MACHINE_REACH; distance += STEP) {
        const uintptr_t places[] = {page - distance, page + distance};

        for (int i = 0; i < 2; ++i) {
            void *found = mmap((void *) places[i], page_size(), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

            if (MAP_FAILED == found) {
                continue;
            }
            if (in_reach(entry, (uintptr_t) found)) {
                return found;
            }
            /* A kernel that does not know the flag puts it where it likes. */
            munmap(found, page_size());
        }
    }
    return NULL;
}

/** Fill a page that was taken for the first entry, with as many as are near it and have room.
 * @param[out] placed  how many */
static const char *fill_page(mpix_endpoints_entry_t *entries, int count, uint8_t *page, int *placed)
{
    const size_t length = page_size();
    uint8_t *code = calloc(1, length);
    const char *why = NULL;
    int n = 0;

    if (NULL == code) {
        return "out of memory";
    }
    while (NULL == why && n < count && (size_t) (n + 1) * MPIX_ENDPOINTS_ENTRY_SLOT <= length
           && in_reach(&entries[n], (uintptr_t) page)) {
        const size_t offset = (size_t) n * MPIX_ENDPOINTS_ENTRY_SLOT;

        entries[n].slot = page + offset;
        if (!mpix_endpoints_machine_place(&entries[n], code + offset)) {
            why = "what its first instructions refer to is too far away";
        }
        ++n;
    }
    if (NULL == why) {
        why = map_code(page, code, length);
    }
    free(code);
    *placed = n;
    return why;
}

const char *mpix_endpoints_entry_check(mpix_endpoints_entry_t *entry)
{
    return mpix_endpoints_machine_check(entry);
}

const char *mpix_endpoints_entries_place(mpix_endpoints_entry_t *entries, int count)
{
    const char *why = NULL;

    for (int done = 0, placed = 0; NULL == why && done < count; done += placed) {
        uint8_t *page = near_page(&entries[done]);

        if (NULL == page) {
            return "there is no room for code near Open MPI's library";
        }
        why = fill_page(&entries[done], count - done, page, &placed);
        if (NULL != why) {
            munmap(page, page_size());
        }
    }
    return why;
}

const char *mpix_endpoints_entry_enter(const mpix_endpoints_entry_t *entry)
{
    const uintptr_t page_mask = ~((uintptr_t) page_size() - 1);
    const uint8_t *place = entry->function + entry->kept;
    const uint8_t *begin = (const uint8_t *) ((uintptr_t) place & page_mask);
    const uint8_t *last = (const uint8_t *) ((uintptr_t) (place + MPIX_ENDPOINTS_MACHINE_BRANCH - 1)
                                             & page_mask);
    const size_t length = (size_t) (last - begin) + page_size();
    uint8_t *code = malloc(length);
    const char *why;

    if (NULL == code) {
        return "out of memory";
    }
    memcpy(code, begin, length);
    mpix_endpoints_machine_branch(entry, code + (place - begin));
    why = map_code(begin, code, length);
    free(code);
    return why;
}

#endif /* MPIX_ENDPOINTS_ENTRIES */
