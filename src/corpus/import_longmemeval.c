/*
 * LongMemEval (Wu and others, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025;
 * data at github.com/xiaowu0162/LongMemEval): a list of questions, each with its own dated sessions between a user and
 * an assistant. An ID that ends in "_abs" asks for what was never said. One life a question.
 *
 * The source marks the sessions that hold the answer by "answer_" before their IDs, and their messages by has_answer:
 * both go into the rubric and are taken out of what systems see.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/import_parts.h"
#include "corpus/json_items.h"

enum { ITEM_BYTES = 64 << 20 };
static const int64_t hour = 3600000;
static const char marked[] = "answer_";

struct longmemeval {
    struct mc_import *import;
    struct mc_import_life life;
    struct mc_view item;
    const char *where;
    json_t *evidence; /* IDs of messages that hold the answer */
    json_t *wider;    /* all messages of the sessions that do */
    int unmarked;     /* IDs that lost their mark */
};

/* "2023/05/20 (Sat) 02:21" or the date alone; the source names no zone, UTC is taken. */
static int parse_date(const char *text, int64_t *ms)
{
    struct mc_civil civil = {.year = 0};
    const char *p = text;
    if (!mc_scan_number(&p, 4, &civil.year) || !mc_scan_letters(&p, "/") || !mc_scan_number(&p, 2, &civil.month) ||
        !mc_scan_letters(&p, "/") || !mc_scan_number(&p, 2, &civil.day)) {
        return 0;
    }
    if (*p == '(') {
        p += strcspn(p, ")");
        p += *p == ')';
        p += strspn(p, " ");
    }
    if (*p && (!mc_scan_number(&p, 2, &civil.hour) || !mc_scan_letters(&p, ":") ||
               !mc_scan_number(&p, 2, &civil.minute) || *p)) {
        return 0;
    }
    return mc_scan_instant(&civil, ms);
}

static const char *item_text(const struct mc_view *list, size_t index)
{
    struct mc_view item = mc_view_item(list, index);
    const char *text = json_string_value(item.value);
    return text ? text : "";
}

static int holds_answer(const struct longmemeval *l, const char *session)
{
    struct mc_view list = mc_view_member(&l->item, "answer_session_ids");
    for (size_t i = 0; i < mc_view_count(&list); i++) {
        if (mc_streq(item_text(&list, i), session)) {
            return 1;
        }
    }
    return 0;
}

/* What a session is called without the mark. */
static const char *bare_id(struct longmemeval *l, const char *session)
{
    if (!mc_starts_with(session, marked)) {
        return session;
    }
    l->unmarked = 1;
    return session + strlen(marked);
}

static void import_turn(struct longmemeval *l, const struct mc_view *turn, const char *session, size_t index,
                        const int64_t times[2])
{
    const char *role = json_string_value(json_object_get(turn->value, "role"));
    const char *text = json_string_value(json_object_get(turn->value, "content"));
    const char *bare = bare_id(l, session);
    MC_AUTOFREE char *id = mc_strf("%.150s:%zu", bare, index + 1);
    int from_user = mc_streq(role, "user");
    if (!text || !text[strspn(text, " \t\r\n")] || (!from_user && !mc_streq(role, "assistant"))) {
        MC_AUTOFREE char *where = mc_strf("%s: %s", l->where, session);
        mc_import_leave(l->import, "message", where, id, "it has no text, or a role other than user and assistant");
        return;
    }
    struct mc_import_message message = {.id = id,
                                        .channel = "assistant",
                                        .sender = role,
                                        .thread = bare,
                                        .text = text,
                                        .from_owner = from_user,
                                        .at = times[0],
                                        .collected = times[1]};
    const char *given = mc_import_message(&l->life, &message);
    if (holds_answer(l, session)) {
        json_array_append_new(l->wider, json_string(given));
    }
    if (json_is_true(json_object_get(turn->value, "has_answer"))) {
        json_array_append_new(l->evidence, json_string(given));
    }
}

static void import_sessions(struct longmemeval *l)
{
    struct mc_view sessions = mc_view_member(&l->item, "haystack_sessions");
    struct mc_view dates = mc_view_member(&l->item, "haystack_dates");
    struct mc_view ids = mc_view_member(&l->item, "haystack_session_ids");
    for (size_t i = 0; i < mc_view_count(&sessions); i++) {
        struct mc_view session = mc_view_item(&sessions, i);
        MC_AUTOFREE char *numbered = mc_strf("session-%zu", i + 1);
        const char *id = item_text(&ids, i)[0] ? item_text(&ids, i) : numbered;
        size_t count = mc_view_count(&session);
        int64_t start;
        if (!parse_date(item_text(&dates, i), &start) || count == 0) {
            mc_import_leave(l->import, "session", l->where, id, "it has no messages, or its date is not readable");
            continue;
        }
        int64_t end = start + (int64_t)count * MC_IMPORT_STEP_MS;
        mc_import_boundary(&l->life, end);
        for (size_t k = 0; k < count; k++) {
            struct mc_view turn = mc_view_item(&session, k);
            int64_t times[] = {start + (int64_t)k * MC_IMPORT_STEP_MS, end};
            import_turn(l, &turn, id, k, times);
        }
    }
}

