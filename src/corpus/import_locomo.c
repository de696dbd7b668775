/*
 * LoCoMo (Maharana and others, "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024; data at
 * github.com/snap-research/locomo): conversations of two people in dated sessions, with questions in five categories,
 * of which the fifth asks for what was never said. Read in both published layouts: a list of samples with the sessions
 * under "conversation", and one object a file with the sessions at its top.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/import_parts.h"

enum { SESSIONS = 1000, UNANSWERABLE = 5 };
static const int64_t minute = 60000;

struct locomo {
    struct mc_import *import;
    struct mc_import_life life;
    struct mc_view sample;       /* holds qa */
    struct mc_view conversation; /* holds the sessions */
    const char *where;           /* file or sample, for the report */
    const char *owner;
    const char *other;
};

static const char *const month_names[] = {"January", "February", "March",     "April",   "May",      "June",
                                          "July",    "August",   "September", "October", "November", "December"};

static int scan_month(const char **text, int *month)
{
    for (size_t i = 0; i < MC_COUNT(month_names); i++) {
        if (mc_scan_letters(text, month_names[i])) {
            *month = (int)i + 1;
            return 1;
        }
    }
    return 0;
}

/* "4:04 pm on 20 January, 2023"; the source names no zone, UTC is taken. */
static int parse_session_time(const char *text, int64_t *ms)
{
    struct mc_civil civil = {.year = 0};
    const char *p = text + strspn(text, " ");
    if (!mc_scan_number(&p, 2, &civil.hour) || !mc_scan_letters(&p, ":") || !mc_scan_number(&p, 2, &civil.minute)) {
        return 0;
    }
    int afternoon = mc_scan_letters(&p, "pm");
    if ((!afternoon && !mc_scan_letters(&p, "am")) || !mc_scan_letters(&p, "on") ||
        !mc_scan_number(&p, 2, &civil.day) || !scan_month(&p, &civil.month)) {
        return 0;
    }
    p += *p == ',';
    p += strspn(p, " ");
    if (!mc_scan_number(&p, 4, &civil.year) || *p || civil.hour < 1 || civil.hour > 12) {
        return 0;
    }
    civil.hour = civil.hour % 12 + (afternoon ? 12 : 0);
    return mc_scan_instant(&civil, ms);
}

static const char *text_member(const struct mc_view *object, const char *key)
{
    struct mc_view member = mc_view_member(object, key);
    const char *text = json_string_value(member.value);
    return text ? text : "";
}

/* A shared photo is known by its caption only; what the caption says belongs to what was said. */
static char *full_text(const struct mc_view *turn)
{
    const char *text = text_member(turn, "text");
    const char *caption = text_member(turn, "blip_caption");
    return caption[0] ? mc_strf("%s%s[shares a photo: %s]", text, text[0] ? "\n" : "", caption) : mc_strdup(text);
}

static json_t *photo_of(const struct mc_view *turn)
{
    static const char *const keys[][2] = {{"blip_caption", "caption"}, {"query", "query"}, {"img_url", "url"}};
    json_t *photo = json_object();
    for (size_t i = 0; i < MC_COUNT(keys); i++) {
        struct mc_view member = mc_view_member(turn, keys[i][0]);
        if (member.value) {
            json_object_set(photo, keys[i][1], mc_view_json(&member));
        }
    }
    if (json_object_size(photo) == 0) {
        json_decref(photo);
        return NULL;
    }
    return json_pack("{s:o}", "photo", photo);
}

static void import_turn(struct locomo *l, const struct mc_view *turn, const char *where, int64_t at, int64_t collected)
{
    const char *id = text_member(turn, "dia_id");
    const char *speaker = text_member(turn, "speaker");
    MC_AUTOFREE char *text = full_text(turn);
    if (!id[0] || strlen(id) > 100 || !speaker[0] || !text[0]) {
        mc_import_leave(l->import, "message", where, id, "it has no dia_id, no speaker or no text");
        return;
    }
    MC_AUTOFREE char *thread = mc_strf("%s and %s", l->owner, l->other);
    MC_AUTOJSON json_t *photo = photo_of(turn);
    struct mc_import_message message = {.id = id,
                                        .channel = "whatsapp",
                                        .sender = speaker,
                                        .thread = thread,
                                        .text = text,
                                        .from_owner = mc_streq(speaker, l->owner),
                                        .structured = photo,
                                        .at = at,
                                        .collected = collected};
    const char *given = mc_import_message(&l->life, &message);
    if (!mc_streq(given, id)) {
        mc_import_repair(l->import, where, id, "the source has this dia_id twice: the second got a number behind it");
    }
}

