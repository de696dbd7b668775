#include "corpus/rubric.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/validate.h"
#include "corpus/words.h"

/* What checking one rubric carries along. */
struct check {
    struct mc_load load;
    const struct mc_life *life;
    struct mc_leaks leaks;
    size_t checkpoint; /* index of the one at hand */
    int answerable;    /* its mode asks for facts */
};

static void check_evidence(struct check *check, const struct mc_view *slot, int expects)
{
    struct mc_load *load = &check->load;
    const struct mc_checkpoint *checkpoint = &check->life->checkpoints[check->checkpoint];
    struct mc_view list = {.value = NULL};
    if (!mc_load_note(load, mc_read_array(slot, "supported_by", MC_OPTIONAL, &list, &load->err), "list source_ids")) {
        return;
    }
    if (expects && mc_view_count(&list) == 0) {
        mc_problems_at(load->problems, MC_SEVERITY_WARNING, slot, "name the observations or turns that it rests on",
                       "the slot names no evidence");
    }
    for (size_t i = 0; i < mc_view_count(&list); i++) {
        struct mc_view item = mc_view_item(&list, i);
        const char *id = "";
        if (!mc_load_note(load, mc_view_scalar(&item, &id, &load->err), "write a source_id")) {
            continue;
        }
        const struct mc_id *known = mc_ids_find(&check->life->evidence, id);
        if (!known) {
            mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item,
                           "name the source_id of an observation, or the id of a turn, of this life",
                           "there is no observation or turn \"%.100s\"", id);
        } else if (known->at > checkpoint->at.ms) {
            mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item,
                           "ask later, collect it earlier, or rest the slot on something else",
                           "\"%s\" is known only at %s, after the checkpoint (%s)", id,
                           mc_time_format((struct mc_time){known->at, checkpoint->at.offset_min}).text,
                           mc_time_format(checkpoint->at).text);
        }
    }
}

/* True where `value` equals one of the scalars in `list` after folding; *index says which. */
static int among(const struct mc_view *list, const char *value, size_t from, size_t *index)
{
    MC_AUTOFREE char *folded = mc_words_fold(value);
    for (size_t i = from; i < mc_view_count(list); i++) {
        struct mc_view item = mc_view_item(list, i);
        struct mc_err ignored; /* a value of a wrong type is the grader's to report */
        const char *text = NULL;
        if (mc_view_scalar(&item, &text, &ignored) == 0) {
            MC_AUTOFREE char *other = mc_words_fold(text);
            if (mc_streq(folded, other)) {
                *index = i;
                return 1;
            }
        }
    }
    return 0;
}

static void check_value(struct check *check, const struct mc_view *value, const struct mc_view *forbidden)
{
    struct mc_err ignored; /* as above */
    const char *text = NULL;
    size_t index = 0;
    if (value->value && mc_view_scalar(value, &text, &ignored) == 0 && among(forbidden, text, 0, &index)) {
        mc_problems_at(check->load.problems, MC_SEVERITY_ERROR, value,
                       "decide whether the value is right or wrong, and remove the other",
                       "\"%.100s\" is expected and forbidden at once", text);
    }
}

static void check_contradictions(struct check *check, const struct mc_view *slot)
{
    struct mc_load *load = &check->load;
    struct mc_view forbidden = {.value = NULL};
    struct mc_view others = {.value = NULL};
    if (!mc_load_note(load, mc_read_array(slot, "forbidden", MC_OPTIONAL, &forbidden, &load->err), "list values") ||
        !mc_load_note(load, mc_read_array(slot, "alternatives", MC_OPTIONAL, &others, &load->err), "list values")) {
        return;
    }
    struct mc_view expected = mc_view_member(slot, "expected");
    check_value(check, &expected, &forbidden);
    for (size_t i = 0; i < mc_view_count(&others); i++) {
        struct mc_view item = mc_view_item(&others, i);
        check_value(check, &item, &forbidden);
        struct mc_err ignored; /* as above */
        const char *text = NULL;
        size_t again = 0;
        if (mc_view_scalar(&item, &text, &ignored) == 0 && among(&others, text, i + 1, &again)) {
            struct mc_view second = mc_view_item(&others, again);
            mc_problems_at(load->problems, MC_SEVERITY_WARNING, &second, "remove one of them",
                           "the alternative \"%.100s\" stands here twice", text);
        }
    }
}

static void check_slot(struct check *check, const struct mc_view *view, int is_trap, struct mc_ids *ids)
{
    struct mc_load *load = &check->load;
    if (!mc_load_note(load, mc_view_is_object(view, &load->err), "write a slot as id, kind, match, expected")) {
        return;
    }
    const char *id = NULL;
    static const char mend[] = "give every slot of a checkpoint an ID of its own";
    if (mc_load_note(load, mc_read_id(view, "id", MC_REQUIRED, &id, &load->err), mend)) {
        int fresh;
        struct mc_id wanted = {.text = id, .line = mc_view_line(view)};
        const struct mc_id *known = mc_ids_add(ids, wanted, &fresh);
        if (!fresh) {
            mc_problems_at(load->problems, MC_SEVERITY_ERROR, view, mend, "the slot id \"%s\" was used on line %d", id,
                           known->line);
        }
    }
    struct mc_rubric_slot slot = {.view = *view, .match = "", .kind = "", .is_trap = is_trap};
    mc_load_note(load, mc_read_string(view, "match", MC_OPTIONAL, &slot.match, &load->err), "name a matcher");
    mc_load_note(load, mc_read_string(view, "kind", MC_OPTIONAL, &slot.kind, &load->err), "name a kind");
    int expects = check->answerable && !mc_streq(slot.kind, "abstain") && !is_trap;
    check_evidence(check, view, expects);
    check_contradictions(check, view);
    if (expects) {
        mc_leaks_of_slot(&check->leaks, check->checkpoint, &slot);
    }
}

