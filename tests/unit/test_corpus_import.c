#include "corpus_help.h"
#include "support/locomo.h"

#include "corpus/import.h"
#include "corpus/import_parts.h"
#include "corpus/json_items.h"

#include <archive.h>
#include <archive_entry.h>

static json_int_t number(const json_t *report, const char *key)
{
    return json_integer_value(json_object_get(report, key));
}

static size_t left_of_kind(const json_t *report, const char *kind)
{
    size_t count = 0;
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(report, "left_out"), i, entry) {
        count += mc_streq(json_string_value(json_object_get(entry, "kind")), kind) ? 1 : 0;
    }
    return count;
}

/* The entry of left_out or repaired whose `what` is that. */
static const json_t *find_entry(const json_t *report, const char *list, const char *what)
{
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(report, list), i, entry) {
        if (mc_streq(json_string_value(json_object_get(entry, "what")), what)) {
            return entry;
        }
    }
    return NULL;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_t *slot_of(const json_t *rubric, const char *checkpoint)
{
    json_t *entry = json_object_get(json_object_get(rubric, "checkpoints"), checkpoint);
    return json_array_get(json_object_get(entry, "slots"), 0);
}

static struct mc_life *load(const char *dir, const char *id)
{
    struct mc_err err = {.text = ""};
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    struct mc_life *life = NULL;
    assert_int_equal(mc_corpus_open(dir, &corpus, &err), 0);
    assert_int_equal(mc_life_load(corpus, id, &life, &err), 0);
    return life;
}

static const char flat[] =
    "{\"speaker_a\":\"Ada\",\"speaker_b\":\"Bo\",\"session_1_date_time\":\"4:04 pm on 20 January, 2023\","
    "\"session_1\":[{\"speaker\":\"Ada\",\"dia_id\":\"D1:1\",\"text\":\"I planted six pear trees.\"},"
    "{\"speaker\":\"Bo\",\"dia_id\":\"D1:2\",\"text\":\"Lovely!\",\"blip_caption\":\"a muddy spade\","
    "\"img_url\":[\"u\"],\"query\":\"spade\"}],"
    "\"session_2_date_time\":\"12:30 am on 3 March, 2023\",\"session_2\":[{\"speaker\":\"Bo\",\"dia_id\":\"D2:1\","
    "\"text\":\"The heron is back.\"}],\"session_3_date_time\":\"9:00 am on 4 March, 2023\",\"qa\":["
    "{\"question\":\"How many trees did Ada plant?\",\"answer\":6,\"evidence\":[\"D:1:01; D9:9\"],\"category\":4},"
    "{\"question\":\"What did Bo plant?\",\"adversarial_answer\":\"pear "
    "trees\",\"evidence\":[\"D1:1\"],\"category\":5},"
    "{\"question\":\"What trees are pear trees?\",\"answer\":\"Pear trees.\",\"evidence\":[\"D1:1\"],\"category\":4},"
    "{\"question\":\"When did the heron return?\",\"answer\":\"3 March, 2023\",\"evidence\":[\"D2:1 "
    "d1:02\"],\"category\":2},"
    "{\"question\":\"Who saw it?\",\"evidence\":[\"D\"],\"category\":4}]}";

