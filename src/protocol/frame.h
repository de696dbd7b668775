/*
 * The frames of protocol version 1 (docs/protocol.md): one struct for each, encoded and decoded in both directions.
 *
 * What the controller sends is a *command*, what a program sends is a *notice*. Both are tagged unions. A program is
 * a harness, a provider's adapter or the sidecar.
 *
 * Ownership: to encode, fill in the struct with borrowed values (`json` stays NULL). A decoded one owns `json`, and all
 * its strings, arrays and objects are borrowed from there: valid until mc_command_release() or mc_notice_release().
 *
 * Decoding ignores unknown keys; a missing or mistyped known one fails with MC_PROTOCOL and its path.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"
#include "base/usage.h"

enum { MC_PROTOCOL_VERSION = 1 };
#define MC_FRAME_MAX ((size_t)8 << 20) /* bytes, with the newline */

enum mc_role { MC_HARNESS, MC_PROVIDER, MC_SIDECAR };
const char *mc_role_name(enum mc_role role);

/* ---- Controller to program ---- */

enum mc_command_type {
    MC_CMD_SECRETS, /* sidecar only, its first line */
    MC_CMD_INITIALIZE,
    MC_CMD_TURN_START,
    MC_CMD_TURN_CANCEL,
    MC_CMD_SESSION_END,
    MC_CMD_IMPORT,
    MC_CMD_MAINTAIN,
    MC_CMD_OPERATION_STATUS,
    MC_CMD_CLOCK_SET, /* sidecar only */
    MC_CMD_SHUTDOWN,
};

enum mc_upstream_kind { MC_UPSTREAM_OPENAI, MC_UPSTREAM_SCRIPT, MC_UPSTREAM_REPLAY };
extern const char *const mc_upstream_kind_names[]; /* NULL-ended */

/* What only the sidecar's `initialize` has. */
struct mc_gateway_setup {
    enum mc_upstream_kind upstream;
    const char *script;         /* extractive | redteam, NULL unless upstream is script */
    const char *base_url;       /* NULL unless upstream is openai */
    const char *secret;         /* a name among the secrets, NULL: no key */
    const char *model;          /* the name that the upstream knows; NULL: as the client says */
    const char *harness_token;  /* NULL where there is none */
    const char *provider_token; /* the same */
    double budget_usd;          /* below 0: none */
    int64_t budget_tokens;      /* MC_UNKNOWN: none */
    const json_t *prices; /* {model: {input, cached_input, output, reasoning}} USD per million tokens; NULL: none */
};

/* What `initialize` says of the provider. */
struct mc_provider_setup {
    const char *name; /* NULL: there is no provider */
    const char *plugin_name;
    const char *plugin_path;
    const char *memory_path;
    const json_t *ports; /* [integer ...] */
};

struct mc_initialize {
    enum mc_role role;
    const char *trial;
    const char *name_space; /* "namespace" */
    const char *timezone;
    struct mc_time scenario_time;
    struct {
        const char *base_url;
        const char *token;
        const char *name;
    } model;
    const json_t *allow; /* tools.allow: [string ...] */
    struct {
        int64_t turn_s;
        int64_t tool_calls;
        int64_t context_tokens;
    } limits;
    struct mc_provider_setup provider;
    const json_t *config;            /* an object */
    struct mc_gateway_setup gateway; /* role sidecar only */
};

enum mc_turn_kind { MC_TURN, MC_PROBE };

struct mc_turn_start {
    const char *turn;
    const char *session;
    enum mc_turn_kind kind;
    struct mc_time scenario_time;
    int64_t deadline_ms;
    const char *text;
};

struct mc_import {
    const char *batch;
    struct mc_time boundary;
    const json_t *observations; /* [object ...] */
};

struct mc_clock_set {
    struct mc_time scenario_time;
    const char *step;
    int64_t limit_calls; /* MC_UNKNOWN: no limit */
};

struct mc_command {
    enum mc_command_type type;
    union {
        const json_t *secrets; /* {NAME: value} */
        struct mc_initialize initialize;
        struct mc_turn_start turn_start;
        struct mc_import import;
        struct mc_clock_set clock_set;
        const char *turn;      /* turn.cancel */
        const char *session;   /* session.end */
        const char *night;     /* maintain */
        const char *operation; /* operation.status */
    };
    json_t *json; /* owned where decoded, else NULL */
};

const char *mc_command_name(enum mc_command_type type);

/* Appends the frame as one line. MC_LIMIT where it would pass MC_FRAME_MAX; *line is then as it was. */
int mc_command_encode(const struct mc_command *command, struct mc_buf *line, struct mc_err *err) MC_CHECKED;

/* `line` without its newline. On failure *out holds nothing. */
int mc_command_decode(const char *line, size_t length, struct mc_command *out, struct mc_err *err) MC_CHECKED;
void mc_command_release(struct mc_command *command);

