/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Entering functions on x86-64.
 *
 *   function:  endbr64               stays: an indirect call must find it
 *              jmp   way             5 bytes, in place of what was moved
 *              ...
 *   slot:      endbr64               the original, called indirectly
 *              what was moved        operands and branches relative to the instruction changed
 *              jmp   function + kept + moved
 *   way:       jmp   *next
 *   next:      ours
 *
 * Instructions have no fixed length, so what they are is left to Zydis, which is loaded when it is
 * needed.  What may be moved, and what else must hold, is in mpix_endpoints_machine_check.
 *
 * Tests: unit/test_hook_entry
 */

#define _GNU_SOURCE 1

#include "entry.h"

#if defined(__x86_64__)

#    include <string.h>

#    if EP_HAVE_ZYDIS

#        include <dlfcn.h>
#        include <stdio.h>

#        include <Zydis/Zydis.h>

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/** The disassembler: its library, and its state. */
static struct {
    __typeof__(&ZydisDecoderDecodeFull) decode; /**< NULL: not loaded */
    ZydisDecoder decoder;
} zydis;

/** An instruction of a function. */
typedef struct instruction_t {
    ZydisDecodedInstruction info;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const uint8_t *address;
} instruction_t;

/** @return NULL, or why there is no disassembler */
static const char *zydis_load(void)
{
    static char missing[120];
    __typeof__(&ZydisDecoderInit) init;
    char name[32];
    void *library;

    if (NULL != zydis.decode) {
        return NULL;
    }
    /* The library's binary interface is named by the first two numbers of its version. */
    snprintf(name, sizeof(name), "libZydis.so.%u.%u",
             (unsigned int) ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
             (unsigned int) ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    init = NULL != library ? (__typeof__(init)) dlsym(library, "ZydisDecoderInit") : NULL;
    if (NULL == init
        || !ZYAN_SUCCESS(init(&zydis.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
        snprintf(missing, sizeof(missing), "the disassembler %s, from package zydis, is missing",
                 name);
        return missing;
    }
    zydis.decode = (__typeof__(zydis.decode)) dlsym(library, "ZydisDecoderDecodeFull");
    return NULL != zydis.decode ? NULL : "the disassembler Zydis has not what it should have";
}

/** @return false: these bytes are no instruction */
static bool entry_decode(instruction_t *instruction, const uint8_t *address, const uint8_t *end)
{
    instruction->address = address;
    return address < end
           && ZYAN_SUCCESS(zydis.decode(&zydis.decoder, address, (ZyanUSize) (end - address),
                                        &instruction->info, instruction->operands));
}

/** Does it go to a place that it names relative to itself? */
static bool goes_to(const instruction_t *instruction, const uint8_t **target)
{
    for (int i = 0; i < 2; ++i) {
        if (instruction->info.raw.imm[i].is_relative) {
            *target = instruction->address + instruction->info.length
                      + instruction->info.raw.imm[i].value.s;
            return true;
        }
    }
    return false;
}

/** Does it name data relative to itself? */
static bool is_relative_operand(const ZydisDecodedOperand *operand)
{
    return ZYDIS_OPERAND_TYPE_MEMORY == operand->type && ZYDIS_REGISTER_RIP == operand->mem.base;
}

static bool has_relative_data(const instruction_t *instruction)
{
    for (int i = 0; i < instruction->info.operand_count; ++i) {
        if (is_relative_operand(&instruction->operands[i])) {
            return true;
        }
    }
    return false;
}

/** A branch on the flags, which can be written anew for another place. */
static bool is_conditional(const instruction_t *instruction)
{
    const bool near = 2 == instruction->info.length || 6 == instruction->info.length;
    const uint8_t code = instruction->info.opcode & 0xf0;

    return near && ZYDIS_CATEGORY_COND_BR == instruction->info.meta.category
           && (2 == instruction->info.length ? 0x70 == code : 0x80 == code);
}

/** Does control go anywhere but to the next instruction, or does the code depend on where it
 * stands? */
static bool is_fixed(const instruction_t *instruction)
{
    if (is_conditional(instruction)) {
        return false;
    }
    switch (instruction->info.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_CET:
        return true;
    default:
        return ZYDIS_BRANCH_TYPE_NONE != instruction->info.meta.branch_type
               || (0 != (instruction->info.attributes & ZYDIS_ATTRIB_IS_RELATIVE)
                   && !(has_relative_data(instruction) && 32 == instruction->info.raw.disp.size));
    }
}

/** Does it make the stack larger? */
static bool is_frame(const instruction_t *instruction)
{
    return ZYDIS_MNEMONIC_PUSH == instruction->info.mnemonic
           || (ZYDIS_MNEMONIC_SUB == instruction->info.mnemonic
               && ZYDIS_OPERAND_TYPE_REGISTER == instruction->operands[0].type
               && ZYDIS_REGISTER_RSP == instruction->operands[0].reg.value
               && ZYDIS_OPERAND_TYPE_IMMEDIATE == instruction->operands[1].type);
}

/**
 * Does another function begin here?  One that may be called indirectly begins with endbr64, which
 * no part of a function does; a stub of the linker's jumps through a slot at once.
 */
static bool is_function(const mpix_endpoints_entry_t *entry, const uint8_t *target)
{
    /* Stubs of stubs there are not. */
    for (int i = 0; i < 2; ++i) {
        const size_t within = (size_t) ((uintptr_t) target - (uintptr_t) entry->function);
        instruction_t instruction;

        if (within < entry->size
            || !entry_decode(&instruction, target, target + sizeof(endbr64) + 11)) {
            return false;
        }
        if (0 == memcmp(target, endbr64, sizeof(endbr64))) {
            return true;
        }
        if (ZYDIS_MNEMONIC_JMP != instruction.info.mnemonic) {
            return false;
        }
        if (!goes_to(&instruction, &target)) {
            return is_relative_operand(&instruction.operands[0]);
        }
    }
    return false;
}

/** How the rest of a function is: see mpix_endpoints_machine_check. */
typedef struct rest_t {
    bool framed;   /**< its first straight piece takes a frame, at or behind the last one moved */
    bool unknown;  /**< it goes to places that are not to be seen here */
    bool straight; /**< no branch has come yet */
} rest_t;

/** Note what one instruction says about it.  @return why the function cannot be entered */
static const char *look_at(const mpix_endpoints_entry_t *entry, const instruction_t *instruction,
                           const uint8_t *last_moved, rest_t *rest)
{
    const uint8_t *const moved_end = entry->function + entry->kept + entry->moved;
    const bool jump = ZYDIS_CATEGORY_CALL != instruction->info.meta.category;
    const uint8_t *target;

    if (goes_to(instruction, &target)) {
        /* A call of itself may come to ours, too. */
        if (entry->function <= target && target < moved_end
            && (jump || entry->function != target)) {
            return "it goes back to its first instructions";
        }
        if (jump && (target < entry->function || entry->function + entry->size <= target)
            && !is_function(entry, target)) {
            rest->unknown = true;
        }
    } else if (ZYDIS_MNEMONIC_JMP == instruction->info.mnemonic
               && !is_relative_operand(&instruction->operands[0])) {
        rest->unknown = true;
    }
    if (ZYDIS_BRANCH_TYPE_NONE != instruction->info.meta.branch_type && jump) {
        rest->straight = false;
    }
    if (rest->straight && last_moved <= instruction->address && is_frame(instruction)) {
        rest->framed = true;
    }
    return NULL;
}

/** Room for the branch.  @return why there is none */
static const char *check_first(mpix_endpoints_entry_t *entry, const uint8_t **last_moved)
{
    const uint8_t *const end = entry->function + entry->size;
    instruction_t instruction;

    entry->kept = 0;
    entry->moved = 0;
    if (entry->size >= sizeof(endbr64) && 0 == memcmp(entry->function, endbr64, sizeof(endbr64))) {
        entry->kept = sizeof(endbr64);
    }
    while (entry->moved < MPIX_ENDPOINTS_MACHINE_BRANCH) {
        const uint8_t *next = entry->function + entry->kept + entry->moved;

        if (next >= end) {
            return "it is too short";
        }
        if (!entry_decode(&instruction, next, end)) {
            return "its first instructions are unknown";
        }
        if (is_fixed(&instruction)) {
            return "one of its first instructions works only where it is";
        }
        *last_moved = next;
        entry->moved += instruction.info.length;
    }
    return NULL;
}

/**
 * What is moved must work elsewhere, and nothing may go into the middle of it, where the branch is
 * now.
 *
 * The whole function is read: branches that name their target are seen.  Those that do not are a
 * switch's, whose table is elsewhere.  Those out of the function lead to its unlikely parts, which
 * may come back, unless they lead to other functions.  Neither comes back to where the frame is
 * still to be made: the next round would make another one.  So a function that has such branches,
 * and no frame at or behind the last moved instruction, is refused.
 */
const char *mpix_endpoints_machine_check(mpix_endpoints_entry_t *entry)
{
    const uint8_t *const end = entry->function + entry->size;
    const uint8_t *last_moved = NULL;
    rest_t rest = {.straight = true};
    const char *why = zydis_load();
    instruction_t instruction;

    if (NULL == why) {
        why = check_first(entry, &last_moved);
    }
    for (const uint8_t *next = entry->function + entry->kept; NULL == why && next < end;
         next += instruction.info.length) {
        if (!entry_decode(&instruction, next, end)) {
            return "there is something in it that is no instruction";
        }
        why = look_at(entry, &instruction, last_moved, &rest);
    }
    if (NULL == why && rest.unknown && !rest.framed) {
        why = "it may go back to its first instructions";
    }
    return why;
}

/** @return false if it does not reach so far */
static bool write_offset(uint8_t *field, const uint8_t *from, const uint8_t *to)
{
    const int64_t distance = (int64_t) ((uintptr_t) to - (uintptr_t) from);
    const int32_t offset = (int32_t) distance;

    memcpy(field, &offset, sizeof(offset));
    return offset == distance;
}

/** A jump that will be at an address. */
static bool write_jump(uint8_t *code, const uint8_t *address, const uint8_t *target)
{
    *code = 0xe9;
    return write_offset(code + 1, address + MPIX_ENDPOINTS_MACHINE_BRANCH, target);
}

bool mpix_endpoints_machine_place(const mpix_endpoints_entry_t *entry, uint8_t *code)
{
    static const uint8_t jump_next[] = {0xff, 0x25, 0, 0, 0, 0};
    const uint8_t *const begin = entry->function + entry->kept, *const end = begin + entry->moved;
    size_t at = sizeof(endbr64);

    memcpy(code, endbr64, sizeof(endbr64));
    for (const uint8_t *next = begin; next < end;) {
        instruction_t instruction;

        if (!entry_decode(&instruction, next, end)) {
            return false;
        }
        next += instruction.info.length;
        if (is_conditional(&instruction)) {
            const uint8_t *target;

            /* The long form, which has 32 bits for the way. */
            code[at] = 0x0f;
            code[at + 1] = 0x80 | (instruction.info.opcode & 0x0f);
            if (!goes_to(&instruction, &target)
                || !write_offset(code + at + 2, entry->slot + at + 6, target)) {
                return false;
            }
            at += 6;
            continue;
        }
        memcpy(code + at, instruction.address, instruction.info.length);
        if (has_relative_data(&instruction)
            && !write_offset(code + at + instruction.info.raw.disp.offset,
                             entry->slot + at + instruction.info.length,
                             next + instruction.info.raw.disp.value)) {
            return false;
        }
        at += instruction.info.length;
    }
    memcpy(code + MPIX_ENDPOINTS_ENTRY_WAY, jump_next, sizeof(jump_next));
    memcpy(code + MPIX_ENDPOINTS_ENTRY_WAY + sizeof(jump_next), &entry->ours, sizeof(entry->ours));
    return write_jump(code + at, entry->slot + at, end);
}

void mpix_endpoints_machine_branch(const mpix_endpoints_entry_t *entry, uint8_t *code)
{
    /* The slot is near. */
    (void) write_jump(code, entry->function + entry->kept, entry->slot + MPIX_ENDPOINTS_ENTRY_WAY);
}

#    else /* no disassembler */

const char *mpix_endpoints_machine_check(mpix_endpoints_entry_t *entry)
{
    (void) entry;
    return "Open MPI Endpoints was built without the disassembler Zydis (libzydis-dev)";
}

bool mpix_endpoints_machine_place(const mpix_endpoints_entry_t *entry, uint8_t *code)
{
    (void) entry;
    (void) code;
    return false;
}

void mpix_endpoints_machine_branch(const mpix_endpoints_entry_t *entry, uint8_t *code)
{
    (void) entry;
    (void) code;
}

#    endif /* EP_HAVE_ZYDIS */

#endif /* __x86_64__ */
