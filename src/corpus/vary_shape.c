/* The kinds that change how a life's messages come, not what they say. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/vary_kinds.h"
#include "corpus/words.h"

enum { ID_MAX = 200 }; /* as mc_read_id() */

/* Writes observation `index` with one member changed. */
static void put_changed(struct mc_variation *v, json_t *value, const char *key, const char *text)
{
    json_object_set_new(value, key, json_string(text));
    mc_draft_line(&v->draft.observations, value);
}

/* duplicate: about one message in five comes a second time, a little later, in the same collection. Its clock of
 * writing stays, so a message that was overtaken does not become news again. */
static int put_again(struct mc_variation *v, size_t index, struct mc_err *err)
{
    const struct mc_observation *entry = &v->life->observations[index];
    MC_AUTOFREE char *id = mc_strf("%s-again", entry->source_id);
    MC_AUTOJSON json_t *value = mc_life_observation_json(v->life, index, err);
    struct mc_time arrived;
    if (!value || mc_time_parse(json_string_value(json_object_get(value, "arrived_at")), &arrived, err) != 0) {
        return err->code;
    }
    arrived.ms += 1000 * (int64_t)(1 + mc_random_below(&v->random, 120));
    if (arrived.ms > entry->collected_at.ms) {
        arrived.ms = entry->collected_at.ms;
    }
    json_object_set_new(value, "arrived_at", json_string(mc_time_format(arrived).text));
    put_changed(v, value, "source_id", id);
    return 0;
}

static int can_come_again(const struct mc_variation *v, size_t index)
{
    MC_AUTOFREE char *id = mc_strf("%s-again", v->life->observations[index].source_id);
    return strlen(id) <= ID_MAX && !mc_ids_find(&v->life->evidence, id);
}

int mc_vary_duplicate(struct mc_variation *v, struct mc_err *err)
{
    size_t count = v->life->observation_count;
    size_t made = 0;
    size_t sure = count ? mc_random_below(&v->random, count) : 0; /* at least this one */
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = mc_vary_keep(v, i, err);
        int chosen = mc_random_below(&v->random, 5) == 0 || i == sure;
        if (rc == 0 && chosen && can_come_again(v, i)) {
            rc = put_again(v, i, err);
            made++;
        }
    }
    if (rc == 0 && !made) {
        return mc_vary_refuse(v, err, "no observation can be given a second ID");
    }
    return rc == 0 ? mc_vary_copy_rest(v, err) : rc;
}

/* reorder: within a collection, messages come in another order. Delivery follows source_id, so the IDs get a number in
 * front, and the rubric's links follow. */
static int shuffle(struct mc_variation *v, size_t *order)
{
    const struct mc_observation *all = v->life->observations;
    int moved = 0;
    for (size_t first = 0; first < v->life->observation_count;) {
        size_t end = first;
        while (end < v->life->observation_count && all[end].collected_at.ms == all[first].collected_at.ms) {
            order[end] = end;
            end++;
        }
        for (size_t left = end - first; left > 1; left--) {
            size_t pick = first + mc_random_below(&v->random, left);
            size_t last = first + left - 1;
            size_t held = order[pick];
            order[pick] = order[last];
            order[last] = held;
        }
        for (size_t i = first; i < end; i++) {
            moved |= order[i] != i;
        }
        first = end;
    }
    return moved;
}

/* The new ID of an old one is found by its rank in the new order. */
static void follow_links(struct mc_variation *v, const char *list_name, json_t *entry, char **renamed)
{
    size_t i;
    json_t *slot;
    json_array_foreach (json_object_get(entry, list_name), i, slot) {
        json_t *list = json_object_get(slot, "supported_by");
        for (size_t k = 0; k < json_array_size(list); k++) {
            const struct mc_id *known = NULL;
            const char *id = json_string_value(json_array_get(list, k));
            known = id ? mc_ids_find(&v->ids, id) : NULL;
            if (known) {
                json_array_set_new(list, k, json_string(renamed[known->at]));
            }
        }
    }
}

static void put_rubric(struct mc_variation *v, char **renamed)
{
    const char *key;
    json_t *entry;
    json_object_foreach (json_object_get(v->rubric.root, "checkpoints"), key, entry) {
        follow_links(v, "slots", entry, renamed);
        follow_links(v, "options", entry, renamed);
        follow_links(v, "traps", entry, renamed);
    }
    struct mc_view root = mc_doc_view(&v->rubric);
    mc_yaml_put(&v->draft.rubric, &root);
}

static int put_reordered(struct mc_variation *v, const size_t *order, char **renamed, struct mc_err *err)
{
    for (size_t i = 0; i < v->life->observation_count; i++) {
        const char *id = v->life->observations[order[i]].source_id;
        renamed[i] = mc_strf("%06zu-%s", i + 1, id);
        if (strlen(renamed[i]) > ID_MAX || mc_ids_find(&v->life->evidence, renamed[i])) {
            return mc_vary_refuse(v, err, "its source_ids leave no room for a number in front");
        }
        int fresh;
        mc_ids_add(&v->ids, (struct mc_id){.text = id, .at = (int64_t)i}, &fresh);
        MC_AUTOJSON json_t *value = mc_life_observation_json(v->life, order[i], err);
        if (!value) {
            return err->code;
        }
        put_changed(v, value, "source_id", renamed[i]);
    }
    return 0;
}

