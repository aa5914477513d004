/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * UPC's words, which a UPC compiler has by itself: see upc_style.c.
 */

#ifndef UPC_STYLE_H
#define UPC_STYLE_H

extern _Thread_local int upc_mythread, upc_threads;

#define THREADS upc_threads
#define MYTHREAD upc_mythread
/* Those iterations whose element is this thread's own. */
#define upc_forall(i, count) for (int i = MYTHREAD; i < (count); i += THREADS)
/* The part of an array of (count) elements, dealt out one by one, that is with this thread. */
#define upc_share(count) (((count) + THREADS - 1) / THREADS)

/* The user's main(). */
int upc_main(void);

#endif /* UPC_STYLE_H */
