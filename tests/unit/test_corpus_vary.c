#include "corpus_help.h"

#include "base/random.h"
#include "corpus/lines.h"
#include "corpus/schedule.h"
#include "corpus/vary.h"
#include "corpus/vary_kinds.h"

/* Varies a life of `source` into `out`; the new ID is the caller's. */
static int vary(const char *source, const char *out, const char *life, enum mc_vary_kind kind, uint32_t seed, char **id,
                struct mc_err *err)
{
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    *id = NULL;
    assert_int_equal(mc_corpus_open(source, &corpus, err), 0);
    struct mc_vary wanted = {.life = life, .kind = kind, .seed = seed, .out = out};
    return mc_corpus_vary(corpus, &wanted, id, err);
}

static struct mc_life *load(const char *dir, const char *id)
{
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    struct mc_life *life = NULL;
    assert_int_equal(mc_corpus_open(dir, &corpus, &err), 0);
    assert_int_equal(mc_life_load(corpus, id, &life, &err), 0);
    return life;
}

static struct mc_digest digest_of(const char *dir)
{
    struct mc_err err;
    MC_AUTOLISTING struct mc_listing listing;
    assert_int_equal(mc_listing_scan(dir, &listing, &err), 0);
    return listing.digest;
}

/* First numbers of the reference implementation for seed 42, by a Python transcription of the authors' code. */
static void the_numbers_are_the_reference_ones(void **state)
{
    (void)state;
    struct mc_random prng = mc_random_from(42);
    static const uint64_t expected[] = {UINT64_C(0x15780b2e0c2ec716), UINT64_C(0x6104d9866d113a7e),
                                        UINT64_C(0xae17533239e499a1), UINT64_C(0xecb8ad4703b360a1)};
    for (size_t i = 0; i < MC_COUNT(expected); i++) {
        assert_true(mc_random_next(&prng) == expected[i]);
    }
    size_t counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        counts[mc_random_below(&prng, 7)]++;
    }
    for (size_t i = 0; i < 7; i++) {
        assert_in_range(counts[i], 9500, 10500);
    }
}

static void every_kind_gives_a_valid_life_and_leaves_the_source(void **state)
{
    (void)state;
    char *source = small_copy();
    char *out = new_folder();
    struct mc_digest before = digest_of(source);
    for (int kind = 0; mc_vary_names[kind]; kind++) {
        for (uint32_t seed = 1; seed <= 5; seed++) {
            struct mc_err err = {.text = ""};
            MC_AUTOFREE char *id = NULL;
            int rc = vary(source, out, "choir-stays", (enum mc_vary_kind)kind, seed, &id, &err);
            if (rc != 0) {
                print_message("%s %u: %s\n", mc_vary_names[kind], seed, err.text);
            }
            assert_int_equal(rc, 0);
            MC_AUTOFREE char *expected = mc_strf("choir-stays-%s-%u", mc_vary_names[kind], seed);
            assert_string_equal(id, expected);
            MC_AUTOLIFE struct mc_life *life = load(out, id);
            assert_string_equal(life->control_of, "choir-stays");
            assert_string_equal(life->variant, mc_vary_names[kind]);
            assert_int_equal(life->seed, seed);
            assert_int_equal(life->checkpoint_count, 2);
        }
    }
    assert_valid(out);
    assert_string_equal(digest_of(source).hex, before.hex);
    MC_AUTOFREE char *copy = mc_path_join(out, "lives/choir-move");
    MC_AUTOFREE char *original = mc_path_join(source, "lives/choir-move");
    assert_string_equal(digest_of(copy).hex, digest_of(original).hex); /* the base came along */
    remove_folder(source);
    remove_folder(out);
}

static void one_seed_one_corpus(void **state)
{
    (void)state;
    struct mc_digest digests[3];
    for (uint32_t i = 0; i < 3; i++) {
        char *out = new_folder();
        for (int kind = MC_VARY_DISTRACTOR; kind <= MC_VARY_SPARSE; kind++) {
            struct mc_err err;
            MC_AUTOFREE char *id = NULL;
            assert_int_equal(vary(SMALL, out, "choir-move", (enum mc_vary_kind)kind, i < 2 ? 3 : 4, &id, &err), 0);
        }
        digests[i] = digest_of(out);
        remove_folder(out);
    }
    assert_string_equal(digests[0].hex, digests[1].hex);
    assert_string_not_equal(digests[0].hex, digests[2].hex);
}