static void check_slots(struct check *check, const struct mc_view *entry, const char *key, struct mc_ids *ids)
{
    struct mc_load *load = &check->load;
    struct mc_view list = {.value = NULL};
    if (!mc_load_note(load, mc_read_array(entry, key, MC_OPTIONAL, &list, &load->err), "write a list of slots")) {
        return;
    }
    for (size_t i = 0; i < mc_view_count(&list); i++) {
        struct mc_view item = mc_view_item(&list, i);
        check_slot(check, &item, mc_streq(key, "traps"), ids);
    }
}

static void check_required(struct check *check, const struct mc_view *entry, const struct mc_ids *ids)
{
    struct mc_load *load = &check->load;
    struct mc_view list = {.value = NULL};
    if (!mc_load_note(load, mc_read_array(entry, "required", MC_OPTIONAL, &list, &load->err), "list slots' IDs")) {
        return;
    }
    for (size_t i = 0; i < mc_view_count(&list); i++) {
        struct mc_view item = mc_view_item(&list, i);
        const char *id = "";
        if (mc_load_note(load, mc_view_scalar(&item, &id, &load->err), "write a slot's ID") && !mc_ids_find(ids, id)) {
            mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item, "name a slot of this checkpoint, or add the slot",
                           "the checkpoint has no slot \"%.100s\"", id);
        }
    }
}

static void check_entry(struct check *check, const struct mc_view *entry)
{
    static const char *const modes[] = {"fact", "complete-plan", "open-ended", "unanswerable", NULL};
    enum { UNANSWERABLE = 3 };
    struct mc_load *load = &check->load;
    if (!mc_load_note(load, mc_view_is_object(entry, &load->err), "write mode and slots")) {
        return;
    }
    int mode = 0;
    mc_load_note(load, mc_read_choice(entry, "mode", MC_REQUIRED, modes, &mode, &load->err),
                 "use fact, complete-plan, open-ended or unanswerable");
    check->answerable = mode != UNANSWERABLE;
    struct mc_ids ids = {.count = 0};
    check_slots(check, entry, "slots", &ids);
    check_required(check, entry, &ids);
    check_slots(check, entry, "options", &ids);
    check_slots(check, entry, "traps", &ids);
    mc_ids_release(&ids);
}

/* Every checkpoint has an entry, and every entry a checkpoint. */
static void check_entries(struct check *check, const struct mc_view *entries)
{
    struct mc_problems *problems = check->load.problems;
    const struct mc_life *life = check->life;
    struct mc_ids ids = {.count = 0};
    for (size_t i = 0; i < life->checkpoint_count; i++) {
        const struct mc_checkpoint *checkpoint = &life->checkpoints[i];
        int fresh;
        mc_ids_add(&ids, (struct mc_id){.text = checkpoint->id, .line = checkpoint->line}, &fresh);
        struct mc_view entry = mc_view_member(entries, checkpoint->id);
        if (entry.value) {
            check->checkpoint = i;
            check_entry(check, &entry);
        } else {
            mc_problems_at(problems, MC_SEVERITY_ERROR, entries, "say what its answer must hold, or remove it",
                           "checkpoint \"%s\" (checkpoints.jsonl:%d) has no entry", checkpoint->id, checkpoint->line);
        }
    }
    const char *key;
    json_t *value;
    json_object_foreach (mc_view_json(entries), key, value) {
        if (!mc_ids_find(&ids, key)) {
            struct mc_view entry = mc_view_member(entries, key);
            mc_problems_at(problems, MC_SEVERITY_ERROR, &entry, "add the checkpoint, or remove the entry",
                           "checkpoints.jsonl has no checkpoint \"%.100s\"", key);
        }
    }
    mc_ids_release(&ids);
}

static void check_document(struct check *check, const struct mc_view *root, const struct mc_public *texts)
{
    struct mc_load *load = &check->load;
    struct mc_view entries = {.value = NULL};
    if (!mc_load_note(load, mc_view_is_object(root, &load->err), "write checkpoints: and an entry for each") ||
        !mc_load_note(load, mc_read_object(root, "checkpoints", MC_REQUIRED, &entries, &load->err),
                      "write checkpoints: and an entry for each")) {
        return;
    }
    mc_leaks_begin(&check->leaks, check->life, texts, load->problems);
    check_entries(check, &entries);
    mc_leaks_settle(&check->leaks);
    mc_leaks_release(&check->leaks);
}

void mc_rubric_check(const struct mc_life *life, const struct mc_public *texts, const struct mc_rubric_reader *reader,
                     struct mc_problems *problems)
{
    MC_AUTOFREE char *path = mc_path_join(life->dir, "rubric.yaml");
    struct check check = {.load = {.problems = problems, .file = path}, .life = life};
    MC_AUTODOC struct mc_doc doc;
    if (!mc_load_note(&check.load, mc_life_rubric(life, &doc, &check.load.err), "every life has a rubric.yaml")) {
        return;
    }
    struct mc_view root = mc_doc_view(&doc);
    check_document(&check, &root, texts);
    if (reader) {
        reader->read(reader->arg, &root, path, problems);
    }
}