static void check_small_locomo(const json_t *report, const char *out, const char *id)
{
    assert_valid(out);
    assert_int_equal(number(report, "lives"), 1);
    assert_int_equal(number(report, "observations"), 3);
    assert_int_equal(number(report, "questions"), 5);
    assert_int_equal(number(report, "carried"), 3);
    assert_int_equal(left_of_kind(report, "question"), 2);
    assert_string_equal(text_of(find_entry(report, "left_out", "What trees are pear trees?"), "reason"),
                        "the question contains its own answer");
    assert_string_equal(text_of(find_entry(report, "left_out", "Who saw it?"), "reason"), "it has no answer");
    assert_string_equal(text_of(find_entry(report, "left_out", "D:1:01; D9:9"), "reason"),
                        "the conversation has no such message");
    assert_string_equal(text_of(find_entry(report, "repaired", "D:1:01; D9:9"), "how"), "read as D1:1");
    assert_int_equal(left_of_kind(report, "session"), 1);
    MC_AUTOLIFE struct mc_life *life = load(out, id);
    struct mc_err err;
    assert_string_equal(life->owner, "Ada");
    assert_string_equal(life->observations[1].source_id, "D1:2");
    assert_string_equal(mc_time_format(life->observations[0].collected_at).text, "2023-01-20T16:05:00+00:00");
    assert_string_equal(mc_time_format(life->observations[2].collected_at).text, "2023-03-03T00:30:30+00:00");
    MC_AUTOJSON json_t *photo = mc_life_observation_json(life, 1, &err);
    assert_string_equal(text_of(photo, "text"), "Lovely!\n[shares a photo: a muddy spade]");
    MC_AUTODOC struct mc_doc doc;
    assert_int_equal(mc_life_rubric(life, &doc, &err), 0);
    json_t *trees = slot_of(doc.root, "qa-000");
    assert_string_equal(text_of(trees, "match"), "number");
    assert_string_equal(text_of(trees, "expected"), "6");
    assert_int_equal(json_array_size(json_object_get(trees, "supported_by")), 1);
    json_t *none = slot_of(doc.root, "qa-001");
    assert_string_equal(text_of(none, "kind"), "abstain");
    assert_string_equal(json_string_value(json_array_get(json_object_get(none, "forbidden"), 0)), "pear trees");
    assert_int_equal(json_array_size(json_object_get(slot_of(doc.root, "qa-003"), "supported_by")), 2);
    assert_string_equal(text_of(slot_of(doc.root, "qa-003"), "match"), "date");
}

static void write_zip(const char *path, const char *name, const char *content, size_t length)
{
    struct archive *zip = archive_write_new();
    assert_int_equal(archive_write_set_format_zip(zip), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(zip, path), ARCHIVE_OK);
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (la_int64_t)length);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    assert_int_equal(archive_write_header(zip, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(zip, content, length), (la_ssize_t)length);
    archive_entry_free(entry);
    assert_int_equal(archive_write_free(zip), ARCHIVE_OK);
}

/* The same conversation as a file, in a folder, in a ZIP, and in the layout with "conversation". */
static void locomo_comes_in_four_shapes(void **state)
{
    (void)state;
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    put_text(folder, "in/7.json", flat);
    put_text(folder, "in/notes.txt", "not a conversation");
    MC_AUTOJSON json_t *sample = json_loads(flat, 0, NULL);
    MC_AUTOJSON json_t *list =
        json_pack("[{s:s,s:O,s:O}]", "sample_id", "7", "conversation", sample, "qa", json_object_get(sample, "qa"));
    MC_AUTOFREE char *nested = mc_json_text(list);
    put_text(folder, "list.json", nested);
    MC_AUTOFREE char *zip = mc_path_join(folder, "7.zip");
    write_zip(zip, "deep/7.json", flat, strlen(flat));
    static const char *const sources[] = {"in/7.json", "in", "list.json", "7.zip"};
    for (size_t i = 0; i < MC_COUNT(sources); i++) {
        MC_AUTOFREE char *path = mc_path_join(folder, sources[i]);
        MC_AUTOFREE char *out = mc_strf("%s/out%zu", folder, i);
        MC_AUTOJSON json_t *report = NULL;
        int rc = mc_import_locomo(path, out, &report, &err);
        if (rc != 0) {
            print_message("%s: %s\n", sources[i], err.text);
        }
        assert_int_equal(rc, 0);
        check_small_locomo(report, out, "locomo-7");
        assert_int_equal(left_of_kind(report, "file"), i == 1 ? 1 : 0);
    }
    remove_folder(folder);
}