/* At every checkpoint of the variant, the same evidence is known as in its source. */
static size_t known_at(const struct mc_life *life, size_t checkpoint)
{
    size_t known = 0;
    for (size_t i = 0; i < life->observation_count; i++) {
        known += life->observations[i].collected_at.ms <= life->checkpoints[checkpoint].at.ms;
    }
    return known;
}

static void a_batch_changes_nothing_that_a_checkpoint_can_know(void **state)
{
    (void)state;
    char *out = new_folder();
    MC_AUTOLIFE struct mc_life *source = load(SMALL, "choir-move");
    for (uint32_t seed = 0; seed < 12; seed++) {
        struct mc_err err;
        MC_AUTOFREE char *id = NULL;
        assert_int_equal(vary(SMALL, out, "choir-move", MC_VARY_BATCH, seed, &id, &err), 0);
        MC_AUTOLIFE struct mc_life *life = load(out, id);
        assert_true(life->collection_count < source->collection_count);
        assert_int_equal(life->observation_count, source->observation_count);
        for (size_t i = 0; i < life->checkpoint_count; i++) {
            assert_int_equal(known_at(life, i), known_at(source, i));
        }
    }
    remove_folder(out);
}

static void a_reordered_life_has_its_links_follow(void **state)
{
    (void)state;
    char *out = new_folder();
    struct mc_err err;
    MC_AUTOFREE char *id = NULL;
    assert_int_equal(vary(SMALL, out, "choir-move", MC_VARY_REORDER, 2, &id, &err), 0);
    MC_AUTOLIFE struct mc_life *life = load(out, id);
    MC_AUTOLIFE struct mc_life *source = load(SMALL, "choir-move");
    assert_int_equal(life->observation_count, source->observation_count);
    int moved = 0;
    for (size_t i = 0; i < life->observation_count; i++) {
        MC_AUTOFREE char *number = mc_strf("%06zu-", i + 1);
        assert_int_equal(strncmp(life->observations[i].source_id, number, strlen(number)), 0);
        moved |= !mc_streq(life->observations[i].source_id + strlen(number), source->observations[i].source_id);
        assert_true(life->observations[i].collected_at.ms == source->observations[i].collected_at.ms);
    }
    assert_true(moved);
    MC_AUTODOC struct mc_doc doc;
    assert_int_equal(mc_life_rubric(life, &doc, &err), 0);
    json_t *checkpoints = json_object_get(doc.root, "checkpoints");
    json_t *slot = json_array_get(json_object_get(json_object_get(checkpoints, "after/plan"), "slots"), 1);
    assert_string_equal(json_string_value(json_array_get(json_object_get(slot, "supported_by"), 0)),
                        "000004-em-confirm");
    assert_string_equal(json_string_value(json_object_get(slot, "expected")), "2026-11-03");
    remove_folder(out);
}

static void a_sparse_life_keeps_its_evidence(void **state)
{
    (void)state;
    char *out = new_folder();
    static const char *const kept[] = {"em-welcome", "wa-boiler", "em-confirm"};
    for (uint32_t seed = 0; seed < 12; seed++) {
        struct mc_err err;
        MC_AUTOFREE char *id = NULL;
        assert_int_equal(vary(SMALL, out, "choir-move", MC_VARY_SPARSE, seed, &id, &err), 0);
        MC_AUTOLIFE struct mc_life *life = load(out, id);
        assert_true(life->observation_count < 6);
        for (size_t i = 0; i < MC_COUNT(kept); i++) {
            assert_non_null(mc_ids_find(&life->evidence, kept[i]));
        }
    }
    remove_folder(out);
}

