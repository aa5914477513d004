/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Entering functions (entry/entry.h), with all kinds of beginnings, those that must be
 * refused among them.  The functions are called directly, as those of a library that was linked
 * with -Bsymbolic-functions.
 *
 * Guards: entry.c, entry_aarch64.c,
 * entry_x86_64.c
 */
/* EPT-LIBS: -ldl */

#define _GNU_SOURCE 1

#if !defined(EP_HAVE_ZYDIS)
#    if __has_include(<Zydis/Zydis.h>)
#        define EP_HAVE_ZYDIS 1
#    else
#        define EP_HAVE_ZYDIS 0
#    endif
#endif

#include "ompi/mpiext/endpoints/c/entry/entry.c"
#include "ompi/mpiext/endpoints/c/entry/entry_aarch64.c"
#include "ompi/mpiext/endpoints/c/entry/entry_x86_64.c"

#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#if !defined(PR_SET_MDWE)
#    define PR_SET_MDWE 65
#    define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/** A function with this body, and where it ends. */
#define FUNCTION(name, body)                                                                 \
    asm(".pushsection .text\n.balign 16\n.globl f_" #name "\n.type f_" #name ", %function\n" \
        "f_" #name ":\n" body "\nend_" #name ":\n.size f_" #name ", . - f_" #name            \
        "\n.popsection");                                                                    \
    extern const uint8_t end_##name[] asm("end_" #name);                                     \
    extern long f_##name(long a, long b)

/** They are called in this form, and give 3 a + b. */
typedef long (*function_t)(long a, long b);

long data_five = 5;

#if defined(__x86_64__)

#    define SUM "lea (%rdi,%rdi,2), %rax\nadd %rsi, %rax\n"

/** Stays on the same page as others, in a loop until it is to end. */
FUNCTION(spin, "1: pause\nincq (%rsi)\ncmpl $0, (%rdi)\nje 1b\nxor %eax, %eax\nret");

/* What can be entered. */
FUNCTION(pushes,
         "endbr64\npush %r15\npush %r14\npush %r13\n" SUM "pop %r13\npop %r14\npop %r15\nret");
FUNCTION(pointer, "push %rbp\nmov %rsp, %rbp\nsub $16, %rsp\n" SUM "leave\nret");
FUNCTION(five, "mov $7, %eax\n" SUM "ret");
FUNCTION(ten, "endbr64\nmovabs $0x1122334455667788, %rax\n" SUM "ret");
FUNCTION(data, "mov data_five(%rip), %rax\nsub $5, %rax\nadd %rsi, %rax\n"
               "lea (%rax,%rdi,2), %rax\nadd %rdi, %rax\nret");
FUNCTION(compare, "endbr64\ncmpq $5, data_five(%rip)\nmov %rsi, %rax\njne 1f\n"
                  "lea (%rax,%rdi,2), %rax\nadd %rdi, %rax\n1: ret");
FUNCTION(address, "push %rbx\nlea data_five(%rip), %rbx\nmov (%rbx), %rax\n"
                  "lea -5(%rax,%rsi), %rax\nlea (%rax,%rdi,2), %rax\nadd %rdi, %rax\n"
                  "pop %rbx\nret");
/* Calls itself a times: f(a, b) = 3 + f(a - 1, b). */
FUNCTION(itself, "push %rbx\nsub $16, %rsp\ntest %rdi, %rdi\nje 1f\ndec %rdi\ncall f_itself\n"
                 "add $3, %rax\njmp 2f\n1: mov %rsi, %rax\n2: add $16, %rsp\npop %rbx\nret");
FUNCTION(framed_table, "push %rbx\npush %r12\npush %r13\nlea 1f(%rip), %rax\njmp *%rax\n1: " SUM
                       "pop %r13\npop %r12\npop %rbx\nret");
FUNCTION(framed_tail, "sub $8, %rsp\nmov %rsp, %rax\nsub $16, %rsp\nadd $24, %rsp\njmp f_five");
FUNCTION(branch, "endbr64\ntest %rdi, %rdi\nje 1f\nmov data_five(%rip), %rax\n" SUM
                 "ret\n1: mov %rsi, %rax\nret");
FUNCTION(branches, "test %edi, %edi\njs 1f\n.byte 0x0f, 0x84\n.long 1f - 2f\n2: " SUM
                   "ret\n1: mov %rsi, %rax\nret");
