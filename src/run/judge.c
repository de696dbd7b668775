#include "run/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sidecar/ledger.h"
#include "sidecar/upstream.h"
#include "sidecar/wire.h"
#include "store/gradings.h"
#include "store/objects.h"

enum { CALL_MS = 60000, REPLY_MAX = 4 << 20 };

struct mc_asker {
    struct mc_asker_options options;
    struct mc_judge judge;
    struct mc_gateway_setup gateway;
    struct mc_upstream *upstream; /* NULL until the first request is sent */
    struct mc_ledger ledger;
    json_t *prices;
    char *name;
    int failures; /* in a row */
    int64_t calls;
    struct mc_err trouble; /* what memcal itself failed at; code 0: nothing */
    /* The answer in hand. */
    const char *attempt;
    const char *checkpoint;
};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* What memcal itself fails at ends the grading; the judge's failures end one vote. */
static int in_trouble(struct mc_asker *asker, const struct mc_err *err)
{
    asker->trouble = *err;
    return err->code;
}

static int open_upstream(struct mc_asker *asker, struct mc_err *err)
{
    const char *secret = asker->gateway.secret;
    const char *key = secret ? getenv(secret) : NULL;
    if (secret && (!key || !*key)) {
        mc_fail(err, MC_INPUT, "the secret %s, which the judge %s needs, is not set", secret, asker->gateway.model);
        mc_hint(err, "set it in the environment");
        return in_trouble(asker, err);
    }
    struct mc_upstream_setup setup = {.gateway = &asker->gateway, .key = key};
    int rc = mc_upstream_new(&setup, &asker->upstream, err);
    return rc ? in_trouble(asker, err) : 0;
}

/* The message's content, which must be one JSON object; what it says is for grade/judge.h to read. */
static int content_of(const char *bytes, size_t length, char **content, struct mc_err *err)
{
    struct mc_source source = {.name = "the reply of the judge's server"};
    MC_AUTOJSON json_t *body = mc_json_parse(bytes, length, &source, err);
    if (!body) {
        return err->code;
    }
    const json_t *choice = json_array_get(json_object_get(body, "choices"), 0);
    const json_t *message = json_object_get(choice, "message");
    const char *refusal = text_of(message, "refusal");
    const char *text = text_of(message, "content");
    if (refusal && *refusal) {
        return mc_fail(err, MC_PROTOCOL, "the judge refused: %.200s", refusal);
    }
    if (!text) {
        return mc_fail(err, MC_PROTOCOL, "the reply of the judge's server has no message content");
    }
    source.name = "the judge's reply";
    MC_AUTOJSON json_t *said = mc_json_parse(text, strlen(text), &source, err);
    if (!said) {
        return err->code;
    }
    *content = mc_strdup(text);
    return 0;
}

static int read_all(struct mc_answer *answer, struct mc_until until, struct mc_buf *out, struct mc_err *err)
{
    for (;;) {
        char bytes[16384];
        size_t length = 0;
        int rc = mc_answer_read(answer, bytes, sizeof bytes, &length, until, err);
        if (rc != 0 || length == 0) {
            return rc;
        }
        if (mc_buf_add(out, bytes, length) != 0) {
            return mc_fail(err, MC_LIMIT, "the reply of the judge's server is longer than %d bytes", REPLY_MAX);
        }
    }
}

/* One request to the server: *status is 0 where none came. */
static int exchange(struct mc_asker *asker, const char *body, const struct mc_digest *digest, int64_t *status,
                    struct mc_buf *reply, struct mc_err *err)
{
    struct mc_source source = {.name = ""};
    MC_AUTOJSON json_t *json = mc_json_parse(body, strlen(body), &source, err);
    if (!json) {
        return in_trouble(asker, err);
    }
    struct mc_ask ask = {.path = "/chat/completions",
                         .body = body,
                         .length = strlen(body),
                         .json = json,
                         .digest = *digest,
                         .client_fd = -1,
                         .call = ++asker->calls};
    int64_t limit = asker->options.call_ms > 0 ? asker->options.call_ms : CALL_MS;
    struct mc_until until = mc_within(limit, asker->options.cancel);
    struct mc_answer *answer = NULL;
    int rc = mc_upstream_ask(asker->upstream, &ask, until, &answer, err);
    if (rc == 0) {
        *status = answer->status;
        rc = read_all(answer, until, reply, err);
    }
    mc_answer_free(answer);
    if (rc == 0 && (*status < 200 || *status > 299)) {
        rc = mc_fail(err, MC_PROTOCOL, "the judge's server answered %lld: %.200s", (long long)*status,
                     mc_buf_text(reply));
    }
    return rc;
}