static void import_session(struct locomo *l, int number)
{
    MC_AUTOFREE char *key = mc_strf("session_%d", number);
    MC_AUTOFREE char *date_key = mc_strf("session_%d_date_time", number);
    MC_AUTOFREE char *where = mc_strf("%s: %s", l->where, key);
    struct mc_view turns = mc_view_member(&l->conversation, key);
    struct mc_view date = mc_view_member(&l->conversation, date_key);
    if (!turns.value && !date.value) {
        return;
    }
    size_t count = mc_view_count(&turns);
    int64_t start;
    if (count == 0) {
        mc_import_leave(l->import, "session", where, text_member(&l->conversation, date_key),
                        "the source gives its date and no messages");
        return;
    }
    if (!parse_session_time(text_member(&l->conversation, date_key), &start)) {
        mc_import_leave(l->import, "session", where, text_member(&l->conversation, date_key),
                        "its date is missing or not readable");
        return;
    }
    int64_t end = start + (int64_t)count * MC_IMPORT_STEP_MS;
    mc_import_boundary(&l->life, end);
    for (size_t i = 0; i < count; i++) {
        struct mc_view turn = mc_view_item(&turns, i);
        MC_AUTOFREE char *place = mc_strf("%s[%zu]", where, i);
        import_turn(l, &turn, place, start + (int64_t)i * MC_IMPORT_STEP_MS, end);
    }
}

/* Reads one ID at the start of `text`: "D3:7", and the ways it is broken: "D:3:7", "D3:07", lower case. Returns the
 * bytes read, 0 where none stands there. */
static size_t read_evidence_id(const char *text, char *out, size_t size)
{
    const char *p = text;
    if (*p != 'D' && *p != 'd') {
        return 0;
    }
    p++;
    p += *p == ':';
    size_t session = strspn(p, "0123456789");
    if (session < 1 || session > 4 || p[session] != ':') {
        return 0;
    }
    const char *turn_text = p + session + 1;
    size_t turn = strspn(turn_text, "0123456789");
    if (turn < 1 || turn > 4) {
        return 0;
    }
    snprintf(out, size, "D%ld:%ld", strtol(p, NULL, 10), strtol(turn_text, NULL, 10));
    return (size_t)(turn_text + turn - text);
}

static void add_evidence(struct locomo *l, json_t *list, const char *id, const char *written, const char *where)
{
    if (!mc_ids_find(&l->life.ids, id)) {
        mc_import_leave(l->import, "evidence", where, written, "the conversation has no such message");
        return;
    }
    if (!mc_streq(id, written)) {
        MC_AUTOFREE char *how = mc_strf("read as %s", id);
        mc_import_repair(l->import, where, written, how);
    }
    size_t i;
    json_t *there;
    json_array_foreach (list, i, there) {
        if (mc_streq(json_string_value(there), id)) {
            return;
        }
    }
    json_array_append_new(list, json_string(id));
}

/* One entry of "evidence" may hold several IDs: "D8:6; D9:17", "D9:1 D4:4". */
static void read_evidence(struct locomo *l, json_t *list, const char *written, const char *where)
{
    size_t found = 0;
    size_t unread = 0;
    for (const char *p = written; *p;) {
        char id[16];
        size_t length = read_evidence_id(p, id, sizeof id);
        if (length) {
            add_evidence(l, list, id, written, where);
            found++;
            p += length;
        } else {
            unread += strchr(" ,;", *p) == NULL;
            p++;
        }
    }
    if (!found || unread) {
        mc_import_leave(l->import, "evidence", where, written, "it is no ID of a message");
    }
}

static json_t *evidence_of(struct locomo *l, const struct mc_view *question, const char *where)
{
    json_t *list = json_array();
    struct mc_view evidence = mc_view_member(question, "evidence");
    for (size_t i = 0; i < mc_view_count(&evidence); i++) {
        struct mc_view item = mc_view_item(&evidence, i);
        const char *written = json_string_value(item.value);
        if (written && mc_ids_find(&l->life.ids, written)) {
            add_evidence(l, list, written, written, where);
        } else {
            read_evidence(l, list, written ? written : "", where);
        }
    }
    if (mc_view_count(&evidence) == 0) {
        mc_import_leave(l->import, "evidence", where, "", "the source names none");
    }
    return list;
}

/* Answers are text or whole numbers. */
static char *answer_text(const struct mc_view *question, const char *key)
{
    struct mc_view member = mc_view_member(question, key);
    if (json_is_string(member.value)) {
        return mc_strdup(json_string_value(member.value));
    }
    return member.value && !json_is_object(member.value) && !json_is_array(member.value) ? mc_json_text(member.value)
                                                                                         : NULL;
}

