/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A client of the engine, for tests: active messages that are answered.
 */

#ifndef EP_TEST_EPANSWER_H
#define EP_TEST_EPANSWER_H

#include <mpi.h>

#include "ompi/mca/common/ep/common_ep_engine.h"

/** Bytes of the smallest question and answer. */
#define EPANSWER_LEAST 16

/** Become a client: once per process, after epclient_open, before there are endpoints.
 * @return MPI_SUCCESS or an error code */
int epanswer_open(void);

/** Handles of this process that have an object of ours. */
int epanswer_handles(void);

/** Send a question of size bytes, to be answered by so many; both EPANSWER_LEAST at least.
 * @return as am_send */
int epanswer_ask(MPI_Comm comm, int rank, size_t size, size_t answer);

/** Questions and answers that have come to a handle by now, after some progress. */
uint64_t epanswer_questions(MPI_Comm comm);
uint64_t epanswer_answers(MPI_Comm comm);

/** Messages whose content was wrong, and answers that could not be sent, in this process. */
int epanswer_errors(void);

#endif /* EP_TEST_EPANSWER_H */