static struct mc_usage usage_of(const struct mc_buf *reply, char **model)
{
    struct mc_usage usage = MC_USAGE_UNKNOWN;
    json_t *body = json_loadb(mc_buf_text(reply), reply->len, 0, NULL);
    if (json_is_object(body)) {
        struct mc_watch watch;
        mc_watch_init(&watch, NULL);
        if (mc_watch_body(&watch, body) == MC_PASS) {
            usage = watch.usage;
        }
        mc_watch_release(&watch);
        *model = text_of(body, "model") ? mc_strdup(text_of(body, "model")) : NULL;
    }
    json_decref(body);
    return usage;
}

struct call {
    const struct mc_digest *request;
    int vote;
    int64_t status;
    int64_t began_ms;
    const struct mc_buf *reply;
    const char *error;
};

static int record(struct mc_asker *asker, const struct call *call, struct mc_err *err)
{
    struct mc_store *store = asker->options.store;
    struct mc_digest response = {.hex = ""};
    int rc = call->reply->len
                 ? mc_object_put(store, "judge.response", call->reply->data, call->reply->len, &response, err)
                 : 0;
    if (rc != 0) {
        return rc;
    }
    MC_AUTOFREE char *model = NULL;
    struct mc_usage usage = usage_of(call->reply, &model);
    double cost = mc_ledger_cost(&asker->ledger, asker->gateway.model, NULL, &usage);
    struct mc_judge_call_record row = {.run = asker->options.run,
                                       .attempt = asker->attempt,
                                       .checkpoint = asker->checkpoint,
                                       .vote = call->vote,
                                       .model = model ? model : asker->gateway.model,
                                       .upstream = asker->gateway.base_url,
                                       .status = call->status > 0 ? call->status : MC_UNKNOWN,
                                       .request = call->request->hex,
                                       .response = response.hex[0] ? response.hex : NULL,
                                       .usage = usage,
                                       .cost_usd = cost < 0 ? (double)NAN : cost,
                                       .duration_ms = mc_monotonic_ms() - call->began_ms,
                                       .error = call->error};
    return mc_judge_calls_add(store, &row, err);
}

static int send_request(struct mc_asker *asker, const char *body, const struct mc_digest *digest, int vote,
                        char **content, struct mc_err *err)
{
    struct mc_digest kept;
    int rc = asker->upstream ? 0 : open_upstream(asker, err);
    if (rc != 0) {
        return rc;
    }
    rc = mc_object_put(asker->options.store, "judge.request", body, strlen(body), &kept, err);
    if (rc != 0) {
        return in_trouble(asker, err);
    }
    MC_AUTOBUF struct mc_buf raw = MC_BUF_INIT(REPLY_MAX);
    MC_AUTOBUF struct mc_buf reply = MC_BUF_OWN;
    struct call call = {.request = digest, .vote = vote, .began_ms = mc_monotonic_ms(), .reply = &reply};
    rc = exchange(asker, body, digest, &call.status, &raw, err);
    if (asker->options.redactor) {
        mc_redact_bytes(asker->options.redactor, mc_buf_text(&raw), raw.len, &reply);
    } else {
        mc_buf_put(&reply, mc_buf_text(&raw), raw.len);
    }
    rc = rc ? rc : content_of(mc_buf_text(&reply), reply.len, content, err);
    if (rc == MC_CANCELLED || asker->trouble.code) {
        return rc;
    }
    call.error = rc ? err->text : NULL;
    struct mc_err second;
    return record(asker, &call, &second) != 0 ? in_trouble(asker, &second) : rc;
}