static void duplicates_come_in_the_same_collection(void **state)
{
    (void)state;
    char *out = new_folder();
    struct mc_err err;
    MC_AUTOFREE char *id = NULL;
    assert_int_equal(vary(SMALL, out, "choir-move", MC_VARY_DUPLICATE, 7, &id, &err), 0);
    MC_AUTOLIFE struct mc_life *life = load(out, id);
    size_t doubled = 0;
    for (size_t i = 0; i < life->observation_count; i++) {
        const struct mc_observation *entry = &life->observations[i];
        size_t length = strlen(entry->source_id);
        if (length > 6 && mc_streq(entry->source_id + length - 6, "-again")) {
            MC_AUTOFREE char *first = mc_strndup(entry->source_id, length - 6);
            const struct mc_id *original = mc_ids_find(&life->evidence, first);
            assert_non_null(original);
            assert_true(original->at == entry->collected_at.ms);
            doubled++;
        }
    }
    assert_int_equal(life->observation_count, 6 + doubled);
    assert_true(doubled > 0);
    remove_folder(out);
}

/* The same text comes back for any seed where only facts stand in it; where words can change, the facts stay. */
static void rewording_leaves_facts_alone(void **state)
{
    (void)state;
    static const char *const untouched[] = {
        "Poker is at Jordan's at 8pm on Friday",
        "Don't you think so",
        "Why isn't it at Sam's",
        "thanks to John the roof holds",
        "see https://example.com/do-not/maybe-later",
        "We are going to Boston",
        "I DO NOT WANT TO GO",
        "tell me a story",
        "Samantha said no",
        "at 7 p.m.",
    };
    for (size_t i = 0; i < MC_COUNT(untouched); i++) {
        for (uint64_t seed = 0; seed < 50; seed++) {
            struct mc_random prng = mc_random_from(seed);
            MC_AUTOFREE char *text = mc_reword(untouched[i], &prng);
            size_t length = strlen(untouched[i]);
            /* the last full stop may come or go */
            assert_int_equal(strncmp(text, untouched[i], length), 0);
            assert_true(text[length] == '\0' || mc_streq(text + length, "."));
        }
    }
}

static void rewording_changes_what_carries_no_fact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *other;
    } cases[] = {
        {"I do not know yet", "I don't know yet"},
        {"I can't make it at 8pm", "I cannot make it at 8pm"},
        {"Maybe on Friday, at Jordan's!", "Perhaps on Friday, at Jordan's!"},
        {"I\xe2\x80\x99m late, let me know!", "I am late, tell me!"},
        {"btw it's the 12th!", "by the way it's the 12th!"},
        {"Hey Sam, 12 Ash Street!", "Hello Sam, 12 Ash Street!"},
        {"The boiler is broken.", "The boiler is broken"},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        int found = 0;
        for (uint64_t seed = 0; seed < 200 && !found; seed++) {
            struct mc_random prng = mc_random_from(seed);
            MC_AUTOFREE char *text = mc_reword(cases[i].text, &prng);
            found = mc_streq(text, cases[i].other);
        }
        if (!found) {
            fail_msg("never became: %s", cases[i].other);
        }
    }
}

/* A rubric that names what a rewording would change keeps the text as it was. */
static void wording_keeps_the_values_of_the_rubric(void **state)
{
    (void)state;
    char *source = small_copy();
    char *out = new_folder();
    size_t made = 0;
    edit(source, "lives/choir-stays/rubric.yaml", "expected: in the car", "expected: I'll be there");
    for (uint32_t seed = 0; seed < 10; seed++) {
        struct mc_err err;
        MC_AUTOFREE char *id = NULL;
        if (vary(source, out, "choir-stays", MC_VARY_WORDING, seed, &id, &err) != 0) {
            continue; /* nothing else to change with this seed */
        }
        MC_AUTOFREE char *name = mc_strf("lives/%s/observations.jsonl", id);
        MC_AUTOFREE char *text = get_text(out, name);
        assert_non_null(strstr(text, "Sure, I'll be there at half past six"));
        assert_non_null(strstr(text, "Larch Street chapel"));
        made++;
    }
    assert_true(made > 0);
    remove_folder(source);
    remove_folder(out);
}

