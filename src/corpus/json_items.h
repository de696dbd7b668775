/*
 * The items of a JSON file that is one long list, one at a time: files of gigabytes in memory of one item.
 *
 * Ownership: mc_items_open() allocates, mc_items_close() frees (NULL allowed); each item is a new reference.
 */
#pragma once

#include <stddef.h>

#include "base/json.h"

struct mc_items;

/* `max`: the largest item allowed, in bytes. */
int mc_items_open(const char *path, size_t max, struct mc_items **out, struct mc_err *err) MC_CHECKED;
void mc_items_close(struct mc_items *items);

/* 1: *out is the next item and *line the line where it starts; 0: the list has ended, and nothing follows it. */
int mc_items_next(struct mc_items *items, json_t **out, int *line, struct mc_err *err) MC_CHECKED;
