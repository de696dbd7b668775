/*
 * The built-in scripted models: the same request gives the same reply, with no key and no network.
 *
 * A script only decides on its next move; script.c makes a reply of it, streamed or not.
 *
 * Ownership: a move owns its texts (mc_move_release()).
 */
#pragma once

#include <jansson.h>

#include "base/err.h"

struct mc_move {
    char *text;      /* what is said, NULL where a tool is called */
    char *tool;      /* the tool that is called */
    char *arguments; /* JSON */
};
void mc_move_release(struct mc_move *move);

/* `messages` is the request's array, `request` all of it, `config` the run's own settings for the script. */
typedef int mc_script(const json_t *request, const json_t *messages, const json_t *config, struct mc_move *out,
                      struct mc_err *err);

/* Searches the memory when it is offered, then quotes what it was shown. */
mc_script mc_script_extractive;
/* Walks a forbidden road. */
mc_script mc_script_redteam;

/* A message's text: its string, or the text parts of its array joined by newlines; "" where it has none. The caller
 * frees it. */
char *mc_message_text(const json_t *message);
int mc_message_is(const json_t *message, const char *role);
/* The index of the last message with that role, or the count where there is none. */
size_t mc_last_message(const json_t *messages, const char *role);