static void import_question(struct locomo *l, const struct mc_view *question, size_t index, int64_t from)
{
    MC_AUTOFREE char *id = mc_strf("qa-%03zu", index);
    MC_AUTOFREE char *where = mc_strf("%s: qa[%zu]", l->where, index);
    MC_AUTOFREE char *answer = answer_text(question, "answer");
    MC_AUTOFREE char *trap = answer_text(question, "adversarial_answer");
    struct mc_view category = mc_view_member(question, "category");
    int unanswerable = json_integer_value(category.value) == UNANSWERABLE;
    if (!unanswerable && !answer) {
        l->import->questions++;
        mc_import_leave(l->import, "question", where, text_member(question, "question"), "it has no answer");
        return;
    }
    if (unanswerable && answer) {
        mc_import_repair(l->import, where, text_member(question, "question"),
                         "category 5 with an answer of its own: taken as answerable, the adversarial answer as wrong");
    }
    MC_AUTOJSON json_t *evidence = evidence_of(l, question, where);
    mc_import_question(&l->life, &(struct mc_import_question){.id = id,
                                                              .where = where,
                                                              .text = text_member(question, "question"),
                                                              .answer = answer,
                                                              .trap = trap,
                                                              .evidence = evidence,
                                                              .at = from + (int64_t)index * minute});
}

static int import_sample(struct locomo *l, struct mc_err *err)
{
    for (int number = 1; number <= SESSIONS; number++) {
        import_session(l, number);
    }
    struct mc_view questions = mc_view_member(&l->sample, "qa");
    if (l->life.boundary_count == 0) {
        mc_import_leave(l->import, "file", l->where, "conversation", "none of its sessions can be read");
        for (size_t i = 0; i < mc_view_count(&questions); i++) {
            MC_AUTOFREE char *where = mc_strf("%s: qa[%zu]", l->where, i);
            struct mc_view question = mc_view_item(&questions, i);
            l->import->questions++;
            mc_import_leave(l->import, "question", where, text_member(&question, "question"),
                            "its conversation cannot be read");
        }
        return 0;
    }
    int64_t asked_from = mc_import_last(&l->life, 0) + 120 * minute;
    for (size_t i = 0; i < mc_view_count(&questions); i++) {
        struct mc_view question = mc_view_item(&questions, i);
        import_question(l, &question, i, asked_from);
    }
    return mc_import_life_write(&l->life, err);
}

/* One sample: its life is named after sample_id, or after the file. */
static int take_sample(struct mc_import *import, const char *name, const struct mc_view *sample, struct mc_err *err)
{
    struct locomo l = {.import = import, .sample = *sample, .conversation = *sample, .where = name};
    struct mc_view inner = mc_view_member(sample, "conversation");
    if (json_is_object(inner.value)) {
        l.conversation = inner;
    }
    l.owner = text_member(&l.conversation, "speaker_a");
    l.other = text_member(&l.conversation, "speaker_b");
    const char *sample_id = text_member(sample, "sample_id");
    MC_AUTOFREE char *base = mc_strdup(sample_id[0] ? sample_id : mc_path_base(name));
    char *dot = sample_id[0] ? NULL : strrchr(base, '.');
    if (dot) {
        *dot = '\0';
    }
    if (!l.owner[0] || !l.other[0]) {
        return mc_view_fail(&l.conversation, err, "is no LoCoMo conversation: speaker_a or speaker_b is missing");
    }
    MC_AUTOFREE char *id = mc_import_life_id("locomo-", base);
    MC_AUTOFREE char *title = mc_strf("%s and %s", l.owner, l.other);
    struct mc_import_identity identity = {.id = id, .title = title, .owner = l.owner, .family = "locomo"};
    int rc = mc_import_life_begin(&l.life, import, &identity, err);
    if (rc == 0) {
        rc = import_sample(&l, err);
    }
    mc_import_life_release(&l.life);
    return rc;
}

static int take_file(void *context, const char *name, const char *bytes, size_t length, struct mc_err *err)
{
    struct mc_source source = {.name = name};
    MC_AUTOJSON json_t *root = mc_json_parse(bytes, length, &source, err);
    if (!root) {
        return err->code;
    }
    struct mc_view view = mc_view_root(&source, root);
    if (!json_is_array(root)) {
        int rc = mc_view_is_object(&view, err);
        return rc == 0 ? take_sample(context, name, &view, err) : rc;
    }
    for (size_t i = 0; i < mc_view_count(&view); i++) {
        struct mc_view sample = mc_view_item(&view, i);
        MC_AUTOFREE char *where = mc_strf("%s[%zu]", name, i);
        int rc = mc_view_is_object(&sample, err);
        if (rc == 0) {
            rc = take_sample(context, where, &sample, err);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int mc_import_locomo(const char *path, const char *out_dir, json_t **report, struct mc_err *err)
{
    static const char *const channels[] = {"whatsapp", NULL};
    struct mc_import_head head = {.name = "locomo",
                                  .description = "Conversations of the LoCoMo data set, imported.",
                                  .license = "CC-BY-NC-4.0",
                                  .channels = channels};
    struct mc_import import;
    int rc = mc_import_begin(&import, path, out_dir, &head, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_import_files files = {.take = take_file, .context = &import, .import = &import};
    rc = mc_import_files(path, &files, err);
    if (rc != 0) {
        mc_import_abandon(&import);
        return rc;
    }
    return mc_import_end(&import, "locomo", report, err);
}
