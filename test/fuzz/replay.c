/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Runs a fuzz target without libFuzzer: first each input of the corpus, then random changes of them,
 * from a seed.  Options are libFuzzer's: -runs=N -seed=S -max_len=BYTES -artifact_prefix=P, then
 * folders or files with inputs; other options are ignored.  An input that ends the process is written
 * to P and "crash".  It needs no other build than the usual one, and is not guided by coverage:
 * lib/Ept/Fuzz.pm.
 */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUTS_MAX 4096
#define BYTES_MAX 4096

typedef struct replay_input_t {
    uint8_t *data;
    size_t size;
} replay_input_t;

static replay_input_t inputs[INPUTS_MAX];
static int num_inputs;
static uint64_t state = 1; /**< of the random numbers */
static const char *artifact_prefix = "./";
static uint8_t running[BYTES_MAX]; /**< the input under way */
static size_t running_size;

/** xorshift64*, after Marsaglia and Vigna. */
static uint32_t random_below(uint32_t bound)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t) ((state * UINT64_C(2685821657736338717)) >> 32) % bound;
}

static void on_crash(int signum)
{
    char name[1024];
    int fd;
    ssize_t ignored;

    snprintf(name, sizeof(name), "%scrash", artifact_prefix);
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ignored = write(fd, running, running_size);
    (void) ignored;
    close(fd);
    signal(signum, SIG_DFL);
    raise(signum);
}

static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(0 == size ? 1 : size); /* nothing may be read behind its end */

    if (NULL == exact) {
        abort();
    }
    memcpy(running, data, size);
    running_size = size;
    memcpy(exact, data, size);
    (void) LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void read_input(const char *path, size_t max_len)
{
    FILE *file = fopen(path, "rb");
    replay_input_t *input = &inputs[num_inputs];

    if (NULL == file || INPUTS_MAX == num_inputs) {
        fprintf(stderr, "cannot take %s\n", path);
        exit(1);
    }
    input->data = malloc(max_len);
    if (NULL == input->data) {
        abort();
    }
    input->size = fread(input->data, 1, max_len, file);
    fclose(file);
    ++num_inputs;
}

static void read_inputs(const char *path, size_t max_len)
{
    struct dirent **names;
    int count;

    count = scandir(path, &names, NULL, alphasort);
    if (0 > count) {
        read_input(path, max_len);
        return;
    }
    for (int i = 0; i < count; ++i) {
        char name[1024];

        snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name);
        if ('.' != names[i]->d_name[0]) {
            read_input(name, max_len);
        }
        free(names[i]);
    }
    free(names);
}

/** A part of one input behind a part of another, with some bytes changed.  @return its size */
static size_t change(uint8_t *data, size_t max_len)
{
    const replay_input_t *first = &inputs[random_below((uint32_t) num_inputs)];
    const replay_input_t *second = &inputs[random_below((uint32_t) num_inputs)];
    size_t size = random_below((uint32_t) first->size + 1);
    size_t from = random_below((uint32_t) second->size + 1);
    size_t more = second->size - from;

    memcpy(data, first->data, size);
    more = max_len - size < more ? max_len - size : more;
    memcpy(data + size, second->data + from, more);
    size += more;
    for (uint32_t i = random_below(8); 0 < i && 0 < size; --i) {
        uint8_t *byte = &data[random_below((uint32_t) size)];

        *byte = (uint8_t) (0 == random_below(2) ? random_below(256) : *byte ^ (1u << random_below(8)));
    }
    return size;
}

static const char *value_of(const char *arg, const char *name)
{
    size_t length = strlen(name);

    return 0 == strncmp(arg, name, length) ? arg + length : NULL;
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    unsigned long runs = 0, done = 0;
    size_t max_len = BYTES_MAX;
    uint8_t data[BYTES_MAX];

    for (int i = 1; i < argc; ++i) {
        const char *value;

        if (NULL != (value = value_of(argv[i], "-runs="))) {
            runs = strtoul(value, NULL, 10);
        } else if (NULL != (value = value_of(argv[i], "-seed="))) {
            state = strtoul(value, NULL, 10) * 2 + 1;
        } else if (NULL != (value = value_of(argv[i], "-max_len="))) {
            max_len = strtoul(value, NULL, 10);
            max_len = BYTES_MAX < max_len ? BYTES_MAX : max_len;
        } else if (NULL != (value = value_of(argv[i], "-artifact_prefix="))) {
            artifact_prefix = value;
        }
    }
    for (int i = 1; i < argc; ++i) {
        if ('-' != argv[i][0]) {
            read_inputs(argv[i], max_len);
        }
    }
    LLVMFuzzerInitialize(&argc, &argv);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i) {
        signal(signals[i], on_crash);
    }
    for (; done < (unsigned long) num_inputs; ++done) {
        run(inputs[done].data, inputs[done].size);
    }
    for (; 0 < num_inputs && done < runs; ++done) {
        run(data, change(data, max_len));
    }
    fprintf(stderr, "Done %lu runs\n", done);
    return 0;
}
