/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The files in which segments are, between two processes: limits on their size, a file system that
 * is small, and files that others have left; memory for those above, whole or filled part by part,
 * by either way that kernels have.
 *
 * Guards: btl_epshm_segment.c, btl_epshm_segment_file.c, btl_epshm_node_memory.c
 */

#include "test_epshm_node.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <dirent.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/** The kernel is one that cannot fill mappings. */
static bool is_old;

/** How often it was asked to. */
static int populated;

/** In place of the C library's. */
int madvise(void *address, size_t size, int advice)
{
    if (MADV_POPULATE_WRITE == advice) {
        ++populated;
        if (is_old) {
            errno = EINVAL;
            return -1;
        }
        if (0 < folder_size && size > folder_size) {
            errno = EFAULT;
            return -1;
        }
    }
    return (int) syscall(SYS_madvise, address, size, advice);
}

static void limit_file_size(uint64_t bytes)
{
    struct rlimit limit;

    TAP_EQ(0, getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = bytes;
    TAP_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
}

/** Files may not be as large as the segment is to be: a process that makes one all the same is
 * killed. */
static void case_file_size(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;

    limit_file_size(1000000);
    test_ep_begin(pair, &ep, &theirs);
    test_ep_connect(&ep, &theirs);
    for (uint64_t number = 0; number < 5; ++number) {
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, number, 5000)); /* there is an area, too */
    }
    while (5 > ep.received) {
        test_ep_turn(&ep);
    }
    meet(pair);
    test_ep_disconnect(&ep);
    test_ep_close(&ep);
}

/** Likewise, and what they may be is not enough. */
static void case_no_file_size(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};

    (void) pair;
    TAP_CHECK(NULL != freopen("/dev/null", "w", stderr), "no /dev/null"); /* it says so */
    limit_file_size(500000);
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, test_ep_open(&ep));
}

/** The file system is smaller than the segment may be, as in a container: one message for each of
 * many peers, none of which reads, has room. */
static void case_small_folder(const pair_t *pair)
{
    enum { MANY = 1200 };
    static struct mca_btl_base_endpoint_t *peers[MANY];
    test_ep_t ep = {.received = 0};
    name_t theirs;

    folder_size = (uint64_t) 4 << 20;
    test_ep_begin(pair, &ep, &theirs);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        test_ep_connect(&ep, &theirs);
        peers[i] = ep.peer;
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, 1, 400));
    }
    meet(pair);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        ep.module->ep_disconnect(ep.module, peers[i]);
    }
    test_ep_close(&ep);
    meet(pair);
}

/** Memory that not all of its processes have has a name, and the launcher knows it. */
static void case_memory(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    mca_btl_ep_memory_name_t name = {.context = 3, .key = (uint64_t) pair->rank};
    mca_btl_ep_memory_t *memory;
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    name.address = ep.module->ep_address;
    name.address_length = ep.module->ep_address_length;
    registered[0] = '\0';
    TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_node_memory_get(&name, 4096, 2, false, &memory));
    TAP_EQ(OPAL_SUCCESS, memory->fill(memory, 0, 4096));
    TAP_EQ(0, access(registered, F_OK));
    memory->put(memory);
    TAP_CHECK(0 != access(registered, F_OK), "it is still there");
    meet(pair);
    test_ep_close(&ep);
}

/** Is the folder a tmpfs, as /dev/shm is? */
static bool is_tmpfs(void)
{
    struct statfs statfs_of;

    return 0 == statfs(folder, &statfs_of) && TMPFS_MAGIC == statfs_of.f_type;
}

static int open_files(void)
{
    DIR *files = opendir("/proc/self/fd");
    int count = 0;

    while (NULL != readdir(files)) {
        ++count;
    }
    (void) closedir(files);
    return count;
}

/** Pages of the file that have memory. */
static int pages_of(const char *path)
{
    struct stat file;

    TAP_EQ(0, stat(path, &file));
    return (int) (file.st_blocks * 512 / 4096);
}

/** Memory that is filled part by part.
 * @param[in] processes  more than there are: the file keeps its name */
static mca_btl_ep_memory_t *reserve(const name_t *host, unsigned int processes)
{
    const mca_btl_ep_memory_name_t name = {
        .context = 4, .key = processes, .address = host->bytes, .address_length = host->length};
    mca_btl_ep_memory_t *memory = NULL;

    registered[0] = '\0';
    TAP_EQ(OPAL_SUCCESS,
           mca_btl_epshm_node_memory_get(&name, 100 * 4096, processes, true, &memory));
    return memory;
}

