/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A small stand-in for applications with a grid: the heat equation in two dimensions, halos exchanged
 * on a Cartesian communicator, a residual by MPI_Allreduce, results gathered and printed by rank 0.
 * It prints the same with processes and with ranks as threads (kind "same").
 *
 * Guards: ranks/image
 */

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr int cells = 96; // in each direction, of the whole grid
constexpr int steps = 60;

class grid {
public:
    explicit grid(MPI_Comm comm)
    {
        int size, rank;
        std::array<int, 2> dims{}, at{};
        const std::array<int, 2> periods{};

        MPI_Comm_size(comm, &size);
        MPI_Dims_create(size, 2, dims.data());
        MPI_Cart_create(comm, 2, dims.data(), periods.data(), 0, &cart_);
        MPI_Comm_rank(cart_, &rank);
        MPI_Cart_coords(cart_, rank, 2, at.data());
        for (int d = 0; d < 2; ++d) {
            first_[d] = cells * at[d] / dims[d];
            count_[d] = cells * (at[d] + 1) / dims[d] - first_[d];
            MPI_Cart_shift(cart_, d, 1, &low_[d], &high_[d]);
        }
        now_.resize((count_[0] + 2) * (count_[1] + 2));
        next_ = now_;
        for (int i = 1; i <= count_[0]; ++i) {
            for (int j = 1; j <= count_[1]; ++j) {
                now_[index(i, j)] = std::sin(0.1 * (first_[0] + i)) * std::cos(0.07 * (first_[1] + j));
            }
        }
        MPI_Type_vector(count_[0], 1, count_[1] + 2, MPI_DOUBLE, &column_);
        MPI_Type_commit(&column_);
    }

    ~grid()
    {
        MPI_Type_free(&column_);
        MPI_Comm_free(&cart_);
    }

    void exchange()
    {
        std::array<MPI_Request, 8> requests;
        double *const a = now_.data();
        const int m = count_[0], n = count_[1];

        MPI_Irecv(a + index(0, 1), n, MPI_DOUBLE, low_[0], 1, cart_, &requests[0]);
        MPI_Irecv(a + index(m + 1, 1), n, MPI_DOUBLE, high_[0], 2, cart_, &requests[1]);
        MPI_Irecv(a + index(1, 0), 1, column_, low_[1], 3, cart_, &requests[2]);
        MPI_Irecv(a + index(1, n + 1), 1, column_, high_[1], 4, cart_, &requests[3]);
        MPI_Isend(a + index(m, 1), n, MPI_DOUBLE, high_[0], 1, cart_, &requests[4]);
        MPI_Isend(a + index(1, 1), n, MPI_DOUBLE, low_[0], 2, cart_, &requests[5]);
        MPI_Isend(a + index(1, n), 1, column_, high_[1], 3, cart_, &requests[6]);
        MPI_Isend(a + index(1, 1), 1, column_, low_[1], 4, cart_, &requests[7]);
        MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
    }

    double step()
    {
        double most = 0;

        exchange();
        for (int i = 1; i <= count_[0]; ++i) {
            for (int j = 1; j <= count_[1]; ++j) {
                const int k = index(i, j), row = count_[1] + 2;
                next_[k] = 0.5 * now_[k]
                           + 0.125 * (now_[k - 1] + now_[k + 1] + now_[k - row] + now_[k + row]);
                most = std::fmax(most, std::fabs(next_[k] - now_[k]));
            }
        }
        std::swap(now_, next_);
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, cart_);
        return most;
    }

    /// A number for all of the grid that does not depend on how it is divided: bits are summed.
    unsigned long checksum() const
    {
        unsigned long sum = 0;

        for (int i = 1; i <= count_[0]; ++i) {
            for (int j = 1; j <= count_[1]; ++j) {
                sum += static_cast<unsigned long>(std::llround(now_[index(i, j)] * 1e15))
                       * ((first_[0] + i) * 131UL + first_[1] + j);
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
        return sum;
    }

private:
    int index(int i, int j) const { return i * (count_[1] + 2) + j; }

    MPI_Comm cart_ = MPI_COMM_NULL;
    MPI_Datatype column_ = MPI_DATATYPE_NULL;
    std::array<int, 2> first_{}, count_{}, low_{}, high_{};
    std::vector<double> now_, next_;
};

} // namespace

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        grid heat(MPI_COMM_WORLD);
        double change = 0;

        for (int i = 1; i <= steps; ++i) {
            change = heat.step();
            if (0 == rank && 0 == i % 20) {
                std::printf("step %d: change %.12e\n", i, change);
            }
        }
        const unsigned long sum = heat.checksum();
        if (0 == rank) {
            std::printf("checksum %016lx\n", sum);
        }
    }
    MPI_Finalize();
    return 0;
}
