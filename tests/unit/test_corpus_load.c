#include "corpus_help.h"

#include "corpus/lines.h"
#include "corpus/schedule.h"

static struct mc_life *load(const char *dir, const char *id)
{
    struct mc_err err = {.text = ""};
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    struct mc_life *life = NULL;
    assert_int_equal(mc_corpus_open(dir, &corpus, &err), 0);
    int rc = mc_life_load(corpus, id, &life, &err);
    if (rc != 0) {
        print_message("%s\n", err.text);
    }
    assert_int_equal(rc, 0);
    return life;
}

static void a_corpus_tells_what_it_holds(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    assert_int_equal(mc_corpus_open(SMALL, &corpus, &err), 0);
    assert_string_equal(corpus->name, "small");
    assert_string_equal(corpus->version, "1");
    assert_string_equal(corpus->license, "CC0-1.0");
    assert_int_equal(corpus->channel_count, 3);
    assert_string_equal(corpus->channels[1], "whatsapp");
    assert_int_equal(corpus->life_count, 2);
    assert_string_equal(corpus->lives[0], "choir-move");
    assert_string_equal(corpus->lives[1], "choir-stays");
}

static void a_life_has_all_its_fields(void **state)
{
    (void)state;
    MC_AUTOLIFE struct mc_life *life = load(SMALL, "choir-stays");
    assert_string_equal(life->title, "A rehearsal that stays where it was");
    assert_string_equal(life->owner, "Nadia");
    assert_string_equal(life->timezone, "America/New_York");
    assert_string_equal(life->family, "choir");
    assert_string_equal(life->bet, "The same week without the change.");
    assert_int_equal(life->role, MC_LIFE_DEVELOPMENT);
    assert_string_equal(life->control_of, "choir-move");
    assert_null(life->variant);
    assert_string_equal(mc_time_format(life->starts).text, "2026-10-30T08:00:00-04:00");
    assert_string_equal(mc_time_format(life->ends).text, "2026-11-03T22:00:00-05:00");
    assert_int_equal(life->collection_count, 5);
    assert_int_equal(life->night_count, 2);
    assert_int_equal(life->observation_count, 4);
    assert_int_equal(life->turn_count, 2);
    assert_string_equal(life->turns[1].text, "Small correction: the scarf was in the car all along.");
    assert_int_equal(life->checkpoint_count, 2);
    assert_string_equal(life->checkpoints[1].id, "after/scarf");
    assert_int_equal(life->checkpoints[1].deadline_s, 60);
}

/* What is delivered is the line of the file, byte for byte: 1.50 stays 1.50. */
static void observations_are_word_for_word(void **state)
{
    (void)state;
    MC_AUTOLIFE struct mc_life *life = load(SMALL, "choir-move");
    MC_AUTOFREE char *file = get_text(SMALL, "lives/choir-move/observations.jsonl");
    struct mc_err err;
    for (size_t i = 0; i < life->observation_count; i++) {
        MC_AUTOFREE char *line = mc_life_observation(life, i, &err);
        assert_non_null(line);
        assert_int_equal(strlen(line), life->observations[i].length);
        assert_memory_equal(file + life->observations[i].offset, line, strlen(line));
        MC_AUTOJSON json_t *value = mc_life_observation_json(life, i, &err);
        assert_string_equal(json_string_value(json_object_get(value, "source_id")), life->observations[i].source_id);
    }
    MC_AUTOFREE char *booking = mc_life_observation(life, 3, &err);
    assert_non_null(strstr(booking, "\"seats\":1.50"));
}

static void delivery_is_by_collection_then_source_id(void **state)
{
    (void)state;
    MC_AUTOLIFE struct mc_life *life = load(SMALL, "choir-move");
    static const char *const order[] = {"em-welcome", "wa-boiler", "wa-lunch", "em-confirm", "im-answer", "im-ride"};
    assert_int_equal(life->observation_count, MC_COUNT(order));
    for (size_t i = 0; i < MC_COUNT(order); i++) {
        assert_string_equal(life->observations[i].source_id, order[i]);
    }
}