static void locomo_whole(void **state)
{
    (void)state;
    const char *source = locomo_or_skip();
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    MC_AUTOFREE char *out = mc_path_join(folder, "locomo");
    MC_AUTOJSON json_t *report = NULL;
    int rc = mc_import_locomo(source, out, &report, &err);
    if (rc != 0) {
        print_message("%s\n", err.text);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(number(report, "lives"), 10);
    assert_int_equal(number(report, "observations"), 5882);
    assert_int_equal(number(report, "questions"), 1986);
    assert_int_equal(number(report, "carried"), 1985);
    assert_int_equal(left_of_kind(report, "question"), 1);
    assert_int_equal(left_of_kind(report, "session"), 16); /* a date, no messages */
    assert_int_equal(left_of_kind(report, "evidence"), 7); /* 4 name none, 3 cannot be repaired */
    assert_int_equal(left_of_kind(report, "message"), 0);
    assert_int_equal(json_array_size(json_object_get(report, "repaired")), 17);
    assert_valid(out);
    remove_folder(folder);
}

static const char two_questions[] =
    "[{\"question_id\":\"q1\",\"question_type\":\"knowledge-update\",\"question\":\"How many ducks live on my pond?\","
    "\"answer\":9,\"question_date\":\"2023/05/30 (Tue) 10:00\",\"haystack_dates\":[\"2023/05/21 (Sun) 11:00\","
    "\"2023/05/20 (Sat) 02:21\"],\"haystack_session_ids\":[\"answer_ab_1\",\"cd_2\"],\"haystack_sessions\":[[{\"role\":"
    "\"user\",\"content\":\"There are nine ducks "
    "now.\",\"has_answer\":true},{\"role\":\"assistant\",\"content\":\"Nine!\","
    "\"has_answer\":false}],[{\"role\":\"user\",\"content\":\"Rain again.\"},{\"role\":\"tool\",\"content\":\"x\"}]],"
    "\"answer_session_ids\":[\"answer_ab_1\"]},\n"
    "{\"question_id\":\"q2_abs\",\"question_type\":\"single-session-user\",\"question\":\"What is my goat called?\","
    "\"answer\":\"You did not mention a goat.\",\"question_date\":\"2023/05/30\",\"haystack_dates\":[\"2023/05/20 "
    "(Sat) "
    "02:21\"],\"haystack_session_ids\":[\"ef_1\"],\"haystack_sessions\":[[{\"role\":\"user\",\"content\":\"The pond "
    "froze.\"}]],\"answer_session_ids\":[\"ef_1\"]}]\n";

static void longmemeval_gives_a_life_a_question(void **state)
{
    (void)state;
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    put_text(folder, "lme.json", two_questions);
    MC_AUTOFREE char *path = mc_path_join(folder, "lme.json");
    MC_AUTOFREE char *out = mc_path_join(folder, "out");
    MC_AUTOJSON json_t *report = NULL;
    assert_int_equal(mc_import_longmemeval(path, out, &report, &err), 0);
    assert_valid(out);
    assert_int_equal(number(report, "lives"), 2);
    assert_int_equal(number(report, "carried"), 2);
    assert_int_equal(number(report, "observations"), 4);
    assert_int_equal(left_of_kind(report, "message"), 1);
    MC_AUTOLIFE struct mc_life *life = load(out, "lme-q1");
    assert_string_equal(life->family, "knowledge-update");
    assert_string_equal(life->observations[0].source_id, "cd_2:1"); /* by date, not by place in the list */
    assert_string_equal(life->observations[1].source_id, "ab_1:1");
    assert_string_equal(life->checkpoints[0].id, "q1");
    assert_string_equal(mc_time_format(life->checkpoints[0].at).text, "2023-05-30T10:00:00+00:00");
    MC_AUTODOC struct mc_doc doc;
    assert_int_equal(mc_life_rubric(life, &doc, &err), 0);
    json_t *slot = slot_of(doc.root, "q1");
    assert_string_equal(text_of(slot, "expected"), "9");
    assert_int_equal(json_array_size(json_object_get(slot, "supported_by")), 1);
    MC_AUTOLIFE struct mc_life *abstain = load(out, "lme-q2_abs");
    MC_AUTODOC struct mc_doc second;
    assert_int_equal(mc_life_rubric(abstain, &second, &err), 0);
    slot = slot_of(second.root, "q2_abs");
    assert_string_equal(text_of(slot, "kind"), "abstain");
    assert_null(json_object_get(slot, "expected"));
    remove_folder(folder);
}

/* What the source marks as evidence must not be seen by the systems under test. */
static void longmemeval_marks_stay_hidden(void **state)
{
    (void)state;
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    put_text(folder, "lme.json", two_questions);
    MC_AUTOFREE char *path = mc_path_join(folder, "lme.json");
    MC_AUTOFREE char *out = mc_path_join(folder, "out");
    MC_AUTOJSON json_t *report = NULL;
    assert_int_equal(mc_import_longmemeval(path, out, &report, &err), 0);
    static const char *const files[] = {"observations.jsonl", "checkpoints.jsonl", "life.yaml", "turns.jsonl"};
    for (size_t i = 0; i < MC_COUNT(files); i++) {
        MC_AUTOFREE char *name = mc_strf("lives/lme-q1/%s", files[i]);
        MC_AUTOFREE char *text = get_text(out, name);
        assert_null(strstr(text, "answer_"));
        assert_null(strstr(text, "has_answer"));
    }
    assert_non_null(find_entry(report, "repaired", "haystack_session_ids"));
    remove_folder(folder);
}

static void own_messages_become_a_life(void **state)
{
    (void)state;
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    put_text(folder, "m.jsonl",
             "{\"at\":\"2026-03-28T19:30:00+01:00\",\"sender\":\"Ada\",\"text\":\"Clocks change tonight.\"}\n"
             "{\"id\":\"m2\",\"at\":\"2026-03-28T20:30:00+01:00\",\"sender\":\"Bo\",\"text\":\"They do?\","
             "\"channel\":\"email\",\"subject\":\"Clocks\",\"to\":[\"Ada\"],\"thread\":\"t\"}\r\n"
             "{\"id\":\"m2\",\"at\":\"2026-03-28\",\"sender\":\"Bo\",\"text\":\"?\"}\n"
             "\n"
             "{\"at\":\"2026-03-28T21:00:00+01:00\",\"sender\":\"Bo\",\"text\":\"?\",\"channel\":\"pigeon\"}\n"
             "{\"at\":\"2026-03-28T21:00:00+01:00\",\"from\":\"Bo\",\"text\":\"?\"}\n"
             "{\"id\":\"m2\",\"at\":\"2026-03-29T21:00:00+02:00\",\"sender\":\"Bo\",\"text\":\"Done.\"}\n");
    MC_AUTOFREE char *path = mc_path_join(folder, "m.jsonl");
    MC_AUTOFREE char *out = mc_path_join(folder, "out");
    MC_AUTOJSON json_t *report = NULL;
    struct mc_import_jsonl source = {.path = path, .life = "ada", .owner = "Ada", .timezone = "Europe/Berlin"};
    assert_int_equal(mc_import_jsonl(&source, out, &report, &err), 0);
    assert_valid(out);
    assert_int_equal(number(report, "observations"), 3);
    assert_int_equal(left_of_kind(report, "message"), 4);
    assert_int_equal(json_array_size(json_object_get(report, "repaired")), 1);
    MC_AUTOLIFE struct mc_life *life = load(out, "ada");
    assert_int_equal(life->observation_count, 3);
    assert_string_equal(mc_time_format(life->collections[0]).text, "2026-03-28T20:00:00+01:00");
    assert_string_equal(mc_time_format(life->collections[1]).text, "2026-03-29T20:00:00+02:00");
    assert_string_equal(mc_time_format(life->collections[2]).text, "2026-03-30T20:00:00+02:00");
    MC_AUTOJSON json_t *first = mc_life_observation_json(life, 0, &err);
    assert_string_equal(text_of(first, "source_id"), "line-1");
    assert_true(json_is_true(json_object_get(first, "from_owner")));
    assert_string_equal(life->observations[2].source_id, "m2#2");
    remove_folder(folder);
}

static void matchers_fit_their_answers(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"When was it?", "7 May 2023", "date"},
        {"When was it?", "May 7th, 2023.", "date"},
        {"When was it?", "in June 2023", "date"},
        {"When was it?", "2023-05-07", "date"},
        {"When did she go?", "2022", "date"},
        {"Which year was it?", "1999", "date"},
        {"How many steps?", "2022", "number"},
        {"When was it?", "The Friday before 15 July 2023", "text"},
        {"When was it?", "first week of June 2023", "text"},
        {"When was it?", "November 5-6, 2022", "text"},
        {"When?", "8pm", "time"},
        {"When?", "8:30 p.m.", "time"},
        {"When?", "20:00", "time"},
        {"When?", "noon", "time"},
        {"How many?", "3", "number"},
        {"How many?", "Three", "number"},
        {"How much?", "$1,200", "number"},
        {"How much?", "15%", "number"},
        {"How long?", "four months", "text"},
        {"Is it?", "Yes", "yesno"},
        {"Is it?", "No.", "yesno"},
        {"Is it?", "Likely no", "text"},
        {"Where?", "Sweden", "entity"},
        {"Which book?", "\"Charlotte's Web\"", "entity"},
        {"Where?", "Bank of Ireland", "entity"},
        {"What?", "Reading", "text"},
        {"What?", "Pottery, Camping", "text"},
        {"What?", "a sunset with a palm tree", "text"},
        {"Why?", "Because He Said So And Left", "text"},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        const char *match = mc_import_match(cases[i][0], cases[i][1]);
        if (!mc_streq(match, cases[i][2])) {
            fail_msg("%s / %s: %s, expected %s", cases[i][0], cases[i][1], match, cases[i][2]);
        }
    }
}

