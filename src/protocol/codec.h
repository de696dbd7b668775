/*
 * What commands and notices share when they are encoded and decoded; for protocol/ alone.
 *
 * Ownership: trees given to mc_codec_write() are consumed.
 */
#pragma once

#include "base/json.h"
#include "protocol/frame.h"

/* Appends `frame` as one line. A NULL frame (json_pack's answer to text that is not UTF-8) is MC_INPUT. */
int mc_codec_write(json_t *frame, const char *name, struct mc_buf *line, struct mc_err *err) MC_CHECKED;

/* Parses a line that holds one object and reads its `type` as an index into `names`. New reference or NULL. */
json_t *mc_codec_parse(const char *line, size_t length, const struct mc_source *source, const char *const *names,
                       int *type, struct mc_err *err) MC_CHECKED;

/* json_pack's "O" wants a tree that may be changed; only its count of references is. */
json_t *mc_codec_borrow(const json_t *value);

/* The member `key` as an array whose items are all of `type`. */
int mc_codec_array(const struct mc_view *object, const char *key, enum mc_need need, json_type type, const json_t **out,
                   struct mc_err *err) MC_CHECKED;
int mc_codec_object(const struct mc_view *object, const char *key, enum mc_need need, const json_t **out,
                    struct mc_err *err) MC_CHECKED;
/* A whole number of at least 0, or null or nothing: MC_UNKNOWN. */
int mc_codec_count(const struct mc_view *object, const char *key, int64_t *out, struct mc_err *err) MC_CHECKED;
int mc_codec_usage(const struct mc_view *object, struct mc_usage *out, struct mc_err *err) MC_CHECKED;
