/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Code of x86-64.  `lea object(%rip), register` becomes `mov slot(%rip), register`, which has the same
 * length: 48 or 4c, 8d or 8b, a byte for the register, 32 bits of distance.
 *
 * The instruction is looked for at every byte.  That such bytes are something else, and their distance
 * leads to an object of MPI's, takes 52 equal bits.  Other instructions that are about one are refused.
 *
 * Tests: ranks_basic, ranks_not_copied
 */

#define _GNU_SOURCE

#include "patch.h"

#include "decode.h"

#if defined(__x86_64__)

#    include <stdint.h>
#    include <stdio.h>
#    include <string.h>

enum { LEA_LENGTH = 7, OPCODE_LEA = 0x8d, OPCODE_MOV = 0x8b };

/** Code of a segment: its bytes, and the address of the first one. */
typedef struct code_t {
    uint8_t *begin;
    uint8_t *end;
    ElfW(Addr) address;
} code_t;

/** How far before a place that may be an instruction decoding begins: however it begins, it falls
 * into step with the instructions after a few of them. */
enum { DECODE_BEFORE = 512 };

/** The slot of an address. */
static ElfW(Addr)
    slot_of(mpix_ranks_slots_t *slots, const mpix_ranks_range_t *range, ElfW(Addr) address)
{
    mpix_ranks_pointer_t *slot = MPIX_RANKS_ITEMS(*slots->list, mpix_ranks_pointer_t);

    for (int i = 0; i < slots->list->count; ++i) {
        if (address == slot[i].value) {
            return slot[i].place;
        }
    }
    slot = mpix_ranks_list_add(slots->list, sizeof(*slot));
    slot->place = slots->address + (ElfW(Addr))(slots->list->count - 1) * sizeof(void *);
    slot->target = range->target;
    slot->value = address;
    return slot->place;
}

static bool is_lea(const uint8_t *code)
{
    return (0x48 == code[0] || 0x4c == code[0]) && OPCODE_LEA == code[1]
           && 0x05 == (code[2] & 0xc7);
}

static ElfW(Addr) target_of(const code_t *code, const uint8_t *distance, size_t length)
{
    int32_t offset;

    memcpy(&offset, distance, sizeof(offset));
    return code->address + (ElfW(Addr))(distance - code->begin) + length
           + (ElfW(Addr))(int64_t) offset;
}

static const char *patch_x86_64_change(const code_t *code, uint8_t *instruction,
                                       mpix_ranks_range_t *range, ElfW(Addr) target,
                                       mpix_ranks_slots_t *slots)
{
    const ElfW(Addr) next = code->address + (ElfW(Addr))(instruction - code->begin) + LEA_LENGTH;
    const int64_t distance = (int64_t) (slot_of(slots, range, target) - next);
    const int32_t offset = (int32_t) distance;

    if (offset != distance) {
        return "it is larger than 2 GiB";
    }
    if (MPIX_RANKS_ORIGINAL != range->target && target != range->begin) {
        return "its code has an address within MPI_COMM_WORLD or MPI_COMM_SELF";
    }
    instruction[1] = OPCODE_MOV;
    memcpy(instruction + 3, &offset, sizeof(offset));
    ++range->changed;
    return NULL;
}

static const char *change_code(const code_t *code, mpix_ranks_list_t *ranges, bool only_handles,
                               mpix_ranks_slots_t *slots)
{
    const char *wrong = NULL;

    for (uint8_t *at = code->begin; NULL == wrong && at + LEA_LENGTH <= code->end; ++at) {
        mpix_ranks_range_t *range;
        ElfW(Addr) target;

        if (!is_lea(at)) {
            continue;
        }
        target = target_of(code, at + 3, sizeof(int32_t));
        range = mpix_ranks_range_of(ranges, target);
        if (NULL != range && !(only_handles && MPIX_RANKS_ORIGINAL == range->target)) {
            wrong = patch_x86_64_change(code, at, range, target, slots);
            at += LEA_LENGTH - 1;
        }
    }
    return wrong;
}

/** Is there an instruction with its distance to data at that byte, and its end there? */
static bool is_distance(const code_t *code, const uint8_t *distance, const uint8_t *end)
{
    const uint8_t *next = distance - code->begin > DECODE_BEFORE ? distance - DECODE_BEFORE
                                                                 : code->begin;

    while (next < distance) {
        size_t relative;
        const size_t length = mpix_ranks_decode(next, (size_t) (code->end - next), &relative);

        if (0 != relative && next + relative == distance) {
            return next + length == end;
        }
        next += 0 != length ? length : 1;
    }
    return false;
}

/**
 * Other instructions that are about one of MPI's objects.  They have the distance behind a byte that
 * says so, and up to 4 bytes of constants behind it.  Bytes that look so are decoded.
 */
static const char *check_code(const code_t *code, const mpix_ranks_list_t *ranges)
{
    static const size_t lengths[] = {4, 5, 6, 8};
    static char text[160];

    for (uint8_t *at = code->begin + 1; at + sizeof(int32_t) <= code->end; ++at) {
        for (size_t i = 0; 0x05 == (at[-1] & 0xc7) && i < sizeof(lengths) / sizeof(*lengths); ++i) {
            const ElfW(Addr) target = target_of(code, at, lengths[i]);
            const mpix_ranks_range_t *range = mpix_ranks_range_of(ranges, target);
            const char *missing;

            if (NULL == range || !range->is_predefined) {
                continue;
            }
            missing = mpix_ranks_decode_load();
            if (NULL != missing) {
                return missing;
            }
            if (is_distance(code, at, at + lengths[i])) {
                (void) snprintf(text, sizeof(text),
                                "the instruction at 0x%lx uses %s in an unknown way (compile with "
                                "-mno-direct-extern-access)",
                                (unsigned long) (code->address + (ElfW(Addr))(at - code->begin)),
                                range->name);
                return text;
            }
        }
    }
    return NULL;
}

const char *mpix_ranks_patch(const mpix_ranks_elf_t *elf, mpix_ranks_list_t *ranges,
                             bool only_handles, mpix_ranks_slots_t *slots)
{
    const char *wrong = NULL;

    for (int i = 0; NULL == wrong && i < elf->segment_count; ++i) {
        const ElfW(Phdr) *segment = &elf->segments[i];

        if (PT_LOAD == segment->p_type && 0 != (segment->p_flags & PF_X)) {
            uint8_t *begin = (uint8_t *) elf->file + segment->p_offset;
            const code_t code = {begin, begin + segment->p_filesz, segment->p_vaddr};

            wrong = change_code(&code, ranges, only_handles, slots);
            if (NULL == wrong && !only_handles) {
                wrong = check_code(&code, ranges);
            }
        }
    }
    return wrong;
}

#endif /* __x86_64__ */
