/*
 * Finding the tool that searches a memory among those that a request offers, and what to call it with.
 *
 * Ownership: the result owns its texts, which the caller frees.
 */
#pragma once

#include <jansson.h>

/* The best search-like tool of `tools` and its arguments for `query`. False where there is none, or where it needs
 * something that a question cannot give. */
int mc_find_search(const json_t *tools, const char *query, char **tool, char **arguments);