static int find_kept(struct mc_asker *asker, const struct mc_digest *digest, char **content, struct mc_err *err)
{
    struct mc_digest response;
    int rc = mc_judge_calls_find(asker->options.store, digest->hex, asker->gateway.base_url, &response, err);
    if (rc == 1) {
        MC_AUTOBUF struct mc_buf reply = MC_BUF_INIT(REPLY_MAX);
        rc = mc_object_read(asker->options.store, response.hex, &reply, err);
        rc = rc ? rc : content_of(mc_buf_text(&reply), reply.len, content, err);
    }
    return rc ? in_trouble(asker, err) : 0;
}

static int ask(void *arg, const char *body, const struct mc_digest *digest, int vote, struct mc_until until,
               char **reply, struct mc_err *err)
{
    struct mc_asker *asker = arg;
    (void)until; /* each call has a deadline of its own */
    if (asker->trouble.code) {
        *err = asker->trouble;
        return err->code;
    }
    int rc = find_kept(asker, digest, reply, err);
    if (rc != 0 || *reply) {
        return rc;
    }
    if (asker->failures >= MC_ASKER_GIVES_UP) {
        return mc_fail(err, MC_CLOSED, "the judge failed %d times in a row and is not asked any more",
                       MC_ASKER_GIVES_UP);
    }
    rc = send_request(asker, body, digest, vote, reply, err);
    asker->failures = rc ? asker->failures + 1 : 0;
    return rc;
}

int mc_asker_open(const struct mc_asker_options *options, struct mc_asker **out, struct mc_err *err)
{
    const char *source = text_of(options->model, "source");
    const char *key = text_of(options->model, "key");
    if (!mc_streq(source, "openai")) {
        mc_fail(err, MC_INPUT, "the model \"%s\" cannot judge: its upstream is %s", key ? key : "?",
                source ? source : "not known");
        return mc_hint(err, "name a model with an \"openai\" upstream");
    }
    struct mc_asker *asker = mc_alloc(1, sizeof *asker);
    asker->options = *options;
    asker->gateway = (struct mc_gateway_setup){.upstream = MC_UPSTREAM_OPENAI,
                                               .base_url = text_of(options->model, "base_url"),
                                               .secret = text_of(options->model, "secret"),
                                               .model = text_of(options->model, "name"),
                                               .budget_usd = -1,
                                               .budget_tokens = MC_UNKNOWN};
    const json_t *prices = json_object_get(options->model, "prices");
    if (json_is_object(prices)) {
        asker->prices = json_pack("{sO}", asker->gateway.model, prices);
        asker->gateway.prices = asker->prices;
    }
    asker->judge = (struct mc_judge){.model = asker->gateway.model,
                                     .votes = options->votes,
                                     .send = ask,
                                     .arg = asker,
                                     .redactor = options->redactor};
    asker->name =
        mc_strf("%s (%s), %d vote%s", asker->gateway.model, source, options->votes, options->votes == 1 ? "" : "s");
    int rc = mc_ledger_init(&asker->ledger, &asker->gateway, err);
    if (rc != 0) {
        json_decref(asker->prices);
        free(asker->name);
        free(asker);
        return mc_wrap(err, "the prices of the model \"%s\"", key ? key : "?");
    }
    *out = asker;
    return 0;
}

void mc_asker_close(struct mc_asker *asker)
{
    if (asker) {
        mc_upstream_free(asker->upstream);
        mc_ledger_release(&asker->ledger);
        json_decref(asker->prices);
        free(asker->name);
        free(asker);
    }
}

int mc_asker_grade(struct mc_asker *asker, const char *attempt, const struct mc_rubric_checkpoint *checkpoint,
                   const struct mc_grade_context *context, const char *answer, struct mc_answer_grade *grade,
                   struct mc_err *err)
{
    asker->attempt = attempt;
    asker->checkpoint = checkpoint->id;
    struct mc_until until = mc_within(INT32_MAX, asker->options.cancel);
    int rc = mc_judge_grade(&asker->judge, checkpoint, context, answer, until, grade, err);
    if (rc == 0 && asker->trouble.code) {
        *err = asker->trouble;
        rc = err->code;
    }
    return rc;
}

const char *mc_asker_name(const struct mc_asker *asker)
{
    return asker->name;
}