/* A failed import says why and leaves nothing. */
static void assert_fails(const char *kind, const char *content, size_t length, const char *says)
{
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    put(folder, "source", content, length);
    MC_AUTOFREE char *path = mc_path_join(folder, "source");
    MC_AUTOFREE char *out = mc_path_join(folder, "out");
    MC_AUTOFREE char *half = mc_path_join(folder, "out.import");
    MC_AUTOJSON json_t *report = NULL;
    struct mc_import_jsonl source = {.path = path, .life = "a", .owner = "Ada", .timezone = "UTC"};
    int rc = mc_streq(kind, "locomo")        ? mc_import_locomo(path, out, &report, &err)
             : mc_streq(kind, "longmemeval") ? mc_import_longmemeval(path, out, &report, &err)
                                             : mc_import_jsonl(&source, out, &report, &err);
    assert_int_not_equal(rc, 0);
    assert_null(report);
    if (!strstr(err.text, says)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, says);
    }
    assert_false(mc_fs_exists(out));
    assert_false(mc_fs_exists(half));
    remove_folder(folder);
}

static void bad_sources_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"locomo", "{", "not valid JSON"},
        {"locomo", "3", "must be an object, is a whole number"},
        {"locomo", "[]", "holds nothing that can be imported as locomo"},
        {"locomo", "{\"qa\":[]}", "is no LoCoMo conversation: speaker_a or speaker_b is missing"},
        {"locomo", "PK\x03\x04 no zip", "is not a readable ZIP file"},
        {"longmemeval", "{}", ":1: the file is not a JSON list"},
        {"longmemeval", "[", "the file ends inside the list"},
        {"longmemeval", "[{\"a\":1", "the file ends inside the list"},
        {"longmemeval", "[]", "holds nothing that can be imported as longmemeval"},
        {"longmemeval", "[] x", "something follows the end of the list"},
        {"longmemeval", "[\n{}]", ":2: .: \"question_id\" is missing"},
        {"longmemeval", "[{\"a\":}]", "not valid JSON"},
        {"jsonl", "", "holds nothing that can be imported as jsonl"},
        {"jsonl", "x\n", "holds nothing that can be imported as jsonl"},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        assert_fails(cases[i][0], cases[i][1], strlen(cases[i][1]), cases[i][2]);
    }
}

