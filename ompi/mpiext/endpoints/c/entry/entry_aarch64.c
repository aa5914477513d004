/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Entering functions on aarch64.
 *
 *   function:  bti   c               stays, if it is there: an indirect call must find it
 *              b     way             in place of what was moved: one instruction
 *              ...
 *   slot:      bti   c               the original, called indirectly
 *              what was moved        of an address, its value instead
 *              b     function + kept + 4
 *              b     target          of a branch that was moved
 *   value:     the address
 *   way:       ldr   x16, next
 *              br    x16
 *   next:      ours
 *
 * Every instruction has four bytes, and their classes are distinguished by a few bits (Arm
 * Architecture Reference Manual, C4.1): so no disassembler is wanted to say which of them know
 * where they stand.  Only classes that are listed here are moved.  x16 may be changed between any
 * two functions (AAPCS64, 6.1.1).  Changed pages are no longer guarded by landing pads, so one that
 * is moved (paciasp is one, too) is not missed.
 *
 * Tests: unit/test_hook_entry
 */

#include "entry.h"

#if defined(__aarch64__)

#    include <string.h>

#    define INSTRUCTION 4

enum {
    BTI_C = 0xd503245f,
    BTI_JC = 0xd50324df,
    PACIASP = 0xd503233f,
    PACIBSP = 0xd503237f,
    NOP = 0xd503201f,
    BR_X16 = 0xd61f0200
};

/** Behind the two branches of a slot: see mpix_endpoints_machine_place. */
#    define VALUE 16

static uint32_t read_at(const uint8_t *address)
{
    uint32_t instruction;

    memcpy(&instruction, address, sizeof(instruction));
    return instruction;
}

static void write_at(uint8_t *address, uint32_t instruction)
{
    memcpy(address, &instruction, sizeof(instruction));
}

/** A field of an instruction, as a signed number. */
static int64_t entry_field(uint32_t instruction, int low, int bits)
{
    return (int64_t) ((uint64_t) instruction << (64 - low - bits)) >> (64 - bits);
}

/** adr, adrp: what is next to code. */
static bool is_address(uint32_t instruction)
{
    return 0x10000000 == (instruction & 0x1f000000);
}

/** Classes of which none knows where it stands, but adr and adrp in the first.  Not signatures that
 * the address of the instruction goes into (paciasppc, autiasppc and their relatives). */
static bool is_movable(uint32_t instruction)
{
    if (0xdac18000 == (instruction & 0xffffc000) || 0xf3800000 == (instruction & 0xff800000)) {
        return false;
    }
    return 0x10000000 == (instruction & 0x1c000000)    /* data processing, immediate */
           || 0x0a000000 == (instruction & 0x0e000000) /* data processing, registers */
           || 0x28000000 == (instruction & 0x3a000000) /* load and store a pair */
           || 0x38000000 == (instruction & 0x3a000000) /* load and store a register */
           || PACIASP == instruction || PACIBSP == instruction || NOP == instruction;
}

/** Does it go to a place that it names? */
static bool goes_to(uint32_t instruction, const uint8_t *address, const uint8_t **target)
{
    int64_t words;

    if (0x14000000 == (instruction & 0x7c000000)) { /* b, bl */
        words = entry_field(instruction, 0, 26);
    } else if (0x54000000 == (instruction & 0xff000000)       /* b.cond, bc.cond */
               || 0x34000000 == (instruction & 0x7e000000)) { /* cbz, cbnz */
        words = entry_field(instruction, 5, 19);
    } else if (0x36000000 == (instruction & 0x7e000000)) { /* tbz, tbnz */
        words = entry_field(instruction, 5, 14);
    } else {
        return false;
    }
    *target = address + words * INSTRUCTION;
    return true;
}

/** Branches with a condition, or that look at a register, and whether the field for the way has 14
 * bits or 19. */
static bool is_conditional(uint32_t instruction, int *bits_p)
{
    *bits_p = 0x36000000 == (instruction & 0x7e000000) ? 14 : 19;
    return 14 == *bits_p || 0x54000000 == (instruction & 0xff000000)
           || 0x34000000 == (instruction & 0x7e000000);
}

/** Does another function begin here?  Parts of functions do not begin with landing pads, nor do
 * they load x16 as stubs of the linker do. */
static bool is_function(const uint8_t *target)
{
    const uint32_t instruction = read_at(target);

    return BTI_C == instruction || PACIASP == instruction || PACIBSP == instruction
           || 0x90000010 == (instruction & 0x9f00001f); /* adrp x16 */
}

static bool is_call(uint32_t instruction)
{
    return 0x94000000 == (instruction & 0xfc000000)     /* bl */
           || 0xd63f0000 == (instruction & 0xfeff0000); /* blr, blraa, ... */
}

/** br, ret and their relatives that check a signature. */
static bool goes_away(uint32_t instruction)
{
    return 0xd6000000 == (instruction & 0xfe000000) && !is_call(instruction);
}

static bool is_return(uint32_t instruction)
{
    return 0xd65f0000 == (instruction & 0xffff0000);
}

