/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Our help texts, for an Open MPI that knows its own only.  No file is read: one of the texts says
 * that there are no file descriptors left.
 *
 * Tests: comm_refused, death, fault
 */

#include "opal_config.h"

#include "common_ep_help.h"

#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/mca/base/mca_base_var.h"

/** The files as they are, one behind the other. */
static const struct {
    const char *name, *text;
} files[] = {
#include "common_ep_help_texts.h"
};

static const char line[]
    = "--------------------------------------------------------------------------\n";

/** A text that is on its way to the launcher, which shows equal ones of several processes once,
 * unless a parameter says not to. */
typedef struct message_t {
    char *text;
    bool aggregate;
    int directive_count;
    pmix_info_t data;
    pmix_info_t directives[3];
} message_t;

static const char *find_file(const char *file)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        if (0 == strcmp(files[i].name, file)) {
            return files[i].text;
        }
    }
    return NULL;
}

static const char *next_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return NULL == end ? NULL : end + 1;
}

/** A topic's lines, without comments.  @return to be freed; NULL: not there, or no memory */
static char *find_topic(const char *text, const char *topic)
{
    const size_t length = strlen(topic);
    char *copy, *end;

    while (NULL != text
           && ('[' != text[0] || 0 != strncmp(text + 1, topic, length)
               || ']' != text[1 + length])) {
        text = next_line(text);
    }
    text = NULL == text ? NULL : next_line(text);
    copy = NULL == text ? NULL : malloc(strlen(text) + 1);
    if (NULL == copy) {
        return NULL;
    }
    for (end = copy; NULL != text && '\0' != text[0] && '[' != text[0]; text = next_line(text)) {
        if ('#' != text[0]) {
            const char *next = next_line(text);
            const size_t size = NULL == next ? strlen(text) : (size_t) (next - text);

            memcpy(end, text, size);
            end += size;
        }
    }
    *end = '\0';
    return copy;
}

/** Fill in the arguments.  @return to be freed; NULL: no memory */
static char *fill_in(const char *format, bool framed, va_list arguments)
{
    char *body, *text = NULL;

    if (0 > vasprintf(&body, format, arguments)) {
        return NULL;
    }
    if (0 > asprintf(&text, "%s%s%s", framed ? line : "", body, framed ? line : "")) {
        text = NULL;
    }
    free(body);
    return text;
}

static void help_done(pmix_status_t status, void *context)
{
    message_t *message = context;

    if (PMIX_SUCCESS != status && PMIX_OPERATION_SUCCEEDED != status) {
        fputs(message->text, stderr); /* rather twice than not at all */
    }
    PMIX_INFO_DESTRUCT(&message->data);
    for (int i = 0; i < message->directive_count; ++i) {
        PMIX_INFO_DESTRUCT(&message->directives[i]);
    }
    free(message->text);
    free(message);
}

/** Open MPI's own parameter for its own texts. */
static bool shown_once(void)
{
    const bool *wanted = NULL;
    int index = mca_base_var_find("opal", NULL, "base", "help_aggregate");

    return 0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &wanted, NULL, NULL)
           || NULL == wanted || *wanted;
}

/** Takes the text. */
static int help_deliver(const char *file, const char *topic, char *text)
{
    message_t *message = calloc(1, sizeof(*message));
    pmix_status_t rc;

    if (NULL == message) {
        fputs(text, stderr);
        free(text);
        return OPAL_SUCCESS;
    }
    message->text = text;
    message->aggregate = shown_once();
    PMIX_INFO_LOAD(&message->data, PMIX_LOG_STDERR, text, PMIX_STRING);
    if (message->aggregate) {
        PMIX_INFO_LOAD(&message->directives[0], PMIX_LOG_AGG, &message->aggregate, PMIX_BOOL);
        PMIX_INFO_LOAD(&message->directives[1], PMIX_LOG_KEY, file, PMIX_STRING);
        PMIX_INFO_LOAD(&message->directives[2], PMIX_LOG_VAL, topic, PMIX_STRING);
        message->directive_count = 3;
    }
    rc = PMIx_Log_nb(&message->data, 1, message->directives, message->directive_count, help_done,
                     message);
    if (PMIX_SUCCESS != rc) {
        help_done(rc, message); /* it will not be called */
    }
    return OPAL_SUCCESS;
}

int mca_btl_ep_show_help(const char *file, const char *topic, int want_error_header, ...)
{
    const char *all = find_file(file);
    char *format = NULL == all ? NULL : find_topic(all, topic), *text;
    va_list arguments;

    if (NULL == format) {
        return OPAL_ERR_NOT_FOUND;
    }
    va_start(arguments, want_error_header);
    text = fill_in(format, 0 != want_error_header, arguments);
    va_end(arguments);
    free(format);
    return NULL == text ? OPAL_ERR_OUT_OF_RESOURCE : help_deliver(file, topic, text);
}