static void the_schedule_is_in_order_of_time_and_kind(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        const char *at;
        size_t index, first, count;
    } steps[] = {{"import", "2026-10-31T08:00:00-04:00", 0, 0, 1}, {"probe", "2026-10-31T08:00:00-04:00", 0, 0, 0},
                 {"turn", "2026-10-31T12:00:00-04:00", 0, 0, 0},   {"import", "2026-10-31T20:00:00-04:00", 1, 1, 2},
                 {"night", "2026-10-31T23:30:00-04:00", 0, 0, 0},  {"import", "2026-11-01T08:00:00-05:00", 2, 3, 1},
                 {"import", "2026-11-01T20:00:00-05:00", 3, 4, 2}, {"night", "2026-11-01T23:30:00-05:00", 1, 0, 0},
                 {"turn", "2026-11-02T07:00:00-05:00", 1, 0, 0},   {"import", "2026-11-02T08:00:00-05:00", 4, 6, 0},
                 {"probe", "2026-11-02T09:00:00-05:00", 1, 0, 0},  {"probe", "2026-11-02T09:05:00-05:00", 2, 0, 0},
                 {"probe", "2026-11-02T09:10:00-05:00", 3, 0, 0}};
    MC_AUTOLIFE struct mc_life *life = load(SMALL, "choir-move");
    MC_AUTOSCHEDULE struct mc_schedule schedule;
    mc_life_schedule(life, &schedule);
    assert_int_equal(schedule.count, MC_COUNT(steps));
    for (size_t i = 0; i < MC_COUNT(steps); i++) {
        assert_string_equal(mc_step_name(schedule.steps[i].kind), steps[i].kind);
        assert_string_equal(mc_time_format(schedule.steps[i].at).text, steps[i].at);
        assert_int_equal(schedule.steps[i].index, steps[i].index);
        assert_int_equal(schedule.steps[i].first, steps[i].first);
        assert_int_equal(schedule.steps[i].count, steps[i].count);
    }
}

static void at_one_instant_import_night_turn_probe(void **state)
{
    (void)state;
    char *folder = small_copy();
    edit(folder, "lives/choir-move/life.yaml", "2026-10-31T23:30:00-04:00", "2026-10-31T08:00:00-04:00");
    edit(folder, "lives/choir-move/turns.jsonl", "2026-10-31T12:00:00-04:00", "2026-10-31T12:00:00+00:00");
    MC_AUTOLIFE struct mc_life *life = load(folder, "choir-move");
    MC_AUTOSCHEDULE struct mc_schedule schedule;
    mc_life_schedule(life, &schedule);
    static const char *const kinds[] = {"import", "night", "turn", "probe"};
    for (size_t i = 0; i < MC_COUNT(kinds); i++) {
        assert_string_equal(mc_step_name(schedule.steps[i].kind), kinds[i]);
    }
    remove_folder(folder);
}

static void the_rubric_is_not_needed_for_the_public_part(void **state)
{
    (void)state;
    char *folder = small_copy();
    MC_AUTOFREE char *rubric = mc_path_join(folder, "lives/choir-move/rubric.yaml");
    assert_int_equal(unlink(rubric), 0);
    MC_AUTOLIFE struct mc_life *life = load(folder, "choir-move");
    assert_int_equal(life->checkpoint_count, 4);
    struct mc_doc doc;
    struct mc_err err;
    assert_int_equal(mc_life_rubric(life, &doc, &err), MC_NOT_FOUND);
    MC_AUTOPROBLEMS struct mc_problems public_only = {.count = 0};
    mc_corpus_validate(folder, 0, &public_only);
    assert_int_equal(public_only.errors, 0);
    remove_folder(folder);
}