/* ---- Program to controller ---- */

enum mc_notice_type {
    MC_READY,
    MC_EVENT,
    MC_TURN_COMPLETED,
    MC_TURN_FAILED,
    MC_SESSION_ENDED,
    MC_ACCEPTED,
    MC_OPERATION,
    MC_CLOCK, /* sidecar only */
    MC_BYE,
};

enum mc_event_kind {
    MC_EVENT_MESSAGE,
    MC_EVENT_TOOL_CALL,
    MC_EVENT_TOOL_RESULT,
    MC_EVENT_TOOL_DENIED,
    MC_EVENT_CONTEXT_INJECTED,
    MC_EVENT_USAGE,
    MC_EVENT_LOG,
    MC_EVENT_MODEL_CALL, /* sidecar only */
    MC_EVENT_VIOLATION,  /* sidecar only */
};
const char *mc_event_name(enum mc_event_kind kind);

struct mc_ready {
    const char *name;
    const char *version;
    const json_t *tools;        /* [string ...] */
    const json_t *capabilities; /* an object */
};

/* Data of `model.call`. */
struct mc_model_call {
    int64_t call; /* counts from 1 over the journal's life */
    const char *step;
    enum mc_role role; /* MC_HARNESS or MC_PROVIDER */
    const char *path;
    const char *model;    /* as the client asked, "" where it named none */
    const char *upstream; /* "openai", "script/extractive", "replay"; "none": refused here */
    int stream;
    int64_t status;
    const char *request; /* SHA-256 of the bodies as recorded */
    const char *response;
    int64_t request_bytes;
    int64_t response_bytes;
    struct mc_usage usage;
    double cost_usd; /* below 0: unknown */
    double first_byte_ms;
    double duration_ms;
    int64_t tries;               /* how often the upstream was asked; 0: never */
    const json_t *tools_offered; /* [name ...] */
    const json_t *tool_calls;    /* [name ...] in the order of the response */
    const char *error;           /* NULL where all went well */
};

enum mc_rule { MC_RULE_TOOLS_OFFERED, MC_RULE_TOOL_CALLED, MC_RULE_TOKEN, MC_RULE_BUDGET, MC_RULE_CALLS };
const char *mc_rule_name(enum mc_rule rule);

/* Data of `violation`; its layer is always wire. */
struct mc_violation {
    enum mc_rule rule;
    int64_t call; /* 0: no call was made of it */
    const char *step;
    const char *detail;
};

struct mc_event {
    enum mc_event_kind kind;
    const char *turn;   /* NULL where it belongs to none */
    const json_t *data; /* checked for its kind; to encode a model.call or violation leave it NULL */
    union {
        struct mc_model_call model_call;
        struct mc_violation violation;
    };
};

enum mc_turn_failure { MC_FAIL_DEADLINE, MC_FAIL_CANCELLED, MC_FAIL_TOOL_POLICY, MC_FAIL_ERROR };

struct mc_turn_completed {
    const char *turn;
    const char *answer;
    struct mc_usage usage; /* all unknown where it was not told */
};

struct mc_turn_failed {
    const char *turn;
    enum mc_turn_failure reason;
    const char *message;
};

struct mc_accepted {
    const char *batch; /* one of the two is NULL */
    const char *night;
    const char *operation;
};

enum mc_operation_state { MC_RUNNING, MC_COMPLETED, MC_FAILED };

struct mc_operation {
    const char *operation;
    enum mc_operation_state state;
    const json_t *detail; /* any value; NULL where absent */
};

struct mc_clock_reading {
    const char *step;
    struct mc_time scenario_time;
    double offset_s;
};

struct mc_notice {
    enum mc_notice_type type;
    int64_t seq;
    int has_at;
    struct mc_time at; /* the program's own wall clock */
    union {
        struct mc_ready ready;
        struct mc_event event;
        struct mc_turn_completed turn_completed;
        struct mc_turn_failed turn_failed;
        struct mc_accepted accepted;
        struct mc_operation operation;
        struct mc_clock_reading clock;
        const char *session; /* session.ended */
    };
    json_t *json; /* owned where decoded, else NULL */
};

const char *mc_notice_name(enum mc_notice_type type);

int mc_notice_encode(const struct mc_notice *notice, struct mc_buf *line, struct mc_err *err) MC_CHECKED;

/* `from` is the role of the program that it came from: the sidecar's frames are refused from anyone else, and turns,
 * sessions and operations from the sidecar. Does not look at the order of `seq`. */
int mc_notice_decode(const char *line, size_t length, enum mc_role from, struct mc_notice *out,
                     struct mc_err *err) MC_CHECKED;
void mc_notice_release(struct mc_notice *notice);
