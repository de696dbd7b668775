/*
 * What the modules of engine/ share among themselves: one call at a time over libcurl's multi interface, so that an
 * answer can be pulled piece by piece and a cancel token ends any wait at once.
 *
 * A call is mc_api_run() for a small answer, or begin, pull..., end for a stream. Between begin and end no other call
 * may be made on the same engine.
 *
 * Ownership: a call borrows all that it points to; answers go into the caller's buffers.
 */
#pragma once

#include <curl/curl.h>
#include <jansson.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "engine/object.h"

/* The largest answer that is read whole. */
#define MC_API_ANSWER_MAX ((size_t)32 << 20)
/* The most of an error's text that is read. */
#define MC_API_FAULT_MAX ((size_t)64 << 10)

/* Next bytes of a body that is sent; *got is 0 at its end. Non-zero (with *err) stops the call. */
typedef int mc_api_source(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err);

struct mc_api_call {
    const char *method;
    const char *path; /* from after the version on, with its query */
    const char *what; /* for errors: "starting container x" */
    const char *type; /* of the body; NULL: JSON */
    const void *body; /* NULL: none, or from `source` */
    size_t length;
    mc_api_source *source;
    void *payload;
    int unversioned; /* the ping only */
};

/* The call under way. */
struct mc_api_now {
    const struct mc_api_call *call;
    char *path;
    struct curl_slist *headers;
    struct mc_buf inbox; /* bytes that came and were not pulled yet */
    int held;            /* the inbox has bytes that begin() saw and the first pull gives */
    int paused;          /* the inbox was full */
    int done;
    CURLcode result;
    struct mc_err fault; /* from the source */
    int faulted;
    int64_t began_ms;
    uint64_t sent;
    uint64_t received;
};

struct mc_engine {
    struct mc_endpoint endpoint;
    struct mc_engine_watch watch;
    struct mc_engine_counts counts;
    struct mc_engine_about about;
    json_t *version; /* what about's texts are borrowed from */
    json_t *info;
    char *spoken;
    char *newest;
    CURLM *multi;
    CURL *easy;
    struct mc_api_now now;
};

/* call.c */
int mc_api_begin(struct mc_engine *engine, const struct mc_api_call *call, struct mc_until until,
                 struct mc_err *err) MC_CHECKED;
/* The next bytes of the answer, valid until the next pull; *length is 0 at its end. */
int mc_api_pull(struct mc_engine *engine, const char **bytes, size_t *length, struct mc_until until,
                struct mc_err *err) MC_CHECKED;
/* Ends the call, whether or not all was pulled. Needed after a begin that succeeded, and only then. */
void mc_api_end(struct mc_engine *engine);
/* A whole call; the answer (NULL: dropped) goes into `answer` up to its maximum. */
int mc_api_run(struct mc_engine *engine, const struct mc_api_call *call, struct mc_buf *answer, struct mc_until until,
               struct mc_err *err) MC_CHECKED;
/* A whole call whose answer is JSON. New reference. */
int mc_api_json(struct mc_engine *engine, const struct mc_api_call *call, json_t **out, struct mc_until until,
                struct mc_err *err) MC_CHECKED;
/* Counts a call that has ended, and shows it to the watcher. */
void mc_api_count(struct mc_engine *engine, const char *method, const char *path, int status, int64_t began_ms,
                  uint64_t sent, uint64_t received);
/* Where to connect and how: for any handle that talks to this endpoint. */
void mc_api_prepare(CURL *easy, const struct mc_endpoint *endpoint);

/* fault.c */
/* The engine answered with a status of 400 or more. */
int mc_api_refused(struct mc_err *err, const char *what, int status, const char *body, size_t length);
/* The engine told of an error inside an answer whose status was 200. */
int mc_api_refused_in_band(struct mc_err *err, const char *what, const char *message);
/* There was no (whole) answer. */
int mc_api_unreachable(struct mc_err *err, const char *what, const struct mc_endpoint *endpoint, CURLcode result,
                       long sys);
/* No engine accepts connections on a socket: text and hint by errno. */
int mc_api_no_socket(struct mc_err *err, const char *what, const char *where, int sys);

/* path.c */
/* Appends `name` with all but RFC 3986's unreserved characters escaped. */
void mc_api_escape(struct mc_buf *path, const char *name);
/* The same for an image's reference, in which '/', ':' and '@' stand as they are. */
void mc_api_escape_reference(struct mc_buf *path, const char *reference);
/* Appends "?key=value", or "&key=value" after the first. */
void mc_api_query(struct mc_buf *path, const char *key, const char *value);
/* Appends filters={"label":["name=value",...]}; nothing for no labels. */
void mc_api_label_filter(struct mc_buf *path, struct mc_labels labels);
/* A name that would lead to another call than the one meant (empty, "..") is MC_INPUT. */
int mc_api_check_path(const char *path, const char *what, struct mc_err *err) MC_CHECKED;

/* object.c */
json_t *mc_labels_json(struct mc_labels labels);
void mc_objects_add(struct mc_objects *objects, const json_t *item, const char *id, const char *name);
/* MC_DENIED where an object's labels lack one of `ours`. */
int mc_labels_check(const json_t *labels, struct mc_labels ours, const char *what, struct mc_err *err) MC_CHECKED;

/* Members of the engine's JSON, "" or 0 where absent or of another type. */
const char *mc_api_text(const json_t *object, const char *key);
int64_t mc_api_int(const json_t *object, const char *key);
int mc_api_true(const json_t *object, const char *key);

/* image.c */
/* "repo:tag" or "repo@sha256:..." in two (no tag: "latest"); the caller frees both. */
void mc_image_split(const char *reference, char **repo, char **tag);

/* attach.c */
struct mc_stream;
/* A call that turns its connection into a stream of frames. */
int mc_api_hijack(struct mc_engine *engine, const char *path, const char *body, const char *what, struct mc_until until,
                  struct mc_stream **out, struct mc_err *err) MC_CHECKED;