static void the_rubric_is_handed_to_the_grader(void **state)
{
    (void)state;
    MC_AUTOLIFE struct mc_life *life = load(SMALL, "choir-move");
    MC_AUTODOC struct mc_doc doc;
    struct mc_err err;
    assert_int_equal(mc_life_rubric(life, &doc, &err), 0);
    assert_int_equal(json_object_size(json_object_get(doc.root, "checkpoints")), 4);
}

static void a_file_that_changes_in_use_is_noticed(void **state)
{
    (void)state;
    char *folder = small_copy();
    MC_AUTOLIFE struct mc_life *life = load(folder, "choir-move");
    MC_AUTOFREE char *path = mc_path_join(folder, "lives/choir-move/observations.jsonl");
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)life->observations[2].offset + 40, SEEK_SET), 0);
    assert_int_equal(fputc('X', file), 'X');
    assert_int_equal(fclose(file), 0);
    struct mc_err err;
    assert_null(mc_life_observation(life, 2, &err));
    assert_int_equal(err.code, MC_MISMATCH);
    assert_non_null(strstr(err.text, "observations.jsonl:2 changed while it was in use"));
    remove_folder(folder);
}

static void the_base_is_at_the_root_of_the_links(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    assert_int_equal(mc_corpus_open(SMALL, &corpus, &err), 0);
    for (size_t i = 0; i < corpus->life_count; i++) {
        MC_AUTOFREE char *base = NULL;
        assert_int_equal(mc_corpus_base(corpus, corpus->lives[i], &base, &err), 0);
        assert_string_equal(base, "choir-move");
    }
    MC_AUTOFREE char *none = NULL;
    assert_int_equal(mc_corpus_base(corpus, "opera", &none, &err), MC_NOT_FOUND);
}

static void links_in_a_circle_have_no_base(void **state)
{
    (void)state;
    char *folder = small_copy();
    edit(folder, "lives/choir-move/life.yaml", "role: development", "role: development\ncontrol_of: choir-stays");
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOFREE char *base = NULL;
    assert_int_equal(mc_corpus_open(folder, &corpus, &err), 0);
    assert_int_equal(mc_corpus_base(corpus, "choir-move", &base, &err), MC_INPUT);
    MC_AUTOFREE char *says = mc_strf("%s: the control_of links of life \"choir-move\" go round in a circle", folder);
    assert_string_equal(err.text, says);
    remove_folder(folder);
}