FUNCTION(tail_pad, "mov %rsp, %rax\nmov %rsp, %rax\njmp f_pushes");
FUNCTION(loop_behind, "mov $3, %ecx\nmov %rsi, %rax\n1: add %rdi, %rax\ndec %ecx\njne 1b\nret");
FUNCTION(two_pages, ".balign 4096\n.skip 4090, 0x90\n.globl at_edge\nat_edge:\nendbr64\npush %r15\n"
                    "push %r14\npush %r13\n" SUM "pop %r13\npop %r14\npop %r15\nret");

/* What cannot. */
FUNCTION(short, "endbr64\nxor %eax, %eax");
FUNCTION(jump, "endbr64\njmp 1f\nnop\n1: " SUM "ret");
FUNCTION(call, "call 1f\n1: pop %rax\n" SUM "ret");
FUNCTION(trap, "endbr64\nint3\nnop\nnop\nnop\nnop\n" SUM "ret");
FUNCTION(loop, "mov %rsi, %rax\n1: add %rdi, %rax\nadd %rdi, %rax\nadd %rdi, %rax\n"
               "test %rsi, %rsi\nmov $0, %esi\njs 1b\nret");
FUNCTION(loop_start, "1: inc %rsi\nadd $0, %rsi\ndec %rsi\ntest %rsi, %rsi\njs 1b\n" SUM "ret");
FUNCTION(unknown, "push %r15\npush %r14\npush %r13\n" SUM "pop %r13\npop %r14\npop %r15\nret\n"
                  ".byte 0x06, 0x06, 0x06");
FUNCTION(table, "lea 1f(%rip), %rax\njmp *%rax\n1: " SUM "ret");
FUNCTION(tail, "mov %rsp, %rax\nmov %rsp, %rax\njmp f_five");
/* Its frame is moved, what is behind that could be gone back to. */
FUNCTION(early_frame, "push %rbx\nmov %rsi, %rax\nmov %rsi, %rbx\npop %rbx\njmp f_five");

#    define AT_EDGE 1
#    define PAD "\xf3\x0f\x1e\xfa"

#elif defined(__aarch64__)

#    define SUM "add x0, x0, x0, lsl #1\nadd x0, x0, x1\n"

FUNCTION(pushes, "hint #34\nstp x29, x30, [sp, #-32]!\nstp x19, x20, [sp, #16]\n" SUM
                 "ldp x19, x20, [sp, #16]\nldp x29, x30, [sp], #32\nret");
FUNCTION(pointer, "hint #25\nstp x29, x30, [sp, #-16]!\nmov x29, sp\n" SUM
                  "ldp x29, x30, [sp], #16\nhint #29\nret");
FUNCTION(five, "mov x2, #7\n" SUM "ret");
FUNCTION(ten, "sub sp, sp, #16\nstr x1, [sp]\n" SUM "add sp, sp, #16\nret");
FUNCTION(data, "adrp x2, data_five\nldr x2, [x2, :lo12:data_five]\nsub x2, x2, #5\n" SUM
               "add x0, x0, x2\nret");
FUNCTION(compare, "hint #34\nadrp x2, data_five\nldr x2, [x2, :lo12:data_five]\ncmp x2, #5\n"
                  "b.ne 1f\n" SUM "1: ret");
FUNCTION(address, "adr x2, 1f\nldr x2, [x2]\nsub x2, x2, #9\n" SUM "add x0, x0, x2\nret\n"
                  ".balign 8\n1: .quad 9");
FUNCTION(itself, "stp x29, x30, [sp, #-16]!\ncbz x0, 1f\nsub x0, x0, #1\nbl f_itself\n"
                 "add x0, x0, #3\nb 2f\n1: mov x0, x1\n2: ldp x29, x30, [sp], #16\nret");
FUNCTION(framed_table,
         "str x19, [sp, #-16]!\nadr x2, 1f\nbr x2\n1: " SUM "ldr x19, [sp], #16\nret");