/* A small ZIP that unpacks to more than a file may hold ends at the limit. */
static void a_zip_that_swells_is_refused(void **state)
{
    (void)state;
    char *folder = new_folder();
    MC_AUTOFREE char *path = mc_path_join(folder, "bomb.zip");
    size_t length = ((size_t)64 << 20) + 1;
    char *content = mc_alloc(length, 1);
    write_zip(path, "bomb.json", content, length);
    free(content);
    struct mc_err err = {.text = ""};
    MC_AUTOFREE char *out = mc_path_join(folder, "out");
    MC_AUTOJSON json_t *report = NULL;
    assert_int_equal(mc_import_locomo(path, out, &report, &err), MC_LIMIT);
    assert_non_null(strstr(err.text, "bomb.json is larger than 67108864 bytes"));
    remove_folder(folder);
}

static void an_existing_folder_is_left_alone(void **state)
{
    (void)state;
    struct mc_err err = {.text = ""};
    char *folder = small_copy();
    put_text(folder, "x.json", flat);
    MC_AUTOFREE char *path = mc_path_join(folder, "x.json");
    MC_AUTOJSON json_t *report = NULL;
    assert_int_equal(mc_import_locomo(path, folder, &report, &err), MC_EXISTS);
    MC_AUTOFREE char *says = mc_strf("%s exists already", folder);
    assert_string_equal(err.text, says);
    remove_folder(folder);
}

