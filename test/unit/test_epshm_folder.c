/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The folder of the segments is writable by all users: another user of the node has put files of
 * all kinds there.  Nothing of it is opened, waited for, followed or removed.  As root only, which
 * can change its user.  And where there is no room left, there is no segment, and nothing is left.
 *
 * Guards: btl_epshm_segment.c, btl_epshm_segment_file.c
 */

#include "test_epshm.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    STRANGER = 65534,  /**< a user that has nothing */
    EACH = 40,         /**< files of each kind */
    CROWD = 30000,     /**< more names than anybody looks at */
    LOOKED_AT = 20010, /**< at most, and those that this program itself looks at */
};

static int foreign_opens, names_read;

/* ---- what is opened -------------------------------------------------------------------------- */

/** The file's mode, an argument that is there only if a file may be made.  (Left alone
 * otherwise.) */
#define MODE_OF(flags, mode)                     \
    do {                                         \
        va_list arguments;                       \
                                                 \
        if (0 != ((flags) &O_CREAT)) {           \
            va_start(arguments, flags);          \
            *(mode) = va_arg(arguments, mode_t); \
            va_end(arguments);                   \
        }                                        \
    } while (0)

static int open_seen(int at, const char *path, int flags, mode_t mode)
{
    struct stat stat_of;

    if (0 == fstatat(at, path, &stat_of, AT_SYMLINK_NOFOLLOW) && STRANGER == stat_of.st_uid) {
        ++foreign_opens;
        flags |= O_NONBLOCK; /* seen; this program shall not stand still */
    }
    return (int) syscall(SYS_openat, at, path, flags, mode);
}

/** In place of the C library's. */
int openat(int at, const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, &mode);
    return open_seen(at, path, flags, mode);
}

/** Likewise. */
int open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, &mode);
    return open_seen(AT_FDCWD, path, flags, mode);
}

/** Likewise. */
struct dirent *readdir(DIR *stream)
{
    struct dirent *(*original)(DIR *) = NULL;

    *(void **) &original = dlsym(RTLD_NEXT, "readdir");
    ++names_read;
    return original(stream);
}

/* ---- the other user -------------------------------------------------------------------------- */

/** Names as segments have them: of another job, which are swept; of this one, by which a process
 * finds another. */
static void name_of(char *path, size_t size, uint32_t job, int vpid, int kind)
{
    const opal_process_name_t name = {.jobid = job, .vpid = (opal_vpid_t) vpid};
    char *made = mca_btl_epshm_segment_path(&name, (uint64_t) kind);

    snprintf(path, size, "%s", made);
    free(made);
}

enum { LEASED, FIFO, LINK, LOOP, DIRECTORY, KINDS };

static bool put(const char *path, int kind, const char *victim)
{
    int fd;

    switch (kind) {
    case LEASED:
        fd = (int) syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0666);
        return 0 <= fd && 0 == fcntl(fd, F_SETLEASE, F_WRLCK);
    case FIFO:
        return 0 == mkfifo(path, 0666);
    case LINK:
        return 0 == symlink(victim, path);
    case LOOP:
        return 0 == symlink(path, path);
    default:
        return 0 == mkdir(path, 0777);
    }
}

static volatile sig_atomic_t breaks;

static void on_break(int signum)
{
    (void) signum;
    ++breaks;
}

/** Puts the other user's files there, and holds them until its input ends.  @return the exit
 * status: how often a process tried to open a file with a lease */
static int stranger(const char *victim, int input, int output)
{
    struct rlimit limit;
    char path[160], byte = 'r';

    signal(SIGIO, on_break);
    (void) getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void) setrlimit(RLIMIT_NOFILE, &limit);
    (void) umask(0);
    if (0 != setgid(STRANGER) || 0 != syscall(SYS_setuid, STRANGER)) {
        return 100;
    }
    for (int i = 0; i < KINDS * EACH; ++i) {
        /* The names are of user 0, which does not own the files. */
        snprintf(path, sizeof(path), "%s/epshm.0.%x.%d.%016x", folder, i % 2 ? 0x1267 : 0xdeadbeef,
                 i / KINDS, (unsigned int) (i % KINDS));
        if (!put(path, i % KINDS, victim)) {
            return 101;
        }
    }
    (void) !write(output, &byte, 1);
    while (0 > read(input, &byte, 1)) {
        /* a signal */
    }
    return breaks;
}

static pid_t start_stranger(const char *victim, int *release_p)
{
    int there[2], back[2];
    char byte;
    pid_t pid;

    TAP_EQ(0, pipe(there));
    TAP_EQ(0, pipe(back));
    fflush(NULL);
    pid = fork();
    if (0 == pid) {
        close(there[1]);
        _exit(stranger(victim, there[0], back[1]));
    }
    close(back[1]);
    TAP_EQ(1, read(back[0], &byte, 1));
    close(back[0]);
    *release_p = there[1];
    return pid;
}