/** Rank 0's module's name, at both. */
static void reserve_begin(const pair_t *pair, test_ep_t *ep, name_t *host)
{
    name_t theirs, mine;

    test_ep_begin(pair, ep, &theirs);
    name_of(ep, &mine);
    *host = 0 == pair->rank ? mine : theirs;
}

/** Only what is filled has memory, at both, whichever has filled it. */
static void check_parts(const pair_t *pair, const name_t *host)
{
    mca_btl_ep_memory_t *memory = reserve(host, 3);
    unsigned char *bytes = memory->base;
    const size_t own = (size_t) (50 * pair->rank) * 4096;

    meet(pair);
    if (is_tmpfs()) {
        TAP_EQ(1, pages_of(registered));
    }
    TAP_EQ(OPAL_SUCCESS, memory->fill(memory, own, 0));
    meet(pair);
    TAP_EQ(OPAL_SUCCESS, memory->fill(memory, own + 4095, 2)); /* two pages */
    bytes[own + 8191] = (unsigned char) (7 + pair->rank);
    meet(pair);
    if (is_tmpfs()) {
        TAP_EQ(1 + 2 * 2, pages_of(registered));
    }
    meet(pair);
    TAP_EQ(OPAL_SUCCESS, memory->fill(memory, own, 10 * 4096));
    TAP_EQ(0, bytes[own + 10 * 4096 - 1]);
    meet(pair);
    if (is_tmpfs()) {
        TAP_EQ(1 + 2 * 10, pages_of(registered));
    }
    TAP_EQ(7, bytes[8191]);
    TAP_EQ(8, bytes[50 * 4096 + 8191]);
    TAP_CHECK(!memory->is_whole(memory), "all have it");
    meet(pair);
    memory->put(memory);
    meet(pair);
}

/** Filled when the file has no name any more; and there is no room. */
static void check_late(const pair_t *pair, const name_t *host)
{
    const int files = open_files();
    mca_btl_ep_memory_t *memory = reserve(host, 2);

    meet(pair);
    TAP_CHECK(memory->is_whole(memory), "not all have it");
    TAP_CHECK(0 != access(registered, F_OK), "the file is still there");
    TAP_EQ(is_old ? files + 1 : files, open_files());
    TAP_EQ(OPAL_SUCCESS, memory->fill(memory, 99 * 4096, 4096));
    TAP_EQ(0, ((unsigned char *) memory->base)[100 * 4096 - 1]);
    folder_size = 8 * 4096;
    TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, memory->fill(memory, 0, 100 * 4096));
    TAP_EQ(OPAL_SUCCESS, memory->fill(memory, 0, 4 * 4096));
    folder_size = 0;
    meet(pair);
    memory->put(memory);
    TAP_EQ(files, open_files());
    meet(pair);
}

static void case_reserved(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    name_t host;

    reserve_begin(pair, &ep, &host);
    check_parts(pair, &host);
    check_late(pair, &host);
    TAP_CHECK(1 < populated, "the kernel is not asked");
    test_ep_close(&ep);
}

static void case_reserved_old(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    name_t host;

    is_old = true;
    reserve_begin(pair, &ep, &host);
    check_parts(pair, &host);
    check_late(pair, &host);
    TAP_EQ(2, populated); /* once for each memory */
    test_ep_close(&ep);
}

/** What rank 1's process has left behind does not disturb: names do not come again. */
static void case_stale(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;
    uint64_t stamp, size;
    int status;
    pid_t pid;

    if (1 == pair->rank) {
        pid = fork();
        if (0 == pid) { /* makes the segment, and ends without a word */
            _exit(OPAL_SUCCESS == mca_btl_epshm_segment_open(&stamp, &size) ? 0 : 1);
        }
        TAP_EQ(pid, waitpid(pid, &status, 0));
        TAP_EQ(0, status);
    }
    test_ep_begin(pair, &ep, &theirs);
    test_ep_connect(&ep, &theirs);
    TAP_EQ(OPAL_SUCCESS, send_one(&ep, 0, 8));
    while (1 > ep.received) {
        test_ep_turn(&ep);
    }
    meet(pair);
    test_ep_disconnect(&ep);
    test_ep_close(&ep);
}

