/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program in C++ that knows nothing of endpoints: constructors and destructors, statics of functions
 * and templates, thread_local objects, standard streams, exceptions, virtual functions and typeid,
 * OpenMP's threadprivate variables.
 *
 * EPT-CFLAGS: -fopenmp
 * EPT-LIBS: -fopenmp
 *
 * Guards: ranks/image, ranks/start
 */

#include "check.h"

#include <omp.h>

#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

int alive;

struct counted {
    explicit counted(int start) : number(start) { ++alive; }
    ~counted() { --alive; }
    int number;
};

counted global(5);
std::vector<std::string> words{"one", "two"};
const std::map<std::string, MPI_Datatype> types{{"int", MPI_INT}, {"double", MPI_DOUBLE}};

template <typename T> struct holder {
    static T value;
    static int &counter()
    {
        static int count = sizeof(T);
        return ++count;
    }
};
template <typename T> T holder<T>::value = T(3);

inline int inline_variable = 11; // one object of the program, weak in ELF
thread_local std::string per_thread = "fresh";
int in_team;
#pragma omp threadprivate(in_team)

struct shape {
    virtual ~shape() = default;
    virtual int corners() const { return 0; }
};
struct square : shape {
    int corners() const override { return 4; }
};

class failure : public std::runtime_error {
public:
    explicit failure(int code) : std::runtime_error("failure"), code_(code) {}
    int code() const { return code_; }

private:
    int code_;
};

counted &local_static()
{
    static counted once(ranks_rank());
    return once;
}

void check_statics()
{
    const int rank = ranks_rank();

    CHECK(1 == alive && 5 == global.number && 2 == words.size() && "two" == words[1]);
    global.number = rank;
    words.push_back(std::to_string(rank));
    holder<int>::value += rank;
    holder<double>::value += rank;
    inline_variable += rank;
    for (int i = 0; i < rank; ++i) {
        holder<char>::counter();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rank == local_static().number && 2 == alive);
    CHECK(rank == global.number && 3 == words.size() && std::to_string(rank) == words[2]);
    CHECK(3 + rank == holder<int>::value && 3.0 + rank == holder<double>::value);
    CHECK(11 + rank == inline_variable && 2 + rank == holder<char>::counter());
    ranks_case("constructors, statics of functions and templates");
}

void check_types()
{
    int size = 0;

    for (const auto &type : types) {
        MPI_Type_size(type.second, &size);
        CHECK(("int" == type.first ? 4 : 8) == size);
    }
    ranks_case("handles in a constructed map");
}

void throw_deep(int depth)
{
    counted guard(depth);
    if (0 == depth) {
        throw failure(ranks_rank());
    }
    throw_deep(depth - 1);
}

void check_exceptions()
{
    const int rank = ranks_rank(), before = alive;

    for (int i = 0; i < 100; ++i) {
        int code = -1;
        try {
            throw_deep(10);
        } catch (const failure &caught) {
            code = caught.code();
        }
        CHECK(rank == code && before == alive);
    }
    bool is_standard = false;
    try {
        (void) std::vector<int>(3).at(7);
    } catch (const std::out_of_range &) {
        is_standard = true;
    }
    CHECK(is_standard);
    std::unique_ptr<shape> one(new square);
    CHECK(4 == one->corners() && typeid(*one) == typeid(square) && dynamic_cast<square *>(one.get()));
    ranks_case("exceptions, virtual functions, typeid");
}

void check_streams()
{
    std::ostringstream text;

    text << std::setw(4) << ranks_rank() << std::hex << 255;
    CHECK(ranks_rank() == std::stoi(text.str().substr(0, 4)) && "ff" == text.str().substr(4));
    std::cout << "# rank " + std::to_string(ranks_rank()) + "\n" << std::flush;
    CHECK(std::cout.good() && nullptr != std::cout.rdbuf());
    ranks_case("standard streams");
}

void check_threads()
{
    const int rank = ranks_rank();
    int wrong = 0;

    CHECK("fresh" == per_thread);
    per_thread = std::to_string(rank);
    in_team = rank;
    omp_set_num_threads(3);
#pragma omp parallel copyin(in_team) reduction(+ : wrong)
    {
        wrong += rank != in_team || rank != global.number;
        wrong += (0 == omp_get_thread_num() ? std::to_string(rank) : "fresh") != per_thread;
        in_team = 100 * rank + omp_get_thread_num();
    }
    CHECK(0 == wrong);
    MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel reduction(+ : wrong)
    wrong += 3 != omp_get_num_threads() || 100 * rank + omp_get_thread_num() != in_team;
    CHECK(0 == wrong && std::to_string(rank) == per_thread);
    ranks_case("thread_local objects, OpenMP's threadprivate variables");
}

} // namespace

/** Of processes, and of ranks to which libstdc++ is private. */
static void check_flags()
{
    if (1 == ranks_rank()) {
        std::cout << std::hex << std::setprecision(3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK((1 == ranks_rank()) == (0 != (std::cout.flags() & std::ios::hex)));
    CHECK((1 == ranks_rank() ? 3 : 6) == std::cout.precision());
    MPI_Barrier(MPI_COMM_WORLD);
    std::cout << std::dec;
    ranks_case("flags of std::cout");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1) {
        check_flags();
    }
    check_statics();
    check_types();
    check_exceptions();
    check_streams();
    check_threads();
    return ranks_end();
}