int mc_vary_reorder(struct mc_variation *v, struct mc_err *err)
{
    enum { TRIES = 16 };
    size_t count = v->life->observation_count;
    MC_AUTOFREE size_t *order = mc_alloc(count, sizeof *order);
    int moved = 0;
    for (int i = 0; i < TRIES && !moved; i++) {
        moved = shuffle(v, order);
    }
    if (!moved) {
        return mc_vary_refuse(v, err, "no collection delivers two observations: there is no order to change");
    }
    char **renamed = mc_alloc(count, sizeof *renamed);
    int rc = put_reordered(v, order, renamed, err);
    if (rc == 0) {
        put_rubric(v, renamed);
        rc = mc_vary_copy(v, "turns.jsonl", &v->draft.turns, err);
    }
    if (rc == 0) {
        rc = mc_vary_copy(v, "checkpoints.jsonl", &v->draft.checkpoints, err);
    }
    for (size_t i = 0; i < count; i++) {
        free(renamed[i]);
    }
    free(renamed);
    return rc;
}

/* batch: some collections fall away, and what they would have delivered comes with the next. One falls away only where
 * no checkpoint is asked before that next one, so that at every checkpoint exactly the same is known. */
static int asked_between(const struct mc_life *life, int64_t from, int64_t to)
{
    for (size_t i = 0; i < life->checkpoint_count; i++) {
        if (life->checkpoints[i].at.ms >= from && life->checkpoints[i].at.ms < to) {
            return 1;
        }
    }
    return 0;
}

/* target[i] is the collection that delivers what i would have; the number that fall away. */
static size_t choose_dropped(struct mc_variation *v, size_t *target, int all)
{
    const struct mc_life *life = v->life;
    size_t dropped = 0;
    size_t kept = life->collection_count - 1;
    target[kept] = kept;
    for (size_t i = kept; i-- > 0;) {
        int chosen = all || mc_random_below(&v->random, 2) == 0;
        if (chosen && !asked_between(life, life->collections[i].ms, life->collections[kept].ms)) {
            dropped++;
        } else {
            kept = i;
        }
        target[i] = kept;
    }
    return dropped;
}

static void put_collections(struct mc_variation *v, const size_t *target)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->life->collection_count; i++) {
        if (target[i] == i) {
            json_array_append_new(list, json_string(mc_time_format(v->life->collections[i]).text));
        }
    }
    json_object_set_new(v->draft.head, "collections", list);
}

int mc_vary_batch(struct mc_variation *v, struct mc_err *err)
{
    const struct mc_life *life = v->life;
    MC_AUTOFREE size_t *target = mc_alloc(life->collection_count, sizeof *target);
    if (life->collection_count < 2 || (!choose_dropped(v, target, 0) && !choose_dropped(v, target, 1))) {
        return mc_vary_refuse(v, err,
                              "a checkpoint is asked after each collection: delivering any of them later would take "
                              "away what a checkpoint may rest on");
    }
    put_collections(v, target);
    size_t at = 0;
    for (size_t i = 0; i < life->observation_count; i++) {
        while (life->collections[at].ms != life->observations[i].collected_at.ms) {
            at++;
        }
        if (target[at] == at) {
            int rc = mc_vary_keep(v, i, err);
            if (rc != 0) {
                return rc;
            }
            continue;
        }
        MC_AUTOJSON json_t *value = mc_life_observation_json(life, i, err);
        if (!value) {
            return err->code;
        }
        put_changed(v, value, "collected_at", mc_time_format(life->collections[target[at]]).text);
    }
    return mc_vary_copy_rest(v, err);
}

/* sparse: about half of the traffic falls away that no slot rests on and that holds no value of the rubric. */
static int is_needed(const struct mc_variation *v, size_t index, const json_t *value)
{
    if (mc_ids_find(&v->values.evidence, v->life->observations[index].source_id)) {
        return 1;
    }
    static const char *const keys[] = {"text", "subject", "sender", "thread"};
    for (size_t i = 0; i < MC_COUNT(keys); i++) {
        const char *text = json_string_value(json_object_get(value, keys[i]));
        MC_AUTOFREE char *folded = mc_words_fold(text ? text : "");
        if (mc_values_in(&v->values, folded)) {
            return 1;
        }
    }
    return json_object_get(value, "structured") != NULL;
}

int mc_vary_sparse(struct mc_variation *v, struct mc_err *err)
{
    size_t removed = 0;
    for (size_t i = 0; i < v->life->observation_count; i++) {
        MC_AUTOJSON json_t *value = mc_life_observation_json(v->life, i, err);
        if (!value) {
            return err->code;
        }
        int chosen = mc_random_below(&v->random, 2) == 0 || (!removed && i + 1 == v->life->observation_count);
        if (chosen && !is_needed(v, i, value)) {
            removed++;
            continue;
        }
        int rc = mc_vary_keep(v, i, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (!removed) {
        return mc_vary_refuse(v, err,
                              "the rubric rests on every observation that could be left out, or names what it says: "
                              "leaving any out would change what can be expected");
    }
    return mc_vary_copy_rest(v, err);
}