FUNCTION(framed_tail, "mov x2, sp\nsub sp, sp, #16\nadd sp, sp, #16\nb f_five");
FUNCTION(branch, "hint #34\ncbz x0, 1f\n" SUM "ret\n1: mov x0, x1\nret");
FUNCTION(branches, "tbnz w0, #31, 1f\n" SUM "ret\n1: mov x0, x1\nret");
FUNCTION(tail_pad, "mov x2, sp\nb f_pushes");
FUNCTION(loop_behind, "mov x2, #3\n1: add x1, x1, x0\nsubs x2, x2, #1\nb.ne 1b\nmov x0, x1\nret");

FUNCTION(short, "hint #34");
FUNCTION(jump, "hint #34\nb 1f\n1: " SUM "ret");
FUNCTION(call, "bl 1f\n1: " SUM "ret");
FUNCTION(trap, "brk #0\n" SUM "ret");
FUNCTION(loop, "hint #34\n1: add x1, x1, x0\ntbnz x1, #63, 1b\nadd x0, x0, x0\n"
               "add x0, x0, x1\nret");
FUNCTION(loop_start, "1: add x1, x1, #0\nb.lt 1b\n" SUM "ret");
FUNCTION(unknown, "ldr x2, 1f\n" SUM "ret\n.balign 8\n1: .quad 9");
FUNCTION(table, "adr x2, 1f\nbr x2\n1: " SUM "ret");
FUNCTION(tail, "mov x2, sp\nb f_five");
FUNCTION(early_frame, "mov x2, x1\ncbz x2, 1f\nsub sp, sp, #16\nadd sp, sp, #16\n1: b f_five");

FUNCTION(spin, "1: ldr x2, [x1]\nadd x2, x2, #1\nstr x2, [x1]\nldr w2, [x0]\ncbz w2, 1b\n"
               "mov x0, #0\nret");

#    define AT_EDGE 0
#    define PAD "\x5f\x24\x03\xd5"

#endif

#if MPIX_ENDPOINTS_ENTRIES

extern long at_edge(long a, long b);

/** Where a call of a function of ours goes on. */
static mpix_endpoints_entry_t entries[16];
static int entry_count;

#    define OURS_ADD 1000

/** How often ours was called for entry number i; 1000 more than the original gives. */
static int arrived[16];

#    define OURS(i)                                                             \
        static long ours_##i(long a, long b)                                    \
        {                                                                       \
            ++arrived[i];                                                       \
            return OURS_ADD + ((function_t) (uintptr_t) entries[i].slot)(a, b); \
        }
/* clang-format off */
OURS(0) OURS(1) OURS(2) OURS(3) OURS(4) OURS(5) OURS(6) OURS(7) OURS(8) OURS(9) OURS(10) OURS(11)
OURS(12) OURS(13) OURS(14)
    /* clang-format on */

    static const function_t ours[]
    = {ours_0, ours_1, ours_2,  ours_3,  ours_4,  ours_5,  ours_6, ours_7,
       ours_8, ours_9, ours_10, ours_11, ours_12, ours_13, ours_14};

typedef struct case_t {
    const char *name;
    function_t function;
    const uint8_t *end;
    const char *why; /**< NULL: it can be entered */
} case_t;

/* clang-format off */
#    define CASE(name, why) {#name, f_##name, end_##name, why}
/* clang-format on */

static const case_t good[] = {
    CASE(pushes, NULL),
    CASE(pointer, NULL),
    CASE(five, NULL),
    CASE(ten, NULL),
    CASE(data, NULL),
    CASE(compare, NULL),
    CASE(address, NULL),
    CASE(itself, NULL),
    CASE(framed_table, NULL),
    CASE(framed_tail, NULL),
    CASE(tail_pad, NULL),
    CASE(branch, NULL),
    CASE(branches, NULL),
    CASE(loop_behind, NULL),
#    if AT_EDGE
    {"two_pages", at_edge, end_two_pages, NULL},
#    endif
};

static const case_t bad[] = {
    CASE(short, "too short"),
    CASE(jump, "works only where it is"),
    CASE(call, "works only where it is"),
    CASE(trap, "works only where it is"),
    CASE(loop, "goes back to its first"),
    CASE(loop_start, "goes back to its first"),
#    if defined(__x86_64__)
    CASE(unknown, "no instruction"),
#    else
    CASE(unknown, "works only where it is"),
#    endif
    CASE(table, "may go back to its first"),
    CASE(tail, "may go back to its first"),
    CASE(early_frame, "may go back to its first"),
};

