/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The disassembler Zydis: see decode.h.
 *
 * Tests: ranks_not_copied
 */

#define _GNU_SOURCE

#include "decode.h"

#if defined(__x86_64__) && EP_HAVE_ZYDIS

#    include <dlfcn.h>
#    include <stdio.h>

#    include <Zydis/Zydis.h>

static struct {
    __typeof__(&ZydisDecoderDecodeFull) decode; /**< NULL: not loaded */
    ZydisDecoder decoder;
} zydis;

const char *mpix_ranks_decode_load(void)
{
    __typeof__(&ZydisDecoderInit) init = NULL;
    void *library;
    char name[32];

    if (NULL != zydis.decode) {
        return NULL;
    }
    /* The library's binary interface is named by the first two numbers of its version. */
    (void) snprintf(name, sizeof(name), "libZydis.so.%u.%u",
                    (unsigned) ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
                    (unsigned) ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (NULL != library) {
        init = (__typeof__(init)) dlsym(library, "ZydisDecoderInit");
    }
    if (NULL != init
        && ZYAN_SUCCESS(init(&zydis.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
        zydis.decode = (__typeof__(zydis.decode)) dlsym(library, "ZydisDecoderDecodeFull");
    }
    return NULL != zydis.decode ? NULL : "the disassembler (Debian package libzydis4.1) is missing";
}

size_t mpix_ranks_decode(const uint8_t *code, size_t size, size_t *relative_p)
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

    *relative_p = 0;
    if (!ZYAN_SUCCESS(zydis.decode(&zydis.decoder, code, size, &instruction, operands))) {
        return 0;
    }
    for (int i = 0; i < instruction.operand_count; ++i) {
        if (ZYDIS_OPERAND_TYPE_MEMORY == operands[i].type
            && ZYDIS_REGISTER_RIP == operands[i].mem.base) {
            *relative_p = instruction.raw.disp.offset;
        }
    }
    return instruction.length;
}

#else

const char *mpix_ranks_decode_load(void)
{
    return "Open MPI Endpoints was built without the disassembler Zydis (libzydis-dev)";
}

size_t mpix_ranks_decode(const uint8_t *code, size_t size, size_t *relative_p)
{
    (void) code;
    (void) size;
    *relative_p = 0;
    return 0;
}

#endif