static int stop_stranger(pid_t pid, int release)
{
    int status = -1;

    TAP_EQ(1, write(release, "e", 1));
    TAP_EQ(pid, waitpid(pid, &status, 0));
    return status;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void component_start(void)
{
    TAP_EQ(OPAL_SUCCESS, opal_init_util(NULL, NULL));
    me_make(0x1267, 0);
    TAP_EQ(OPAL_SUCCESS,
           mca_btl_epshm_component.super.super.btl_version.mca_register_component_params());
    mca_btl_epshm_component.directory = folder;
    mca_btl_epshm_component.segment_size = (size_t) 1 << 22;
}

/** A segment is made, and others' are looked for, among all that. */
static void case_strangers(void)
{
    char victim[128], path[160];
    uint64_t stamp, size;
    struct stat before, after;
    epshm_peer_proc_t *peer_proc;
    int release = -1, found = 0;
    pid_t pid;

    snprintf(victim, sizeof(victim), "%s/victim", folder);
    close((int) syscall(SYS_openat, AT_FDCWD, victim, O_RDWR | O_CREAT, 0600));
    TAP_EQ(0, stat(victim, &before));
    pid = start_stranger(victim, &release);

    TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_segment_open(&stamp, &size));
    for (int i = 0; i < KINDS * EACH; ++i) {
        const opal_process_name_t name = {.jobid = 0x1267, .vpid = (opal_vpid_t) (i / KINDS)};

        if (0 < name.vpid) {
            TAP_EQ(OPAL_ERR_UNREACH, mca_btl_epshm_peer_proc_attach(&name, (uint64_t) (i % KINDS),
                                                                    1 << 22, &peer_proc));
        }
        name_of(path, sizeof(path), i % 2 ? 0x1267 : 0xdeadbeef, i / KINDS, i % KINDS);
        found += 0 == lstat(path, &after);
    }
    TAP_EQ(0, foreign_opens);
    TAP_EQ(0, stop_stranger(pid, release)); /* no process waited for it */
    TAP_EQ(KINDS * EACH, found);            /* or has taken anything away */
    TAP_EQ(0, stat(victim, &after));
    TAP_EQ(before.st_nlink, after.st_nlink);
    TAP_EQ(before.st_size, after.st_size);
    mca_btl_epshm_segment_close();
}

/** More names than are worth a look. */
static void case_crowd(void)
{
    char path[160];
    uint64_t stamp, size;

    for (int i = 0; i < CROWD; ++i) {
        snprintf(path, sizeof(path), "%s/%d", folder, i);
        close((int) syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT, 0600));
    }
    names_read = 0;
    TAP_EQ(OPAL_SUCCESS, mca_btl_epshm_segment_open(&stamp, &size));
    TAP_CHECK(LOOKED_AT > names_read, "%d names were looked at", names_read);
    mca_btl_epshm_segment_close();
}

/** Names in the folder, "." and ".." aside. */
static int names_in_folder(void)
{
    DIR *stream = opendir(folder);
    int count = 0;

    while (NULL != stream && NULL != readdir(stream)) {
        ++count;
    }
    (void) closedir(stream);
    return count - 2;
}

/** No segment can be made, and nothing is left of the attempt. */
static void no_segment(const char *options)
{
    uint64_t stamp, size;

    if (0 != mount("ept", folder, "tmpfs", 0, options)) {
        printf("# nothing can be mounted here: %s\n", strerror(errno));
        return;
    }
    mca_btl_epshm_segment_close(); /* and so another attempt is made */
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, mca_btl_epshm_segment_open(&stamp, &size));
    TAP_EQ(0, names_in_folder());
    TAP_EQ(0, umount(folder));
}

/** Others have taken all inodes, or all memory; and what is said then is what to look for. */
static void case_full(void)
{
    int status = -1;
    const pid_t pid = fork();

    if (0 == pid) { /* mounts are out of the sight of others, and end with it */
        if (0 == unshare(CLONE_NEWNS)) {
            (void) mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL); /* in a chroot: it is */
            no_segment("nr_inodes=1");
            no_segment("size=4k");
        }
        _exit(0 != atomic_load_explicit(&tap.failures, memory_order_relaxed));
    }
    TAP_EQ(pid, waitpid(pid, &status, 0));
    TAP_EQ(0, status);
    TAP_CHECK(NULL != strstr(mca_btl_epshm_segment_advice(ENOSPC), "df -i"), "no word of inodes");
    TAP_CHECK(NULL != strstr(mca_btl_epshm_segment_advice(EPERM), "1777"), "no word of modes");
    TAP_CHECK(NULL != strstr(mca_btl_epshm_segment_advice(EMFILE), "ulimit -n"), "nor of files");
}

int main(int argc, char **argv)
{
    char left[160];

    if (0 != geteuid()) {
        printf("1..0 # SKIP only root can be two users\n");
        return 0;
    }
    tap_begin(argc, argv, "test_epshm_folder", 60);
    folder_make();
    TAP_EQ(0, chmod(folder, 01777));
    component_start();
    tap_case("what another user has put into the folder");
    /* What cannot be mapped is said. */
    TAP_CHECK(NULL != freopen("/dev/null", "w", stderr), "no /dev/null");
    case_strangers();
    tap_case_done();
    tap_case("a folder full of names");
    case_crowd();
    tap_case_done();
    tap_case("a folder without room");
    case_full();
    tap_case_done();
    snprintf(left, sizeof(left), "rm -rf %s", folder);
    TAP_EQ(0, system(left));
    return tap_end();
}