enum { GOOD = sizeof(good) / sizeof(good[0]), BAD = sizeof(bad) / sizeof(bad[0]) };

static mpix_endpoints_entry_t entry_of(const case_t *one, const void *to)
{
    return (mpix_endpoints_entry_t){
        .function = (const uint8_t *) (uintptr_t) one->function,
        .size = (size_t) (one->end - (const uint8_t *) (uintptr_t) one->function),
        .ours = to,
    };
}

static void case_refused(void)
{
    tap_case("functions that cannot be entered are refused, each for its reason");
    for (int i = 0; i < BAD; ++i) {
        mpix_endpoints_entry_t entry = entry_of(&bad[i], (const void *) (uintptr_t) ours_0);
        const char *why = mpix_endpoints_entry_check(&entry);

        TAP_CHECK(NULL != why && NULL != strstr(why, bad[i].why), "%s: expected \"%s\", got \"%s\"",
                  bad[i].name, bad[i].why, NULL == why ? "none" : why);
    }
    /* No size, no instructions. */
    for (int i = 0; i < GOOD; ++i) {
        mpix_endpoints_entry_t entry = entry_of(&good[i], (const void *) (uintptr_t) ours_0);

        entry.size = 3;
        TAP_CHECK(NULL != mpix_endpoints_entry_check(&entry), "%s: 3 bytes of it", good[i].name);
    }
    tap_case_done();
}

/** Are no pages of this process writable and executable, and are the function's executable? */
static void check_pages(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    TAP_CHECK(NULL != maps, "no /proc/self/maps");
    while (NULL != maps && NULL != fgets(line, sizeof(line), maps)) {
        unsigned long begin = 0, end = 0;
        char rights[5] = "";

        if (3 != sscanf(line, "%lx-%lx %4s", &begin, &end, rights)) {
            continue;
        }
        TAP_CHECK('w' != rights[1] || 'x' != rights[2], "writable and executable: %s", line);
        for (int i = 0; i < GOOD; ++i) {
            if ((uintptr_t) good[i].function >= begin && (uintptr_t) good[i].function < end) {
                TAP_CHECK(0 == strncmp(rights, "r-x", 3), "%s is %s", good[i].name, rights);
            }
        }
    }
    if (NULL != maps) {
        fclose(maps);
    }
}

/** Look at all that can be entered. */
static void check_good(void)
{
    for (int i = 0; i < GOOD; ++i) {
        const char *why;

        entries[i] = entry_of(&good[i], (const void *) (uintptr_t) ours[i]);
        why = mpix_endpoints_entry_check(&entries[i]);
        TAP_CHECK(NULL == why, "%s: refused, \"%s\"", good[i].name, why);
    }
    entry_count = GOOD;
}

static bool has_pad(const uint8_t *function)
{
    return 0 == memcmp(function, PAD, 4);
}

static void case_entered(void)
{
    tap_case("calls come to ours, and what was moved does what it did");
    check_good();
    for (int i = 0; i < GOOD; ++i) {
        TAP_EQ(3 * 4 + 10, good[i].function(4, 10));
        TAP_EQ(7, good[i].function(0, 7));
    }
    TAP_CHECK(!tap_case_failed() && NULL == mpix_endpoints_entries_place(entries, entry_count),
              "not placed");
    for (int i = 0; !tap_case_failed() && i < GOOD; ++i) {
        const function_t original = (function_t) (uintptr_t) entries[i].slot;
        const bool itself = f_itself == good[i].function;
        /* endbr64, bti c: what an indirect call must find. */
        const bool pad = has_pad(entries[i].function);
        /* It tail-calls one that was entered before. */
        const long more = f_framed_tail == good[i].function || f_tail_pad == good[i].function
                              ? OURS_ADD
                              : 0;
        const char *why;

        TAP_EQ(3 * 4 + 10 + more, original(4, 10));
        TAP_EQ(0, arrived[i]);
        why = mpix_endpoints_entry_enter(&entries[i]);
        TAP_CHECK(NULL == why, "%s: not entered, \"%s\"", good[i].name, why);
        TAP_EQ(pad, has_pad(entries[i].function));
        TAP_CHECK(has_pad(entries[i].slot), "%s: none at the original", good[i].name);
        TAP_EQ(3 * 4 + 10 + more + (itself ? 5 : 1) * OURS_ADD, good[i].function(4, 10));
        TAP_EQ(itself ? 5 : 1, arrived[i]);
        TAP_EQ(3 * 4 + 10 + more + (itself ? 4 : 0) * OURS_ADD, original(4, 10));
        TAP_EQ(7 + more, original(0, 7));
        TAP_EQ(7 + more + OURS_ADD, good[i].function(0, 7));
    }
    check_pages();
    tap_case_done();
}

