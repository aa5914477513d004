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

#include "btl_epofi_book.h"

#include "opal/class/opal_hash_table.h"

#include <stdlib.h>
#include <string.h>

struct mca_btl_epofi_book_t {
    struct fid_av *av;
    mca_btl_epofi_gate_t *gate;
    opal_mutex_t *lock; /**< NULL: one thread at a time as it is */
    opal_hash_table_t entries;
};

/** By what an address is found. */
typedef struct book_key_t {
    mca_btl_epofi_secret_t secret;
    unsigned char bytes[EPOFI_ADDRESS_BYTES];
} book_key_t;

_Static_assert(sizeof(mca_btl_epofi_secret_t) + EPOFI_ADDRESS_BYTES == sizeof(book_key_t),
               "compared as bytes");

/** @return the key's length, bytes */
static size_t key_of(const mca_btl_epofi_callee_t *callee, book_key_t *key)
{
    key->secret = callee->name.secret;
    memcpy(key->bytes, callee->name.bytes, callee->name.length);
    return sizeof(key->secret) + callee->name.length;
}

mca_btl_epofi_book_t *mca_btl_epofi_book_new(struct fid_av *av, mca_btl_epofi_gate_t *gate)
{
    mca_btl_epofi_book_t *book = calloc(1, sizeof(*book));

    if (NULL == book) {
        return NULL;
    }
    book->av = av;
    book->gate = gate;
    OBJ_CONSTRUCT(&book->entries, opal_hash_table_t);
    if (OPAL_SUCCESS != opal_hash_table_init(&book->entries, 16)) {
        OBJ_DESTRUCT(&book->entries);
        free(book);
        return NULL;
    }
    return book;
}

void mca_btl_epofi_book_free(mca_btl_epofi_book_t *book)
{
    void *key, *entry, *node = NULL;
    size_t size;

    if (NULL == book) {
        return;
    }
    while (OPAL_SUCCESS
           == opal_hash_table_get_next_key_ptr(&book->entries, &key, &size, &entry, node, &node)) {
        free(entry);
    }
    OBJ_DESTRUCT(&book->entries);
    free(book);
}

void mca_btl_epofi_book_set_lock(mca_btl_epofi_book_t *book, opal_mutex_t *lock)
{
    book->lock = lock;
}

static void book_hold(mca_btl_epofi_book_t *book)
{
    if (NULL != book->lock) {
        opal_mutex_lock(book->lock);
    }
}

static void let_go(mca_btl_epofi_book_t *book)
{
    if (NULL != book->lock) {
        opal_mutex_unlock(book->lock);
    }
}

/** Enter one that is not there.  @return as mca_btl_epofi_book_enter */
static int book_add(mca_btl_epofi_book_t *book, const book_key_t *key, size_t length,
                    const mca_btl_epofi_callee_t *callee, mca_btl_epofi_entry_t **entry_p)
{
    mca_btl_epofi_entry_t *entry = calloc(1, sizeof(*entry));
    int result;

    if (NULL == entry) {
        return -FI_ENOMEM;
    }
    entry->callee = *callee;
    entry->callee.attempts = &entry->attempts;
    result = fi_av_insert(book->av, entry->callee.name.bytes, 1, &entry->address, 0, NULL);
    if (1 != result) {
        goto err_free;
    }
    if (OPAL_SUCCESS != mca_btl_epofi_gate_add(book->gate, &entry->callee)) {
        goto err_remove;
    }
    if (OPAL_SUCCESS != opal_hash_table_set_value_ptr(&book->entries, key, length, entry)) {
        mca_btl_epofi_gate_remove(book->gate, &entry->callee);
        goto err_remove;
    }
    *entry_p = entry;
    return 1;

err_remove:
    (void) fi_av_remove(book->av, &entry->address, 1, 0);
    result = -FI_ENOMEM;
err_free:
    free(entry);
    return result;
}

/** The address is there already: the peer has been met again.  If it is the last one met at its
 * host and port, the gate must know this peer, although others have been there meanwhile.
 * @return as mca_btl_epofi_book_enter */
static int book_renew(mca_btl_epofi_book_t *book, mca_btl_epofi_entry_t *entry, uint32_t order)
{
    const uint32_t before = entry->callee.order;

    if (order <= before) {
        return 1;
    }
    entry->callee.order = order;
    if (OPAL_SUCCESS != mca_btl_epofi_gate_add(book->gate, &entry->callee)) {
        entry->callee.order = before;
        return -FI_ENOMEM;
    }
    return 1;
}

int mca_btl_epofi_book_enter(mca_btl_epofi_book_t *book, const mca_btl_epofi_callee_t *callee,
                             mca_btl_epofi_entry_t **entry_p)
{
    book_key_t key;
    const size_t length = key_of(callee, &key);
    void *found = NULL;
    int result = 1;

    book_hold(book);
    if (OPAL_SUCCESS == opal_hash_table_get_value_ptr(&book->entries, &key, length, &found)) {
        *entry_p = found;
        result = book_renew(book, *entry_p, callee->order);
    } else {
        result = book_add(book, &key, length, callee, entry_p);
    }
    if (1 == result) {
        ++(*entry_p)->references;
    }
    let_go(book);
    return result;
}

void mca_btl_epofi_book_leave(mca_btl_epofi_book_t *book, mca_btl_epofi_entry_t *entry)
{
    book_key_t key;

    book_hold(book);
    if (0 == --entry->references) {
        (void) opal_hash_table_remove_value_ptr(&book->entries, &key, key_of(&entry->callee, &key));
        mca_btl_epofi_gate_remove(book->gate, &entry->callee);
        (void) fi_av_remove(book->av, &entry->address, 1, 0);
        free(entry);
    }
    let_go(book);
}
