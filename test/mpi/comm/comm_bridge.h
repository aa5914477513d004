/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of comm_bridge share: the sides of an intercommunicator, and what is checked of
 * one.
 */

#ifndef EPT_COMM_BRIDGE_H
#define EPT_COMM_BRIDGE_H

#include "ept.h"

#include <unistd.h>

#define MAX_RANKS 256
#define MAX_EP 4

/* The sides of an intercommunicator by id, in the order of the ranks. */
struct sides {
    int num_local, num_remote;
    int local[MAX_RANKS], remote[MAX_RANKS];
};

/* comm_bridge_check.c */
struct sides even_and_odd(int num, int mine);
void check_inter(struct ept *t, MPI_Comm inter, int id, const struct sides *s);
void check_intra(struct ept *t, MPI_Comm intra, int id, const int ids[], int num);
void check_merge(struct ept *t, MPI_Comm inter, int id, const struct sides *s);
void check_derived(struct ept *t, MPI_Comm inter, int id, const struct sides *s);

/* comm_bridge_who.c */
void case_compare(MPI_Comm comm, struct ept *t);
void case_compare_inter(MPI_Comm comm, struct ept *t);
void case_address_space(MPI_Comm comm, struct ept *t);
void case_address_space_inter(MPI_Comm comm, struct ept *t);
void case_node(MPI_Comm comm, struct ept *t);
void case_address_space_apart(MPI_Comm comm, struct ept *t);
void case_address_space_errors(MPI_Comm comm, struct ept *t);

#endif /* EPT_COMM_BRIDGE_H */