/* Answers are text or numbers. */
static char *answer_of(const struct mc_view *item)
{
    struct mc_view answer = mc_view_member(item, "answer");
    if (json_is_string(answer.value)) {
        return mc_strdup(json_string_value(answer.value));
    }
    return json_is_number(answer.value) ? mc_json_text(answer.value) : NULL;
}

static void leave_question(struct longmemeval *l, const char *question, const char *reason)
{
    l->import->questions++;
    mc_import_leave(l->import, "question", l->where, question, reason);
}

static int import_question(struct longmemeval *l, const char *id, const char *question, struct mc_err *err)
{
    int64_t asked;
    size_t length = strlen(id);
    int abstain = length > 4 && mc_streq(id + length - 4, "_abs");
    MC_AUTOFREE char *answer = abstain ? NULL : answer_of(&l->item);
    struct mc_view date = mc_view_member(&l->item, "question_date");
    import_sessions(l);
    if (!l->life.boundary_count || l->life.first == INT64_MAX) {
        leave_question(l, question, "none of its sessions can be read");
        return 0;
    }
    if (!abstain && !answer) {
        leave_question(l, question, "it has no answer");
        return 0;
    }
    int64_t earliest = mc_import_last(&l->life, 0) + 2 * hour;
    if (!parse_date(json_is_string(date.value) ? json_string_value(date.value) : "", &asked) || asked < earliest) {
        mc_import_repair(l->import, l->where, "question_date",
                         "missing, or before the last session: asked two hours after that session");
        asked = earliest;
    }
    if (l->unmarked) {
        mc_import_repair(l->import, l->where, "haystack_session_ids",
                         "\"answer_\" taken off the IDs of sessions: it tells which ones hold the answer");
    }
    mc_import_question(&l->life,
                       &(struct mc_import_question){.id = id,
                                                    .where = l->where,
                                                    .text = question,
                                                    .answer = answer,
                                                    .evidence = json_array_size(l->evidence) ? l->evidence : l->wider,
                                                    .at = asked});
    return l->life.questions ? mc_import_life_write(&l->life, err) : 0;
}

static int take_item(struct mc_import *import, const struct mc_view *item, struct mc_err *err)
{
    struct longmemeval l = {.import = import, .item = *item};
    const char *id = NULL;
    const char *question = NULL;
    const char *type = NULL;
    int rc = mc_view_is_object(item, err);
    if (rc == 0) {
        rc = mc_read_id(item, "question_id", MC_REQUIRED, &id, err);
    }
    if (rc == 0) {
        rc = mc_read_string(item, "question", MC_REQUIRED, &question, err);
    }
    if (rc == 0) {
        rc = mc_read_id(item, "question_type", MC_REQUIRED, &type, err);
    }
    if (rc != 0) {
        return rc;
    }
    MC_AUTOFREE char *where = mc_strf("question %s", id);
    l.where = where;
    l.evidence = json_array();
    l.wider = json_array();
    MC_AUTOFREE char *life_id = mc_import_life_id("lme-", id);
    struct mc_import_identity identity = {.id = life_id, .title = id, .owner = "user", .family = type};
    rc = mc_import_life_begin(&l.life, import, &identity, err);
    if (rc == 0) {
        rc = import_question(&l, id, question, err);
    }
    mc_import_life_release(&l.life);
    json_decref(l.evidence);
    json_decref(l.wider);
    return rc;
}

static int take_all(struct mc_import *import, struct mc_items *items, struct mc_err *err)
{
    for (;;) {
        MC_AUTOJSON json_t *value = NULL;
        int line = 0;
        int rc = mc_items_next(items, &value, &line, err);
        if (rc != 1) {
            return rc;
        }
        struct mc_source source = {.name = import->source, .line = line};
        struct mc_view item = mc_view_root(&source, value);
        rc = take_item(import, &item, err);
        if (rc != 0) {
            return rc;
        }
    }
}

int mc_import_longmemeval(const char *path, const char *out_dir, json_t **report, struct mc_err *err)
{
    static const char *const channels[] = {"assistant", NULL};
    struct mc_import_head head = {.name = "longmemeval",
                                  .description = "Questions of the LongMemEval data set, imported.",
                                  .license = "MIT",
                                  .channels = channels};
    struct mc_items *items = NULL;
    struct mc_import import;
    int rc = mc_items_open(path, ITEM_BYTES, &items, err);
    if (rc != 0) {
        return rc;
    }
    rc = mc_import_begin(&import, path, out_dir, &head, err);
    if (rc == 0) {
        rc = take_all(&import, items, err);
        if (rc == 0) {
            rc = mc_import_end(&import, "longmemeval", report, err);
        } else {
            mc_import_abandon(&import);
        }
    }
    mc_items_close(items);
    return rc;
}