static void a_life_needs_a_name_and_a_zone_that_exist(void **state)
{
    (void)state;
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    put_text(folder, "m", "{\"at\":\"2026-03-28T19:30:00+01:00\",\"sender\":\"Ada\",\"text\":\"x\"}\n");
    MC_AUTOFREE char *path = mc_path_join(folder, "m");
    MC_AUTOFREE char *out = mc_path_join(folder, "out");
    MC_AUTOJSON json_t *report = NULL;
    struct mc_import_jsonl source = {.path = path, .life = "../x", .owner = "Ada", .timezone = "UTC"};
    assert_int_equal(mc_import_jsonl(&source, out, &report, &err), MC_INPUT);
    assert_string_equal(err.text, "\"../x\" cannot be the ID of a life");
    assert_string_equal(err.hint, "use 1 to 100 letters, digits, '.', '_' and '-'");
    source.life = "x";
    source.timezone = "Mars/Olympus";
    assert_int_not_equal(mc_import_jsonl(&source, out, &report, &err), 0);
    assert_non_null(strstr(err.text, "Mars/Olympus"));
    assert_false(mc_fs_exists(out));
    remove_folder(folder);
}

static void items_of_a_long_list_come_one_by_one(void **state)
{
    (void)state;
    struct mc_err err = {.text = ""};
    char *folder = new_folder();
    put_text(folder, "l", " [ {\"a\":\"],[\\\"\\\\\"} ,\n [1,[2]], \"x,]\" , 4 ]\n");
    MC_AUTOFREE char *path = mc_path_join(folder, "l");
    static const char *const expected[] = {"{\"a\":\"],[\\\"\\\\\"}", "[1,[2]]", "\"x,]\"", "4"};
    static const int lines[] = {1, 2, 2, 2};
    struct mc_items *items = NULL;
    assert_int_equal(mc_items_open(path, 100, &items, &err), 0);
    for (size_t i = 0; i < MC_COUNT(expected); i++) {
        MC_AUTOJSON json_t *item = NULL;
        int line = 0;
        assert_int_equal(mc_items_next(items, &item, &line, &err), 1);
        MC_AUTOFREE char *text = mc_json_text(item);
        assert_string_equal(text, expected[i]);
        assert_int_equal(line, lines[i]);
    }
    json_t *none = NULL;
    int line = 0;
    assert_int_equal(mc_items_next(items, &none, &line, &err), 0);
    mc_items_close(items);
    assert_int_equal(mc_items_open(path, 5, &items, &err), 0);
    assert_int_equal(mc_items_next(items, &none, &line, &err), MC_LIMIT);
    assert_non_null(strstr(err.text, "an item of the list is too large"));
    mc_items_close(items);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locomo_comes_in_four_shapes),
        cmocka_unit_test(locomo_whole),
        cmocka_unit_test(longmemeval_gives_a_life_a_question),
        cmocka_unit_test(longmemeval_marks_stay_hidden),
        cmocka_unit_test(own_messages_become_a_life),
        cmocka_unit_test(matchers_fit_their_answers),
        cmocka_unit_test(bad_sources_are_refused),
        cmocka_unit_test(a_zip_that_swells_is_refused),
        cmocka_unit_test(an_existing_folder_is_left_alone),
        cmocka_unit_test(a_life_needs_a_name_and_a_zone_that_exist),
        cmocka_unit_test(items_of_a_long_list_come_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
