/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The hashes of common_ep_hash.h are FNV-1a's published ones: processes of different builds compare
 * them.
 *
 * Guards: common_ep_hash.h
 */

#include "opal/mca/common/ep/common_ep_hash.h"

#include "tap.h"

/** FNV's own test vectors, and a text with bytes above 127. */
static const struct {
    const char *text;
    uint32_t hash32;
    uint64_t hash64;
} vectors[] = {{"", UINT32_C(0x811c9dc5), UINT64_C(0xcbf29ce484222325)},
               {"a", UINT32_C(0xe40c292c), UINT64_C(0xaf63dc4c8601ec8c)},
               {"foobar", UINT32_C(0xbf9cf968), UINT64_C(0x85944171f73967e8)},
               {"\xc3\xa4", UINT32_C(0x199de0e2), UINT64_C(0xac21207b7181582)}};

enum { VECTORS = sizeof(vectors) / sizeof(vectors[0]) };

static void case_vectors(void)
{
    tap_case("the published values");
    for (int i = 0; i < VECTORS; ++i) {
        const char *text = vectors[i].text;
        const uint32_t hash32 = ep_hash32(text);
        const uint64_t hash64 = ep_hash64(EP_HASH64_BEGIN, text, strlen(text));

        TAP_CHECK(vectors[i].hash32 == hash32, "32 bits of text %d: %#llx", i,
                  (unsigned long long) hash32);
        TAP_CHECK(vectors[i].hash64 == hash64, "64 bits of text %d: %#llx", i,
                  (unsigned long long) hash64);
    }
    tap_case_done();
}

static void case_parts(void)
{
    const char text[] = "foobar";
    const uint64_t whole = ep_hash64(EP_HASH64_BEGIN, text, 6);

    tap_case("a text in two parts has the hash of the whole");
    for (size_t first = 0; first <= 6; ++first) {
        const uint64_t begun = ep_hash64(EP_HASH64_BEGIN, text, first);

        TAP_CHECK(whole == ep_hash64(begun, text + first, 6 - first), "after %zu bytes", first);
    }
    TAP_CHECK(whole == ep_hash64(whole, NULL, 0), "nothing more");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_ep_hash", 60);
    case_vectors();
    case_parts();
    return tap_end();
}