/** Does it make the stack larger? */
static bool is_frame(uint32_t instruction)
{
    const bool of_sp = 31 == (instruction >> 5 & 31);

    return (0xd1000000 == (instruction & 0xff000000) && of_sp && 31 == (instruction & 31))
           /* stp, str with an offset below zero that is added first */
           || (0x29800000 == (instruction & 0x3bc00000) && of_sp
               && 0 > entry_field(instruction, 15, 7))
           || (0x38000c00 == (instruction & 0x3be00c00) && of_sp
               && 0 > entry_field(instruction, 12, 9));
}

/** As on x86-64 (entry_x86_64.c), with one instruction to move. */
const char *mpix_endpoints_machine_check(mpix_endpoints_entry_t *entry)
{
    const uint8_t *const end = entry->function + entry->size;
    const uint8_t *place = entry->function;
    bool straight = true, framed = false, unknown = false;
    int bits;

    if (entry->size >= INSTRUCTION && (BTI_C == read_at(place) || BTI_JC == read_at(place))) {
        place += INSTRUCTION;
    }
    entry->kept = (uint8_t) (place - entry->function);
    entry->moved = INSTRUCTION;
    if (entry->size < (size_t) entry->kept + INSTRUCTION) {
        return "it is too short";
    }
    if (!is_movable(read_at(place)) && !is_conditional(read_at(place), &bits)) {
        return "its first instruction is unknown, or works only where it is";
    }
    for (const uint8_t *next = place; next + INSTRUCTION <= end; next += INSTRUCTION) {
        const uint32_t instruction = read_at(next);
        const bool jump = !is_call(instruction);
        const uint8_t *target;

        if (goes_to(instruction, next, &target)) {
            /* A call of itself may come to ours, too. */
            if (entry->function <= target && target <= place
                && (jump || entry->function != target)) {
                return "it goes back to its first instructions";
            }
            unknown = unknown
                      || (jump && (target < entry->function || end <= target)
                          && !is_function(target));
            straight = straight && !jump;
        } else if (goes_away(instruction)) {
            unknown = unknown || !is_return(instruction);
            straight = false;
        }
        framed = framed || (straight && is_frame(instruction));
    }
    return unknown && !framed ? "it may go back to its first instructions" : NULL;
}

/** A branch that will be at an address. */
static bool write_branch(uint8_t *code, const uint8_t *address, const uint8_t *target)
{
    const int64_t words = (int64_t) ((uintptr_t) target - (uintptr_t) address) / INSTRUCTION;

    write_at(code, 0x14000000 | ((uint32_t) words & 0x03ffffff));
    return -(1 << 25) <= words && words < 1 << 25;
}

/** What adr or adrp says where it stands. */
static uint64_t address_of(uint32_t instruction, const uint8_t *address)
{
    const int64_t offset = entry_field(instruction, 5, 19) * 4 + (instruction >> 29 & 3);

    return 0 == instruction >> 31
               ? (uintptr_t) address + (uint64_t) offset
               : ((uintptr_t) address & ~(uint64_t) 0xfff) + (uint64_t) offset * 0x1000;
}

bool mpix_endpoints_machine_place(const mpix_endpoints_entry_t *entry, uint8_t *code)
{
    const uint8_t *const place = entry->function + entry->kept;
    const uint32_t instruction = read_at(place);
    const uint64_t ours = (uintptr_t) entry->ours;
    const uint8_t *target;
    int bits;

    write_at(code, BTI_C);
    if (is_address(instruction)) {
        const uint64_t value = address_of(instruction, place);

        /* ldr of the value behind: it stands 12 bytes from here. */
        write_at(code + 4, 0x58000060 | (instruction & 31));
        memcpy(code + VALUE, &value, sizeof(value));
    } else if (is_conditional(instruction, &bits)) {
        const uint32_t way = ((1u << bits) - 1) << 5;

        /* It may reach only 32 KiB: two instructions further on stands one that reaches farther. */
        write_at(code + 4, (instruction & ~way) | 2 << 5);
        if (!goes_to(instruction, place, &target)
            || !write_branch(code + 12, entry->slot + 12, target)) {
            return false;
        }
    } else {
        write_at(code + 4, instruction);
    }
    write_at(code + MPIX_ENDPOINTS_ENTRY_WAY, 0x58000040 | 16); /* ldr x16, 8 bytes from here */
    write_at(code + MPIX_ENDPOINTS_ENTRY_WAY + 4, BR_X16);
    memcpy(code + MPIX_ENDPOINTS_ENTRY_WAY + 8, &ours, sizeof(ours));
    return write_branch(code + 8, entry->slot + 8, place + INSTRUCTION);
}

void mpix_endpoints_machine_branch(const mpix_endpoints_entry_t *entry, uint8_t *code)
{
    /* The slot is near. */
    (void) write_branch(code, entry->function + entry->kept,
                        entry->slot + MPIX_ENDPOINTS_ENTRY_WAY);
}

#endif /* __aarch64__ */