static void what_cannot_be_varied_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct mc_err err;
    char *source = small_copy();
    char *out = new_folder();
    MC_AUTOFREE char *id = NULL;
    assert_int_equal(vary(source, source, "choir-move", MC_VARY_BATCH, 1, &id, &err), MC_INPUT);
    assert_non_null(strstr(err.text, ": a variant cannot be written into the corpus that it is made from"));
    assert_int_equal(vary(source, out, "choir-move", MC_VARY_BATCH, 1, &id, &err), 0);
    MC_AUTOFREE char *again = NULL;
    assert_int_equal(vary(source, out, "choir-move", MC_VARY_BATCH, 1, &again, &err), MC_EXISTS);
    assert_non_null(strstr(err.text, "lives/choir-move-batch-1 exists already"));
    char *further = new_folder();
    assert_int_equal(vary(out, further, id, MC_VARY_SPARSE, 1, &again, &err), MC_INPUT);
    assert_string_equal(err.text, "life \"choir-move-batch-1\": it is a variant itself: vary its base life");
    /* Each collection followed by a checkpoint: nothing can come later. */
    static const char *const times[] = {"2026-10-31T19:59:00-04:00", "2026-11-01T07:59:00-05:00",
                                        "2026-11-01T19:59:00-05:00", "2026-11-02T07:59:00-05:00"};
    struct mc_buf checks = MC_BUF_OWN;
    struct mc_buf rubric = MC_BUF_OWN;
    mc_buf_puts(&rubric, "checkpoints:\n");
    for (size_t i = 0; i < MC_COUNT(times); i++) {
        mc_buf_putf(&checks, "{\"id\":\"c%zu\",\"at\":\"%s\",\"session\":\"s\",\"question\":\"?\",\"deadline_s\":9}\n",
                    i, times[i]);
        mc_buf_putf(&rubric, "  c%zu:\n    mode: unanswerable\n    slots: [{id: a, kind: abstain, match: text}]\n", i);
    }
    put(source, "lives/choir-move/checkpoints.jsonl", mc_buf_text(&checks), checks.len);
    put(source, "lives/choir-move/rubric.yaml", mc_buf_text(&rubric), rubric.len);
    assert_int_equal(vary(source, further, "choir-move", MC_VARY_BATCH, 1, &again, &err), MC_INPUT);
    assert_string_equal(err.text, "life \"choir-move\": a checkpoint is asked after each collection: delivering any of "
                                  "them later would take away what a checkpoint may rest on");
    mc_buf_release(&checks);
    mc_buf_release(&rubric);
    remove_folder(source);
    remove_folder(out);
    remove_folder(further);
}

static void a_life_of_evidence_alone_has_no_sparse_variant(void **state)
{
    (void)state;
    char *source = small_copy();
    char *out = new_folder();
    edit(source, "lives/choir-stays/rubric.yaml", "supported_by: [t-fix]",
         "supported_by: [t-fix, wa-lunch, im-ride, im-answer]");
    struct mc_err err;
    MC_AUTOFREE char *id = NULL;
    assert_int_equal(vary(source, out, "choir-stays", MC_VARY_SPARSE, 1, &id, &err), MC_INPUT);
    assert_string_equal(err.text,
                        "life \"choir-stays\": the rubric rests on every observation that could be left out, or names "
                        "what it says: leaving any out would change what can be expected");
    MC_AUTOFREE char *lives = mc_path_join(out, "lives");
    assert_false(mc_fs_exists(lives)); /* refused before anything was written */
    remove_folder(source);
    remove_folder(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_the_reference_ones),
        cmocka_unit_test(every_kind_gives_a_valid_life_and_leaves_the_source),
        cmocka_unit_test(one_seed_one_corpus),
        cmocka_unit_test(a_batch_changes_nothing_that_a_checkpoint_can_know),
        cmocka_unit_test(a_reordered_life_has_its_links_follow),
        cmocka_unit_test(a_sparse_life_keeps_its_evidence),
        cmocka_unit_test(duplicates_come_in_the_same_collection),
        cmocka_unit_test(rewording_leaves_facts_alone),
        cmocka_unit_test(rewording_changes_what_carries_no_fact),
        cmocka_unit_test(wording_keeps_the_values_of_the_rubric),
        cmocka_unit_test(what_cannot_be_varied_is_refused_with_the_reason),
        cmocka_unit_test(a_life_of_evidence_alone_has_no_sparse_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
