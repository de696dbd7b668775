#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/rubric.h"
#include "corpus/words.h"

/* A value shorter than this says too little to be a leak outside its own question. */
enum { TELLING = 4 };
/* Suspects settled at a time, so that their number is bounded. */
enum { SUSPECTS = 10000 };

/* One value of a slot under search. */
struct search {
    struct mc_leaks *leaks;
    const struct mc_checkpoint *checkpoint;
    const struct mc_rubric_slot *slot;
    const char *shown;
    const char *value; /* folded */
};

void mc_public_add(struct mc_public *texts, const char *file, const char *where, const char *text)
{
    texts->items = mc_grow(texts->items, texts->count, &texts->capacity, sizeof *texts->items);
    texts->items[texts->count++] =
        (struct mc_public_text){.file = mc_strdup(file), .where = mc_strdup(where), .folded = mc_words_fold(text)};
}

void mc_public_release(struct mc_public *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->items[i].file);
        free(texts->items[i].where);
        free(texts->items[i].folded);
    }
    free(texts->items);
    memset(texts, 0, sizeof *texts);
}

void mc_leaks_begin(struct mc_leaks *leaks, const struct mc_life *life, const struct mc_public *texts,
                    struct mc_problems *problems)
{
    *leaks = (struct mc_leaks){.life = life, .texts = texts, .problems = problems};
    leaks->questions = mc_alloc(life->checkpoint_count, sizeof *leaks->questions);
    for (size_t i = 0; i < life->checkpoint_count; i++) {
        leaks->questions[i] = mc_words_fold(life->checkpoints[i].question);
    }
    leaks->turns = mc_alloc(life->turn_count, sizeof *leaks->turns);
    for (size_t i = 0; i < life->turn_count; i++) {
        leaks->turns[i] = mc_words_fold(life->turns[i].text);
    }
}

static void forget_suspects(struct mc_leaks *leaks)
{
    for (size_t i = 0; i < leaks->count; i++) {
        struct mc_leak *leak = &leaks->items[i];
        void *owned[] = {leak->value, leak->shown, leak->file, leak->path, leak->where};
        for (size_t k = 0; k < MC_COUNT(owned); k++) {
            free(owned[k]);
        }
    }
    leaks->count = 0;
}

void mc_leaks_release(struct mc_leaks *leaks)
{
    forget_suspects(leaks);
    for (size_t i = 0; i < leaks->life->checkpoint_count; i++) {
        free(leaks->questions[i]);
    }
    for (size_t i = 0; i < leaks->life->turn_count; i++) {
        free(leaks->turns[i]);
    }
    free(leaks->questions);
    free(leaks->turns);
    free(leaks->items);
    memset(leaks, 0, sizeof *leaks);
}

static void suspect(const struct search *search, enum mc_severity severity, struct mc_place place, const char *where)
{
    struct mc_leaks *leaks = search->leaks;
    if (leaks->count == SUSPECTS) {
        mc_leaks_settle(leaks);
    }
    leaks->items = mc_grow(leaks->items, leaks->count, &leaks->capacity, sizeof *leaks->items);
    leaks->items[leaks->count++] = (struct mc_leak){.value = mc_strdup(search->value),
                                                    .shown = mc_strdup(search->shown),
                                                    .file = mc_strdup(place.file),
                                                    .path = mc_strdup(place.path),
                                                    .line = place.line,
                                                    .where = mc_strdup(where),
                                                    .severity = severity};
}

/* A question that offers the value as one of several ("Friday or Saturday?") asks for a choice and gives nothing
 * away. */
static int gives_away(const char *question, const char *value)
{
    return mc_words_find(question, value, question) && !mc_words_find(question, "or", question);
}

int mc_question_gives_away(const char *question, const char *value)
{
    MC_AUTOFREE char *asked = mc_words_fold(question);
    MC_AUTOFREE char *folded = mc_words_fold(value);
    return folded[0] && gives_away(asked, folded);
}

static void search_questions(const struct search *search)
{
    const struct mc_life *life = search->leaks->life;
    MC_AUTOFREE char *file = mc_path_join(life->dir, "checkpoints.jsonl");
    for (size_t i = 0; i < life->checkpoint_count; i++) {
        const struct mc_checkpoint *asked = &life->checkpoints[i];
        int own = asked == search->checkpoint;
        if (asked->at.ms > search->checkpoint->at.ms || (!own && strlen(search->value) < TELLING)) {
            continue; /* asked afterwards: too late to help */
        }
        const char *question = search->leaks->questions[i];
        if (!mc_words_find(question, search->value, question)) {
            continue;
        }
        struct mc_place place = {.file = file, .line = asked->line, .path = ".question"};
        if (!own) {
            MC_AUTOFREE char *where =
                mc_strf("the question of checkpoint \"%s\", asked before \"%s\",", asked->id, search->checkpoint->id);
            suspect(search, MC_SEVERITY_WARNING, place, where);
        } else if (gives_away(question, search->value)) {
            mc_problems_add(search->leaks->problems, MC_SEVERITY_ERROR, place, "ask without giving the answer away",
                            "the question contains its own answer \"%.100s\"", search->shown);
        }
    }
}

