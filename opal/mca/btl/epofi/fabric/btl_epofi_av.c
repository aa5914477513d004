/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The addresses that a context has entered.
 *
 * Two addresses differ by libfabric's name and the secret: a process that gets a host and port
 * again that another one has left has another secret.
 *
 * Called when peers are connected and disconnected.
 *
 * Tests: unit/test_epofi_share, unit/test_epofi_life, fault (insert)
 */

#include "opal_config.h"

#include "btl_epofi_av.h"

#include "opal/class/opal_hash_table.h"

#include <stdlib.h>
#include <string.h>

struct mca_btl_epofi_av_t {
    struct fid_av *av;
    mca_btl_epofi_acceptor_t *acceptor;
    opal_mutex_t *lock; /**< NULL: one thread at a time as it is */
    opal_hash_table_t entries;
};

/** By what an address is found. */
typedef struct av_key_t {
    mca_btl_epofi_secret_t secret;
    unsigned char bytes[EPOFI_ADDRESS_BYTES];
} av_key_t;

_Static_assert(sizeof(mca_btl_epofi_secret_t) + EPOFI_ADDRESS_BYTES == sizeof(av_key_t),
               "compared as bytes");

/** @return the key's length, bytes */
static size_t key_of(const mca_btl_epofi_callee_t *callee, av_key_t *key)
{
    key->secret = callee->name.secret;
    memcpy(key->bytes, callee->name.bytes, callee->name.length);
    return sizeof(key->secret) + callee->name.length;
}

mca_btl_epofi_av_t *mca_btl_epofi_av_new(struct fid_av *av, mca_btl_epofi_acceptor_t *acceptor)
{
    mca_btl_epofi_av_t *av_table = calloc(1, sizeof(*av_table));

    if (NULL == av_table) {
        return NULL;
    }
    av_table->av = av;
    av_table->acceptor = acceptor;
    OBJ_CONSTRUCT(&av_table->entries, opal_hash_table_t);
    if (OPAL_SUCCESS != opal_hash_table_init(&av_table->entries, 16)) {
        OBJ_DESTRUCT(&av_table->entries);
        free(av_table);
        return NULL;
    }
    return av_table;
}

void mca_btl_epofi_av_free(mca_btl_epofi_av_t *av_table)
{
    void *key, *entry, *node = NULL;
    size_t size;

    if (NULL == av_table) {
        return;
    }
    while (OPAL_SUCCESS
           == opal_hash_table_get_next_key_ptr(&av_table->entries, &key, &size, &entry, node,
                                               &node)) {
        free(entry);
    }
    OBJ_DESTRUCT(&av_table->entries);
    free(av_table);
}

void mca_btl_epofi_av_set_lock(mca_btl_epofi_av_t *av_table, opal_mutex_t *lock)
{
    av_table->lock = lock;
}

static void av_hold(mca_btl_epofi_av_t *av_table)
{
    if (NULL != av_table->lock) {
        opal_mutex_lock(av_table->lock);
    }
}

static void let_go(mca_btl_epofi_av_t *av_table)
{
    if (NULL != av_table->lock) {
        opal_mutex_unlock(av_table->lock);
    }
}

/** Enter one that is not there.  @return as mca_btl_epofi_av_insert */
static int av_add(mca_btl_epofi_av_t *av_table, const av_key_t *key, size_t length,
                  const mca_btl_epofi_callee_t *callee, mca_btl_epofi_entry_t **entry_p)
{
    mca_btl_epofi_entry_t *entry = calloc(1, sizeof(*entry));
    int result;

    if (NULL == entry) {
        return -FI_ENOMEM;
    }
    entry->callee = *callee;
    entry->callee.attempts = &entry->attempts;
    result = fi_av_insert(av_table->av, entry->callee.name.bytes, 1, &entry->address, 0, NULL);
    if (1 != result) {
        goto err_free;
    }
    if (OPAL_SUCCESS != mca_btl_epofi_acceptor_add(av_table->acceptor, &entry->callee)) {
        goto err_remove;
    }
    if (OPAL_SUCCESS != opal_hash_table_set_value_ptr(&av_table->entries, key, length, entry)) {
        mca_btl_epofi_acceptor_remove(av_table->acceptor, &entry->callee);
        goto err_remove;
    }
    *entry_p = entry;
    return 1;

err_remove:
    (void) fi_av_remove(av_table->av, &entry->address, 1, 0);
    result = -FI_ENOMEM;
err_free:
    free(entry);
    return result;
}

/** The address is there already: the peer has been met again.  If it is the last one met at its
 * host and port, the acceptor must know this peer, although others have been there meanwhile.
 * @return as mca_btl_epofi_av_insert */
static int av_renew(mca_btl_epofi_av_t *av_table, mca_btl_epofi_entry_t *entry, uint32_t order)
{
    const uint32_t before = entry->callee.order;

    if (order <= before) {
        return 1;
    }
    entry->callee.order = order;
    if (OPAL_SUCCESS != mca_btl_epofi_acceptor_add(av_table->acceptor, &entry->callee)) {
        entry->callee.order = before;
        return -FI_ENOMEM;
    }
    return 1;
}

int mca_btl_epofi_av_insert(mca_btl_epofi_av_t *av_table, const mca_btl_epofi_callee_t *callee,
                            mca_btl_epofi_entry_t **entry_p)
{
    av_key_t key;
    const size_t length = key_of(callee, &key);
    void *found = NULL;
    int result = 1;

    av_hold(av_table);
    if (OPAL_SUCCESS == opal_hash_table_get_value_ptr(&av_table->entries, &key, length, &found)) {
        *entry_p = found;
        result = av_renew(av_table, *entry_p, callee->order);
    } else {
        result = av_add(av_table, &key, length, callee, entry_p);
    }
    if (1 == result) {
        ++(*entry_p)->references;
    }
    let_go(av_table);
    return result;
}

void mca_btl_epofi_av_remove(mca_btl_epofi_av_t *av_table, mca_btl_epofi_entry_t *entry)
{
    av_key_t key;

    av_hold(av_table);
    if (0 == --entry->references) {
        (void) opal_hash_table_remove_value_ptr(&av_table->entries, &key,
                                                key_of(&entry->callee, &key));
        mca_btl_epofi_acceptor_remove(av_table->acceptor, &entry->callee);
        (void) fi_av_remove(av_table->av, &entry->address, 1, 0);
        free(entry);
    }
    let_go(av_table);
}
