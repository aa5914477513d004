/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Numbers that cannot be guessed: proofs (btl_epofi_keyed.h), and the keys of registered memory,
 * which another member tries to read with guesses.  Two processes over tcp on the loopback
 * interface.
 *
 * Guards: common_ep_keyed.h, btl_epofi_keyed.h, btl_epofi_context.c, btl_epofi_get.c
 */

#include "test_epofi.h"

static void end(test_ep_t *ep)
{
    test_ep_end(ep);
}

/** Test vector of the paper's authors: SipHash-2-4 of bytes 0 to 7 under the key of bytes 0 to
 * 15. */
static void case_keyed(const pair_t *pair)
{
    const mca_btl_epofi_secret_t secret = {
        {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

    (void) pair;
    TAP_CHECK(UINT64_C(0x93f5f5799a932462)
                  == mca_btl_epofi_keyed(&secret, UINT64_C(0x0706050403020100)),
              "not SipHash-2-4");
}

static int read_status;

static void on_read(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                    void *local_address, struct mca_btl_base_registration_handle_t *local_handle,
                    void *context, void *data, int status)
{
    (void) btl;
    (void) endpoint;
    (void) local_address;
    (void) local_handle;
    (void) context;
    (void) data;
    read_status = status;
}

/** Try to read the other process's memory with a guessed key.  @return has it been read? */
static bool is_read(test_ep_t *ep, uint64_t key, uint64_t address)
{
    mca_btl_base_module_t *btl = &ep->module->super;
    struct mca_btl_base_registration_handle_t predict = {.key = key};
    struct mca_btl_base_registration_handle_t *local;
    char copy[8] = "";
    int rc;

    local = btl->btl_register_mem(btl, ep->peer, copy, sizeof(copy), MCA_BTL_REG_FLAG_LOCAL_WRITE);
    read_status = 1;
    do {
        (void) test_ep_progress(ep);
        rc = btl->btl_get(btl, ep->peer, copy, address, local, &predict, sizeof(copy), 0,
                          MCA_BTL_NO_ORDER, on_read, NULL, NULL);
    } while (OPAL_ERR_OUT_OF_RESOURCE == rc);
    while (OPAL_SUCCESS == rc && 1 == read_status) {
        (void) test_ep_progress(ep);
    }
    (void) btl->btl_deregister_mem(btl, local);
    return OPAL_SUCCESS == rc && OPAL_SUCCESS == read_status;
}

/** Keys cannot be guessed: not 1, 2, 3, ..., and no two alike. */
static void case_keys(const pair_t *pair)
{
    enum { REGIONS = 4, GUESSES = 6 };
    static char memory[REGIONS][64] = {"secret", "secret", "secret", "secret"};
    struct mca_btl_base_registration_handle_t *handles[REGIONS];
    uint64_t mine = (uint64_t) (uintptr_t) memory[0];
    uint64_t theirs;
    test_ep_t ep = {0};
    mca_btl_base_module_t *btl;

    start(pair, &ep);
    btl = &ep.module->super;
    for (int i = 0; i < REGIONS; ++i) {
        handles[i] = btl->btl_register_mem(btl, ep.peer, memory[i], sizeof(memory[i]),
                                           MCA_BTL_REG_FLAG_REMOTE_READ);
        TAP_CHECK(UINT32_MAX < handles[i]->key, "key %llu", (unsigned long long) handles[i]->key);
        for (int j = 0; j < i; ++j) {
            TAP_CHECK(handles[i]->key != handles[j]->key, "keys %d and %d are alike", i, j);
        }
    }
    mine -= handles[0]->base;
    pair_exchange(pair, &ep, &mine, &theirs, sizeof(mine));
    for (uint64_t key = 1; key <= GUESSES && 1 == pair->rank; ++key) {
        test_ep_t predictor = {0};
        name_t name;

        /* Of a module of its own: a wrong key may cost it the connection. */
        name.length = ep.peer->pair->address_length;
        memcpy(name.bytes, ep.peer->pair->address, name.length);
        test_ep_open(&predictor);
        TAP_EQ(OPAL_SUCCESS, predictor.module->ep_connect(predictor.module, name.bytes, name.length,
                                                          &predictor.peer));
        predictor.module->ep_lost = count_loss;
        TAP_CHECK(!is_read(&predictor, key, theirs), "memory was read with key %llu",
                  (unsigned long long) key);
        end(&predictor);
    }
    pair_barrier(pair, &ep);
    for (int i = 0; i < REGIONS; ++i) {
        TAP_EQ(OPAL_SUCCESS, btl->btl_deregister_mem(btl, handles[i]));
    }
    end(&ep);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_keys", 60);
    run_single("SipHash", case_keyed);
    run_pair("keys", case_keys);
    return tap_end();
}
