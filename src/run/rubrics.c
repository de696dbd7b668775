#include "run/rubrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { KEPT = 16 };

struct named {
    const char *id;
    const struct mc_checkpoint *checkpoint;
};

struct entry {
    struct mc_ruled_life ruled;
    struct named *by_id; /* the life's checkpoints, sorted */
    uint64_t used;
};

struct mc_rubrics {
    const struct mc_corpus *corpus;
    struct entry entries[KEPT];
    uint64_t clock;
};

struct mc_rubrics *mc_rubrics_new(const struct mc_corpus *corpus)
{
    struct mc_rubrics *rubrics = mc_alloc(1, sizeof *rubrics);
    rubrics->corpus = corpus;
    return rubrics;
}

static void release(struct entry *entry)
{
    mc_rubric_release(&entry->ruled.rubric);
    mc_life_free(entry->ruled.life);
    free(entry->ruled.base);
    free(entry->by_id);
    *entry = (struct entry){.by_id = NULL};
}

void mc_rubrics_free(struct mc_rubrics *rubrics)
{
    for (size_t i = 0; rubrics && i < KEPT; i++) {
        release(&rubrics->entries[i]);
    }
    free(rubrics);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->id, ((const struct named *)b)->id);
}

static int names_life(const struct mc_corpus *corpus, const char *id)
{
    size_t low = 0;
    size_t high = corpus->life_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(corpus->lives[middle], id);
        if (order == 0) {
            return 1;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

static int load(const struct mc_corpus *corpus, const char *id, struct entry *entry, struct mc_err *err)
{
    if (!names_life(corpus, id)) {
        mc_fail(err, MC_INPUT, "the corpus %s has no life \"%s\"", corpus->name, id);
        return mc_hint(err, "\"memcal corpus show DIR\" lists its lives");
    }
    MC_AUTODOC struct mc_doc doc;
    memset(&doc, 0, sizeof doc);
    int rc = mc_life_load(corpus, id, &entry->ruled.life, err);
    rc = rc ? rc : mc_corpus_base(corpus, id, &entry->ruled.base, err);
    rc = rc ? rc : mc_life_rubric(entry->ruled.life, &doc, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_view root = mc_doc_view(&doc);
    rc = mc_rubric_read(&root, NULL, NULL, &entry->ruled.rubric, err);
    if (rc == 0) {
        const struct mc_life *life = entry->ruled.life;
        entry->by_id = mc_alloc(life->checkpoint_count + 1, sizeof *entry->by_id);
        for (size_t i = 0; i < life->checkpoint_count; i++) {
            entry->by_id[i] = (struct named){life->checkpoints[i].id, &life->checkpoints[i]};
        }
        qsort(entry->by_id, life->checkpoint_count, sizeof *entry->by_id, by_id);
    }
    return rc;
}

static int get(struct mc_rubrics *rubrics, const char *life, struct entry **out, struct mc_err *err)
{
    struct entry *oldest = &rubrics->entries[0];
    for (size_t i = 0; i < KEPT; i++) {
        struct entry *entry = &rubrics->entries[i];
        if (entry->ruled.life && mc_streq(entry->ruled.life->id, life)) {
            entry->used = ++rubrics->clock;
            *out = entry;
            return 0;
        }
        oldest = entry->used < oldest->used ? entry : oldest;
    }
    release(oldest);
    int rc = load(rubrics->corpus, life, oldest, err);
    if (rc != 0) {
        release(oldest);
        return rc;
    }
    oldest->used = ++rubrics->clock;
    *out = oldest;
    return 0;
}

int mc_rubrics_get(struct mc_rubrics *rubrics, const char *life, const struct mc_ruled_life **out, struct mc_err *err)
{
    struct entry *entry;
    int rc = get(rubrics, life, &entry, err);
    if (rc == 0) {
        *out = &entry->ruled;
    }
    return rc;
}

int mc_rubrics_find(struct mc_rubrics *rubrics, const char *life, const char *checkpoint, struct mc_ruled *out,
                    struct mc_err *err)
{
    struct entry *entry;
    int rc = get(rubrics, life, &entry, err);
    if (rc != 0) {
        return rc;
    }
    struct named wanted = {.id = checkpoint};
    const struct named *found =
        bsearch(&wanted, entry->by_id, entry->ruled.life->checkpoint_count, sizeof *entry->by_id, by_id);
    if (!found) {
        mc_fail(err, MC_INPUT, "the life %s has no checkpoint \"%s\"", life, checkpoint);
        return mc_hint(err, "checkpoints.jsonl of the life lists them");
    }
    *out = (struct mc_ruled){.life = &entry->ruled,
                             .asked = found->checkpoint,
                             .rubric = mc_rubric_find(&entry->ruled.rubric, checkpoint),
                             .context = {.zone = entry->ruled.life->zone,
                                         .asked_at = found->checkpoint->at,
                                         .question = found->checkpoint->question}};
    if (!out->rubric) {
        mc_fail(err, MC_INPUT, "the rubric of the life %s says nothing of the checkpoint %s", life, checkpoint);
        return mc_hint(err, "\"memcal corpus validate\" names what it lacks");
    }
    return 0;
}
