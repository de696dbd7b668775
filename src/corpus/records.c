#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/load.h"

/* turns.jsonl and checkpoints.jsonl: the same walk over lines, with what one line means handed in. */
struct records {
    struct mc_load load;
    struct mc_life *life;
    size_t capacity;
    size_t max;
    struct mc_ids ids; /* checkpoints' */
    void (*take)(struct records *records, const struct mc_view *root, int line);
    const size_t *count;
};

static void read_records(struct records *records, const char *name)
{
    MC_AUTOFREE char *path = mc_path_join(records->life->dir, name);
    struct mc_load *load = &records->load;
    load->file = path;
    MC_AUTOLINES struct mc_jsonl *lines = NULL;
    MC_AUTOFREE char *mend = mc_strf("every life has a %s (it may be empty)", name);
    if (!mc_load_note(load, mc_jsonl_open(path, MC_CORPUS_LINE, &lines, &load->err), mend)) {
        return;
    }
    struct mc_line line;
    while (mc_load_line(load, lines, &line)) {
        if (*records->count == records->max) {
            struct mc_place place = {.file = path, .line = line.number};
            mc_problems_add(load->problems, MC_SEVERITY_ERROR, place, "split the life", "more than %zu lines",
                            records->max);
            return;
        }
        struct mc_source source = {.name = path, .line = line.number, .marks = NULL};
        MC_AUTOJSON json_t *value = mc_load_object(load, &source, &line);
        if (value) {
            struct mc_view root = mc_view_root(&source, value);
            records->take(records, &root, line.number);
        }
    }
}

static int read_at(struct records *records, const struct mc_view *root, struct mc_time *at)
{
    struct mc_load *load = &records->load;
    const struct mc_life *life = records->life;
    if (!mc_load_note(load, mc_read_time(root, "at", MC_REQUIRED, at, &load->err),
                      "write the time as in 2026-08-07T09:00:00-04:00")) {
        return 0;
    }
    mc_load_zone(load, root, "at", *at, life->zone, MC_SEVERITY_ERROR);
    if (at->ms < life->starts.ms || at->ms > life->ends.ms) {
        struct mc_view view = mc_view_member(root, "at");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "move it between starts and ends of life.yaml",
                       "%s lies outside the life", mc_time_format(*at).text);
    }
    return 1;
}

static int read_words(struct records *records, const struct mc_view *root, const char *key, const char **out)
{
    struct mc_load *load = &records->load;
    MC_AUTOFREE char *mend = mc_strf("write what the person says under \"%s\"", key);
    if (!mc_load_note(load, mc_read_string(root, key, MC_REQUIRED, out, &load->err), mend)) {
        return 0;
    }
    if (strspn(*out, " \t\r\n") == strlen(*out)) {
        struct mc_view view = mc_view_member(root, key);
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, mend, "the %s is empty", key);
        return 0;
    }
    return 1;
}

static void take_turn(struct records *records, const struct mc_view *root, int line)
{
    static const char *const keys[] = {"id", "at", "session", "text", NULL};
    static const char mend[] = "give every turn an ID of its own, and none of an observation's";
    struct mc_load *load = &records->load;
    struct mc_life *life = records->life;
    const char *id = NULL;
    const char *session = NULL;
    const char *text = NULL;
    struct mc_time at;
    mc_load_note(load, mc_only_keys(root, keys, &load->err), "remove the key");
    int fine = mc_load_note(load, mc_read_id(root, "id", MC_REQUIRED, &id, &load->err), mend);
    fine &= mc_load_note(load, mc_read_id(root, "session", MC_REQUIRED, &session, &load->err), "name the session");
    fine &= read_words(records, root, "text", &text);
    fine &= read_at(records, root, &at);
    if (!fine) {
        return;
    }
    int fresh;
    struct mc_id wanted = {.text = id, .line = line, .kind = MC_EVIDENCE_TURN, .at = at.ms};
    const struct mc_id *known = mc_ids_add(&life->evidence, wanted, &fresh);
    if (!fresh) {
        struct mc_view view = mc_view_member(root, "id");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, mend, "the id \"%s\" was used on line %d of %s", id,
                       known->line, known->kind == MC_EVIDENCE_TURN ? "turns.jsonl" : "observations.jsonl");
        return;
    }
    life->turns = mc_grow(life->turns, life->turn_count, &records->capacity, sizeof *life->turns);
    life->turns[life->turn_count++] = (struct mc_life_turn){
        .id = mc_strdup(id), .at = at, .session = mc_strdup(session), .text = mc_strdup(text), .line = line};
}

static void take_checkpoint(struct records *records, const struct mc_view *root, int line)
{
    static const char *const keys[] = {"id", "at", "session", "question", "deadline_s", NULL};
    static const char mend[] = "give every checkpoint an ID of its own";
    struct mc_load *load = &records->load;
    struct mc_life *life = records->life;
    const char *id = NULL;
    const char *session = NULL;
    const char *question = NULL;
    int64_t deadline = 0;
    struct mc_time at;
    mc_load_note(load, mc_only_keys(root, keys, &load->err),
                 "remove the key: what is expected belongs in rubric.yaml only");
    int fine = mc_load_note(load, mc_read_id(root, "id", MC_REQUIRED, &id, &load->err), mend);
    fine &= mc_load_note(load, mc_read_id(root, "session", MC_REQUIRED, &session, &load->err), "name the session");
    fine &= mc_load_note(load,
                         mc_read_int(root, "deadline_s", MC_REQUIRED, 1, MC_CHECKPOINT_DEADLINE, &deadline, &load->err),
                         "write the seconds that an answer may take, 1 to 86400");
    fine &= read_words(records, root, "question", &question);
    fine &= read_at(records, root, &at);
    if (!fine) {
        return;
    }
    int fresh;
    const struct mc_id *known = mc_ids_add(&records->ids, (struct mc_id){.text = id, .line = line}, &fresh);
    if (!fresh) {
        struct mc_view view = mc_view_member(root, "id");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, mend, "the id \"%s\" was used on line %d", id,
                       known->line);
        return;
    }
    life->checkpoints =
        mc_grow(life->checkpoints, life->checkpoint_count, &records->capacity, sizeof *life->checkpoints);
    life->checkpoints[life->checkpoint_count++] = (struct mc_checkpoint){.id = mc_strdup(id),
                                                                         .at = at,
                                                                         .session = mc_strdup(session),
                                                                         .question = mc_strdup(question),
                                                                         .deadline_s = (int)deadline,
                                                                         .line = line};
}

void mc_life_read_turns(struct mc_life *life, struct mc_problems *problems)
{
    struct records records = {.load = {.problems = problems},
                              .life = life,
                              .max = MC_LIFE_TURNS,
                              .take = take_turn,
                              .count = &life->turn_count};
    read_records(&records, "turns.jsonl");
}

void mc_life_read_checkpoints(struct mc_life *life, struct mc_problems *problems)
{
    struct records records = {.load = {.problems = problems},
                              .life = life,
                              .max = MC_LIFE_CHECKPOINTS,
                              .take = take_checkpoint,
                              .count = &life->checkpoint_count};
    read_records(&records, "checkpoints.jsonl");
    mc_ids_release(&records.ids);
}