/** Files that a node that was switched off, or a launcher that was killed, could have left: their
 * names, and whether they stay. */
static const struct {
    const char *format; /**< the user's number goes in */
    bool locked;        /**< by a process that lives */
    bool stays;
} leftovers[] = {
    {"epshm.%u.77.0.0123456789abcdef", false, false},
    {"epshm.%u.77.12.0123456789abcdef", true, true},
    {"epshm.%u.1267.3.0123456789abcdef", false, true}, /* of this job, which is starting */
    {"epshm.%u.077.0.0123456789abcdef", false, true},  /* no name of ours */
    {"epshm.%u.77.0.123456789abcdef", false, true},
    {"epshm.%u.77.0.0123456789abcdef.old", false, true},
    {"epshm.%u.77.0", false, true},
    {"epshn.%u.77.0.0123456789abcdef", false, true},
};

enum { LEFTOVERS = sizeof(leftovers) / sizeof(leftovers[0]) };

static void leftover_path(int i, char *path, size_t size)
{
    char name[64];

    snprintf(name, sizeof(name), leftovers[i].format, (unsigned int) geteuid());
    snprintf(path, size, "%s/%s", folder, name);
}

/** What other jobs have left is removed, by any process that makes a segment, and nothing else. */
static void case_leftovers(const pair_t *pair)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fds[LEFTOVERS];
    uint64_t stamp, size;
    char path[128];

    TAP_EQ(0x1267, OPAL_PROC_MY_NAME.jobid);
    for (int i = 0; 1 == pair->rank && i < LEFTOVERS; ++i) {
        leftover_path(i, path, sizeof(path));
        fds[i] = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        TAP_CHECK(0 <= fds[i], "no %s", path);
        if (leftovers[i].locked) {
            TAP_EQ(0, fcntl(fds[i], F_SETLK, &lock));
        }
    }
    meet(pair);
    if (0 == pair->rank) {
        TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_segment_open(&stamp, &size));
        for (int i = 0; i < LEFTOVERS; ++i) {
            leftover_path(i, path, sizeof(path));
            TAP_CHECK((leftovers[i].stays || !is_tmpfs()) == (0 == access(path, F_OK)), "%s %s",
                      path, leftovers[i].stays ? "was removed" : "is still there");
        }
    }
    meet(pair);
    for (int i = 0; 1 == pair->rank && i < LEFTOVERS; ++i) {
        leftover_path(i, path, sizeof(path));
        (void) unlink(path);
        close(fds[i]);
    }
}

/** Two jobs begin and end on one node, again and again: neither takes the other's file for one that
 * has been left, not even between its making and its lock. */
static void case_two_jobs(const pair_t *pair)
{
    struct stat named, opened;
    char path[160];

    me.proc_name.jobid = 4711 + (uint32_t) pair->rank;
    meet(pair);
    for (int i = 0; i < 3000 && !tap_case_failed(); ++i) {
        int fd;

        if (0 == i % 2) {
            own_path(path, sizeof(path));
            TAP_EQ(0, stat(path, &named));
            mca_btl_epshm_segment_close();
            continue;
        }
        snprintf(path, sizeof(path), "%s/epshm.%u.%x.%u.%016x", folder, (unsigned int) geteuid(),
                 me.proc_name.jobid, (unsigned int) pair->rank, (unsigned int) i);
        fd = mca_btl_epshm_segment_file_create(path);
        if (0 > fd && EEXIST == errno) {
            continue; /* taken away before it was locked: with another name, then */
        }
        TAP_CHECK(0 <= fd, "no file");
        TAP_EQ(0, fstat(fd, &opened));
        TAP_EQ(1, opened.st_nlink);
        TAP_EQ(0, unlink(path));
        close(fd);
    }
    meet(pair);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_files", 300);
    folder_make();
    run_pair("files of the dead and of the living", case_stale, false);
    run_pair("files that other jobs have left", case_leftovers, false);
    run_pair("two jobs that come and go", case_two_jobs, false);
    run_pair("a limit on the size of files", case_file_size, false);
    run_pair("a limit that leaves no room", case_no_file_size, false);
    run_pair("memory for those above", case_memory, false);
    run_pair("memory that is filled part by part", case_reserved, false);
    run_pair("the same before Linux 5.14", case_reserved_old, false);
    run_pair("a small file system", case_small_folder, false);
    return pairs_end();
}