static void wrong_names_say_so(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLIFE struct mc_life *life = NULL;
    assert_int_equal(mc_corpus_open("/nonexistent", &corpus, &err), MC_INPUT);
    assert_string_equal(err.text, "/nonexistent: no such folder");
    assert_int_equal(mc_corpus_open(SMALL "/corpus.yaml", &corpus, &err), MC_INPUT);
    assert_string_equal(err.text, SMALL "/corpus.yaml: is not a folder");
    assert_int_equal(mc_corpus_open(SMALL, &corpus, &err), 0);
    assert_int_equal(mc_life_load(corpus, "opera", &life, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "the corpus " SMALL " has no life \"opera\"");
    assert_string_equal(err.hint, "memcal corpus show lists its lives");
}

static void loading_fails_with_the_first_error_and_their_number(void **state)
{
    (void)state;
    char *folder = small_copy();
    edit(folder, "lives/choir-move/observations.jsonl", "\"channel\":\"whatsapp\"", "\"channel\":\"pigeon\"");
    edit(folder, "lives/choir-move/turns.jsonl", "\"session\":\"mon\",", "");
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLIFE struct mc_life *life = NULL;
    assert_int_equal(mc_corpus_open(folder, &corpus, &err), 0);
    assert_int_equal(mc_life_load(corpus, "choir-move", &life, &err), MC_INPUT);
    MC_AUTOFREE char *says =
        mc_strf("%s/lives/choir-move/observations.jsonl:2: .channel: the corpus has no channel \"pigeon\"", folder);
    assert_string_equal(err.text, says);
    assert_non_null(strstr(err.hint, "(one of 2 errors: memcal corpus validate shows them all)"));
    remove_folder(folder);
}

static void lines_end_in_lf_or_crlf_or_the_file(void **state)
{
    (void)state;
    char *folder = new_folder();
    MC_AUTOFREE char *path = mc_path_join(folder, "l");
    put_text(folder, "l", "{\"a\":1}\r\n{\"b\":2}\n{\"c\":3}");
    struct mc_err err;
    MC_AUTOLINES struct mc_jsonl *lines = NULL;
    assert_int_equal(mc_jsonl_open(path, 100, &lines, &err), 0);
    static const struct {
        const char *text;
        uint64_t offset;
    } expected[] = {{"{\"a\":1}", 0}, {"{\"b\":2}", 9}, {"{\"c\":3}", 17}};
    for (int i = 0; i < 3; i++) {
        struct mc_line line;
        assert_int_equal(mc_jsonl_next(lines, &line, &err), 1);
        assert_string_equal(line.text, expected[i].text);
        assert_int_equal(line.number, i + 1);
        assert_int_equal(line.offset, expected[i].offset);
    }
    struct mc_line line;
    assert_int_equal(mc_jsonl_next(lines, &line, &err), 0);
    assert_int_equal(mc_jsonl_next(lines, &line, &err), 0);
    remove_folder(folder);
}

static void bad_lines_are_named_and_passed(void **state)
{
    (void)state;
    char *folder = new_folder();
    MC_AUTOFREE char *path = mc_path_join(folder, "l");
    static const char text[] = "\xef\xbb\xbf{}\n\n0123456789x\nab\0c\n0123456789\r\n   \n{}\n";
    put(folder, "l", text, sizeof text - 1);
    struct mc_err err;
    MC_AUTOLINES struct mc_jsonl *lines = NULL;
    assert_int_equal(mc_jsonl_open(path, 10, &lines, &err), 0);
    static const char *const says[] = {":1: the file starts with a byte order mark",
                                       ":2: the line is empty",
                                       ":3: the line is longer than 10 bytes",
                                       ":4: the line holds a NUL byte",
                                       NULL,
                                       ":6: the line is empty",
                                       NULL};
    for (size_t i = 0; i < MC_COUNT(says); i++) {
        struct mc_line line;
        int rc = mc_jsonl_next(lines, &line, &err);
        if (says[i]) {
            assert_int_equal(rc, i == 2 ? MC_LIMIT : MC_INPUT);
            assert_string_equal(err.text + strlen(path), says[i]);
            assert_true(err.hint[0] != '\0');
        } else {
            assert_int_equal(rc, 1);
            assert_int_equal(line.number, i + 1);
        }
    }
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_corpus_tells_what_it_holds),
        cmocka_unit_test(a_life_has_all_its_fields),
        cmocka_unit_test(observations_are_word_for_word),
        cmocka_unit_test(delivery_is_by_collection_then_source_id),
        cmocka_unit_test(the_schedule_is_in_order_of_time_and_kind),
        cmocka_unit_test(at_one_instant_import_night_turn_probe),
        cmocka_unit_test(the_rubric_is_not_needed_for_the_public_part),
        cmocka_unit_test(the_rubric_is_handed_to_the_grader),
        cmocka_unit_test(a_file_that_changes_in_use_is_noticed),
        cmocka_unit_test(the_base_is_at_the_root_of_the_links),
        cmocka_unit_test(links_in_a_circle_have_no_base),
        cmocka_unit_test(wrong_names_say_so),
        cmocka_unit_test(loading_fails_with_the_first_error_and_their_number),
        cmocka_unit_test(lines_end_in_lf_or_crlf_or_the_file),
        cmocka_unit_test(bad_lines_are_named_and_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
