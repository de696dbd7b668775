#include "corpus/vary.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/digest.h"
#include "corpus/rubric.h"
#include "corpus/vary_kinds.h"

const char *const mc_vary_names[] = {"wording", "distractor", "duplicate", "reorder", "batch", "sparse", NULL};

int mc_vary_refuse(const struct mc_variation *v, struct mc_err *err, const char *why)
{
    mc_fail(err, MC_INPUT, "life \"%s\": %s", v->life->id, why);
    return mc_hint(err, "choose another kind or another life");
}

int mc_vary_keep(struct mc_variation *v, size_t index, struct mc_err *err)
{
    MC_AUTOFREE char *text = mc_life_observation(v->life, index, err);
    if (!text) {
        return err->code;
    }
    mc_draft_line_text(&v->draft.observations, text, v->life->observations[index].length);
    return 0;
}

int mc_vary_copy(const struct mc_variation *v, const char *name, struct mc_buf *out, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(v->life->dir, name);
    return mc_fs_read(path, out, err);
}

int mc_vary_copy_rest(struct mc_variation *v, struct mc_err *err)
{
    int rc = mc_vary_copy(v, "turns.jsonl", &v->draft.turns, err);
    if (rc == 0) {
        rc = mc_vary_copy(v, "checkpoints.jsonl", &v->draft.checkpoints, err);
    }
    return rc == 0 ? mc_vary_copy(v, "rubric.yaml", &v->draft.rubric, err) : rc;
}

/* life.yaml with the new identity, and what the kinds need. */
static int begin(struct mc_variation *v, const struct mc_vary *vary, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(v->life->dir, "life.yaml");
    MC_AUTODOC struct mc_doc doc;
    int rc = mc_load_yaml(path, MC_CORPUS_YAML, &doc, err);
    if (rc != 0) {
        return rc;
    }
    mc_draft_begin(&v->draft);
    json_object_update(v->draft.head, doc.root);
    MC_AUTOFREE char *id = mc_strf("%s-%s-%u", v->life->id, mc_vary_names[vary->kind], (unsigned)vary->seed);
    if (!mc_life_id_fits(id)) {
        return mc_vary_refuse(v, err, "its ID is too long for a variant's");
    }
    json_object_set_new(v->draft.head, "id", json_string(id));
    json_object_set_new(v->draft.head, "control_of", json_string(v->life->id));
    json_object_set_new(v->draft.head, "variant", json_string(mc_vary_names[vary->kind]));
    json_object_set_new(v->draft.head, "seed", json_integer(vary->seed));
    rc = mc_life_rubric(v->life, &v->rubric, err);
    if (rc == 0) {
        struct mc_view root = mc_doc_view(&v->rubric);
        mc_values_read(&root, &v->values);
        /* The kind takes part, so that two kinds with one seed do not pick the same messages. */
        v->random = mc_random_from(((uint64_t)vary->kind << 32) | vary->seed);
    }
    return rc;
}

static int make(struct mc_variation *v, enum mc_vary_kind kind, struct mc_err *err)
{
    static int (*const kinds[])(struct mc_variation *, struct mc_err *) = {
        mc_vary_wording, mc_vary_distractor, mc_vary_duplicate, mc_vary_reorder, mc_vary_batch, mc_vary_sparse};
    return kinds[kind](v, err);
}

/* 1 where `a` and `b` name the same folder. */
static int same_folder(const char *a, const char *b)
{
    MC_AUTOFREE char *left = realpath(a, NULL);
    MC_AUTOFREE char *right = realpath(b, NULL);
    return left && right && mc_streq(left, right);
}