static int is_evidence_of(const struct mc_view *slot, const char *id)
{
    struct mc_view list = mc_view_member(slot, "supported_by");
    for (size_t i = 0; i < mc_view_count(&list); i++) {
        struct mc_view item = mc_view_item(&list, i);
        struct mc_err ignored; /* check_evidence() reports it */
        const char *text = NULL;
        if (mc_view_scalar(&item, &text, &ignored) == 0 && mc_streq(text, id)) {
            return 1;
        }
    }
    return 0;
}

static void search_turns(const struct search *search)
{
    const struct mc_life *life = search->leaks->life;
    MC_AUTOFREE char *file = mc_path_join(life->dir, "turns.jsonl");
    for (size_t i = 0; i < life->turn_count; i++) {
        const struct mc_life_turn *turn = &life->turns[i];
        const char *text = search->leaks->turns[i];
        if (turn->at.ms <= search->checkpoint->at.ms && mc_words_find(text, search->value, text) &&
            !is_evidence_of(&search->slot->view, turn->id)) {
            struct mc_place place = {.file = file, .line = turn->line, .path = ".text"};
            MC_AUTOFREE char *where = mc_strf("turn \"%s\", which checkpoint \"%s\" does not name as evidence,",
                                              turn->id, search->checkpoint->id);
            suspect(search, MC_SEVERITY_WARNING, place, where);
        }
    }
}

static void search_life(const struct search *search)
{
    const struct mc_life *life = search->leaks->life;
    MC_AUTOFREE char *file = mc_path_join(life->dir, "life.yaml");
    const char *const texts[][2] = {{".title", life->title}, {".family", life->family}, {".bet", life->bet}};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        MC_AUTOFREE char *folded = mc_words_fold(texts[i][1]);
        if (mc_words_find(folded, search->value, folded)) {
            struct mc_place place = {.file = file, .path = texts[i][0]};
            suspect(search, MC_SEVERITY_ERROR, place, "the life's description");
        }
    }
    for (size_t i = 0; i < search->leaks->texts->count; i++) {
        const struct mc_public_text *text = &search->leaks->texts->items[i];
        if (mc_words_find(text->folded, search->value, text->folded)) {
            struct mc_place place = {.file = text->file, .path = ""};
            suspect(search, MC_SEVERITY_ERROR, place, text->where);
        }
    }
}

static void search_value(struct search *search, const struct mc_view *view)
{
    struct mc_err ignored; /* a value of a wrong type is the grader's to report */
    if (!view->value || mc_view_scalar(view, &search->shown, &ignored) != 0) {
        return;
    }
    MC_AUTOFREE char *value = mc_words_fold(search->shown);
    search->value = value;
    if (!value[0]) {
        return;
    }
    search_questions(search);
    if (strlen(value) >= TELLING) {
        search_turns(search);
        search_life(search);
    }
}

void mc_leaks_of_slot(struct mc_leaks *leaks, size_t checkpoint, const struct mc_rubric_slot *slot)
{
    if (mc_streq(slot->match, "yesno") || mc_streq(slot->match, "status")) {
        return; /* "Is it cancelled?" must name a status to ask for it */
    }
    struct search search = {.leaks = leaks, .checkpoint = &leaks->life->checkpoints[checkpoint], .slot = slot};
    struct mc_view expected = mc_view_member(&slot->view, "expected");
    search_value(&search, &expected);
    struct mc_view others = mc_view_member(&slot->view, "alternatives");
    for (size_t i = 0; i < mc_view_count(&others); i++) {
        struct mc_view item = mc_view_item(&others, i);
        search_value(&search, &item);
    }
}

/* Excuses the suspects whose value `text` holds; the number left. */
static size_t excuse(struct mc_leaks *leaks, const char *text)
{
    MC_AUTOFREE char *folded = mc_words_fold(text);
    size_t left = 0;
    for (size_t i = 0; i < leaks->count; i++) {
        struct mc_leak *leak = &leaks->items[i];
        leak->excused = leak->excused || mc_words_find(folded, leak->value, folded);
        left += !leak->excused;
    }
    return left;
}

/* Text that everyone may see: what stands in an observation is no secret. */
static size_t excuse_observation(struct mc_leaks *leaks, size_t index)
{
    struct mc_err ignored; /* read once already: what is wrong with it is reported */
    MC_AUTOJSON json_t *value = mc_life_observation_json(leaks->life, index, &ignored);
    static const char *const keys[] = {"text", "subject", "sender", "thread"};
    size_t left = leaks->count;
    for (size_t k = 0; k < MC_COUNT(keys) && left; k++) {
        const char *text = json_string_value(json_object_get(value, keys[k]));
        left = text ? excuse(leaks, text) : left;
    }
    json_t *structured = json_object_get(value, "structured");
    if (left && structured) {
        MC_AUTOFREE char *text = mc_json_text(structured);
        left = excuse(leaks, text);
    }
    return left;
}

void mc_leaks_settle(struct mc_leaks *leaks)
{
    size_t left = leaks->count;
    for (size_t i = 0; i < leaks->life->observation_count && left; i++) {
        left = excuse_observation(leaks, i);
    }
    for (size_t i = 0; i < leaks->count; i++) {
        const struct mc_leak *leak = &leaks->items[i];
        if (!leak->excused) {
            struct mc_place place = {.file = leak->file, .line = leak->line, .path = leak->path};
            mc_problems_add(leaks->problems, leak->severity, place,
                            "say it in an observation, or leave the value to the rubric",
                            "%s holds \"%.100s\", which no observation says", leak->where, leak->shown);
        }
    }
    forget_suspects(leaks);
}