static _Atomic int spin_end;
static _Atomic long spin_count;

static void *spin(void *unused)
{
    (void) unused;
    f_spin((long) (uintptr_t) &spin_end, (long) (uintptr_t) &spin_count);
    return NULL;
}

/** Entered again and again, to the same place, while threads run in the same page. */
static void case_others_run(void)
{
    pthread_t threads[2];

    tap_case("others may run on the same page meanwhile");
    TAP_CHECK(NULL != entries[entry_count - 1].slot, "there is nothing to enter");
    if (tap_case_failed()) {
        tap_case_done();
        return;
    }
    for (int i = 0; i < 2; ++i) {
        TAP_EQ(0, pthread_create(&threads[i], NULL, spin, NULL));
    }
    for (int round = 0; round < 200; ++round) {
        const long before = atomic_load(&spin_count);

        TAP_CHECK(NULL == mpix_endpoints_entry_enter(&entries[round % entry_count]), "round %d",
                  round);
        while (before == atomic_load(&spin_count)) {
            usleep(100);
        }
    }
    atomic_store(&spin_end, 1);
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    TAP_EQ(3 * 4 + 10 + OURS_ADD, f_five(4, 10));
    tap_case_done();
}

/** In a process of its own, whose rights have been taken. @return what it exits with */
static int child_enters(bool no_files)
{
    const pid_t child = fork();
    int status = -1;

    if (0 == child) {
        const struct rlimit none = {0, 0};
        const char *why;

        tap_limit(20);
        check_good();
        if (no_files ? 0 != setrlimit(RLIMIT_NOFILE, &none)
                     : 0 != prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)) {
            _exit(77);
        }
        why = mpix_endpoints_entries_place(entries, entry_count);
        for (int i = 0; NULL == why && i < entry_count; ++i) {
            why = mpix_endpoints_entry_enter(&entries[i]);
        }
        if (no_files) {
            _exit(NULL != why && NULL != strstr(why, "lets no changed code be run (memfd_create: ")
                          && 3 * 4 + 10 == f_five(4, 10)
                      ? 0
                      : 1);
        }
        _exit(NULL == why && 3 * 4 + 10 + OURS_ADD == f_five(4, 10) ? 0 : 1);
    }
    TAP_CHECK(child == waitpid(child, &status, 0) && WIFEXITED(status), "it crashed: %x",
              (unsigned int) status);
    return WEXITSTATUS(status);
}

static void case_hardened(void)
{
    int status;

    tap_case("where pages may not become executable later it works, too");
    status = child_enters(false);
    TAP_CHECK(0 == status || 77 == status, "the child says %d", status);
    if (77 == status) {
        printf("# this kernel cannot forbid it\n");
    }
    tap_case_done();
    tap_case("where the system refuses, the reason is reported and nothing has changed");
    TAP_EQ(0, child_enters(true));
    tap_case_done();
}

#endif /* MPIX_ENDPOINTS_ENTRIES */

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_hook_entry", 60);
#if MPIX_ENDPOINTS_ENTRIES
    mpix_endpoints_entry_t entry = entry_of(&good[0], (const void *) (uintptr_t) ours_0);
    const char *why = mpix_endpoints_entry_check(&entry);

#    if defined(__SANITIZE_THREAD__)
    const bool replaceable = false; /* it has no room for notes on code, and fails to clear them */
#    else
    const bool replaceable = true;
#    endif

    if (!replaceable) {
        printf("1..0 # SKIP not with ThreadSanitizer\n");
        return 0;
    }
    if (NULL != why && NULL != strstr(why, "Zydis")) {
        printf("1..0 # SKIP %s\n", why);
        return 0;
    }
    case_hardened(); /* while nothing is entered */
    case_refused();
    case_entered();
    case_others_run();
    return tap_end();
#else
    printf("1..0 # SKIP not on this kind of machine\n");
    return 0;
#endif
}