static int prepare_out(const struct mc_corpus *corpus, const char *out, struct mc_err *err)
{
    if (same_folder(corpus->dir, out)) {
        mc_fail(err, MC_INPUT, "%s: a variant cannot be written into the corpus that it is made from", out);
        return mc_hint(err, "name another folder: the source stays as it is");
    }
    MC_AUTOFREE char *lives = mc_path_join(out, "lives");
    MC_AUTOFREE char *to = mc_path_join(out, "corpus.yaml");
    int rc = mc_fs_mkdirs(lives, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOFREE char *from = mc_path_join(corpus->dir, "corpus.yaml");
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(MC_CORPUS_YAML);
    rc = mc_fs_read(from, &bytes, err);
    if (rc != 0) {
        return rc;
    }
    if (!mc_fs_exists(to)) {
        return mc_fs_write(to, mc_buf_text(&bytes), bytes.len, 0644, err);
    }
    MC_AUTOBUF struct mc_buf there = MC_BUF_INIT(MC_CORPUS_YAML);
    rc = mc_fs_read(to, &there, err);
    if (rc == 0 && (there.len != bytes.len || memcmp(mc_buf_text(&there), mc_buf_text(&bytes), bytes.len) != 0)) {
        mc_fail(err, MC_EXISTS, "%s holds another corpus (its corpus.yaml differs)", out);
        return mc_hint(err, "name another folder");
    }
    return rc;
}

/* A byte-for-byte copy of life `id` where the corpus at `out` has none; the same life may be there already. */
static int bring_life(const struct mc_corpus *corpus, const char *id, const char *out, struct mc_err *err)
{
    MC_AUTOFREE char *from = mc_strf("%s/lives/%s", corpus->dir, id);
    MC_AUTOFREE char *to = mc_strf("%s/lives/%s", out, id);
    MC_AUTOLISTING struct mc_listing listing = {.count = 0};
    int rc = mc_listing_scan(from, &listing, err);
    if (rc != 0 || !mc_fs_exists(to)) {
        return rc == 0 ? mc_listing_export(&listing, mc_files_of_dir(from), to, err) : rc;
    }
    MC_AUTOLISTING struct mc_listing there = {.count = 0};
    rc = mc_listing_scan(to, &there, err);
    if (rc == 0 && !mc_streq(there.digest.hex, listing.digest.hex)) {
        mc_fail(err, MC_EXISTS, "%s is another life \"%s\" than the source's", to, id);
        return mc_hint(err, "write to a new folder");
    }
    return rc;
}

static int bring_lives(const struct mc_corpus *corpus, const struct mc_life *life, const char *out, struct mc_err *err)
{
    int rc = bring_life(corpus, life->id, out, err);
    MC_AUTOFREE char *next = life->control_of ? mc_strdup(life->control_of) : NULL;
    for (size_t steps = 0; rc == 0 && next && steps < corpus->life_count; steps++) {
        rc = bring_life(corpus, next, out, err);
        MC_AUTOLIFE struct mc_life *base = NULL;
        if (rc == 0) {
            rc = mc_life_load(corpus, next, &base, err);
        }
        free(next);
        next = rc == 0 && base->control_of ? mc_strdup(base->control_of) : NULL;
    }
    return rc;
}

/* The variant read back as anyone would read it: what is wrong with it is a reason to refuse it. */
static int check_result(const char *out, const char *id, struct mc_err *err)
{
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLIFE struct mc_life *life = NULL;
    int rc = mc_corpus_open(out, &corpus, err);
    if (rc == 0) {
        rc = mc_life_load(corpus, id, &life, err);
    }
    if (rc == 0) {
        MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
        struct mc_public none = {.count = 0};
        mc_rubric_check(life, &none, NULL, &problems);
        rc = mc_problems_check(&problems, err);
    }
    return rc;
}

static int write_variant(struct mc_variation *v, const struct mc_vary *vary, char **id, struct mc_err *err)
{
    const char *name = json_string_value(json_object_get(v->draft.head, "id"));
    int rc = bring_lives(v->corpus, v->life, vary->out, err);
    if (rc == 0) {
        rc = mc_draft_write(&v->draft, vary->out, err);
    }
    if (rc != 0) {
        return rc;
    }
    rc = check_result(vary->out, name, err);
    if (rc != 0) {
        struct mc_err ignored; /* the first error is the one to tell */
        MC_AUTOFREE char *dir = mc_strf("%s/lives/%s", vary->out, name);
        mc_wrap(err, "the variant would not be a valid life");
        return mc_fs_remove_tree(dir, &ignored) != 0 ? mc_hint(err, "remove %s", dir) : rc;
    }
    *id = mc_strdup(name);
    return 0;
}

static void release(struct mc_variation *v)
{
    mc_draft_release(&v->draft);
    mc_values_release(&v->values);
    mc_ids_release(&v->ids);
    mc_doc_release(&v->rubric);
}

int mc_corpus_vary(const struct mc_corpus *corpus, const struct mc_vary *vary, char **id, struct mc_err *err)
{
    MC_AUTOLIFE struct mc_life *life = NULL;
    int rc = mc_life_load(corpus, vary->life, &life, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_variation v = {.corpus = corpus, .life = life};
    if (life->variant) {
        return mc_vary_refuse(&v, err, "it is a variant itself: vary its base life");
    }
    rc = begin(&v, vary, err);
    if (rc == 0) {
        rc = make(&v, vary->kind, err);
    }
    if (rc == 0) {
        rc = prepare_out(corpus, vary->out, err);
    }
    if (rc == 0) {
        rc = write_variant(&v, vary, id, err);
    }
    release(&v);
    return rc;
}
