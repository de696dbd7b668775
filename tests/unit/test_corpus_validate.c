#include "corpus_help.h"

/* One edit of the small corpus and the one problem that it must give. */
struct fault {
    const char *file;
    const char *from;
    const char *to;
    enum mc_severity severity;
    const char *where; /* file inside the corpus */
    int line;
    const char *path;
    const char *text;
    const char *mend;
};

#define LIFE "lives/choir-move/life.yaml"
#define OBS "lives/choir-move/observations.jsonl"
#define TURNS "lives/choir-move/turns.jsonl"
#define CHECKS "lives/choir-move/checkpoints.jsonl"
#define RUBRIC "lives/choir-move/rubric.yaml"
#define TIME_MEND "write the time as in 2026-08-07T09:00:00-04:00"

static const struct fault faults[] = {
    /* corpus.yaml */
    {"corpus.yaml", "name: small", "nam: small", MC_SEVERITY_ERROR, "corpus.yaml", 1, ".nam", "unknown key",
     "did you mean \"name\"?"},
    {"corpus.yaml", "license: CC0-1.0\n", "", MC_SEVERITY_ERROR, "corpus.yaml", 1, ".", "\"license\" is missing",
     "write \"license\" as text"},
    {"corpus.yaml", "imessage]", "telegraph]", MC_SEVERITY_ERROR, "corpus.yaml", 5, ".channels[2]",
     "unknown channel \"telegraph\"", "use email, imessage, whatsapp, groupme or assistant"},
    {"corpus.yaml", "[email, whatsapp", "[email, email, whatsapp", MC_SEVERITY_ERROR, "corpus.yaml", 5, ".channels[1]",
     "the channel \"email\" stands here a second time", "remove one of them"},
    /* life.yaml */
    {LIFE, "id: choir-move", "id: choir", MC_SEVERITY_ERROR, LIFE, 1, ".id",
     "the id \"choir\" is not the folder's name \"choir-move\"", "give the folder and the life the same name"},
    {LIFE, "America/New_York", "America/Newyork", MC_SEVERITY_ERROR, LIFE, 4, ".timezone", "America/Newyork",
     "use an IANA name, as in America/New_York"},
    {LIFE, "ends: 2026-11-03T22:00:00-05:00", "ends: 2026-10-29T22:00:00-04:00", MC_SEVERITY_ERROR, LIFE, 6, ".ends",
     "the life ends at or before its start", "let the life end after it starts"},
    {LIFE, "- 2026-11-01T08:00:00-05:00", "- 2026-11-01T09:00:00-04:00", MC_SEVERITY_ERROR, LIFE, 13, ".collections[2]",
     "2026-11-01T09:00:00-04:00 is not an offset of America/New_York at that time",
     "write that instant as 2026-11-01T08:00:00-05:00, or correct the time of day"},
    {LIFE, "- 2026-10-31T20:00:00-04:00", "- 2026-10-31T08:00:00-04:00", MC_SEVERITY_ERROR, LIFE, 12, ".collections[1]",
     "2026-10-31T08:00:00-04:00 is not after the time before it", "list the times in order, each once"},
    {LIFE, "- 2026-11-01T23:30:00-05:00", "- 2026-11-09T23:30:00-05:00", MC_SEVERITY_ERROR, LIFE, 18, ".nights[1]",
     "2026-11-09T23:30:00-05:00 lies outside the life", "move it between starts and ends"},
    {LIFE, "role: development", "role: testing", MC_SEVERITY_ERROR, LIFE, 9, ".role",
     "must be one of development, calibration, held-out, is \"testing\"", "use development, calibration or held-out"},
    {LIFE, "role: development", "role: development\nvariant: wording", MC_SEVERITY_ERROR, LIFE, 1, ".",
     "a variant needs control_of and seed", "name the life that it varies in control_of, and the seed in seed"},
    {LIFE, "role: development", "role: development\nseed: 3", MC_SEVERITY_ERROR, LIFE, 10, ".seed",
     "a seed without a variant", "name the kind in variant, or remove the seed"},
    {LIFE, "role: development", "role: development\ncontrol_of: opera", MC_SEVERITY_ERROR, LIFE, 0, ".control_of",
     "the corpus has no life \"opera\"", "name a life of this corpus, or add that life"},
    {LIFE, "role: development", "role: development\ncontrol_of: choir-stays", MC_SEVERITY_ERROR, LIFE, 0, ".control_of",
     "the links of controls go round in a circle", "let one life be the base of the others"},
    {LIFE, "family: choir", "family: opera", MC_SEVERITY_ERROR, "lives/choir-stays/life.yaml", 0, ".control_of",
     "\"choir-move\" is of another family or role", "give both the same family and role"},
    {LIFE, "role: development", "role: held-out", MC_SEVERITY_WARNING, "lives/choir-stays/life.yaml", 0, ".role",
     "family \"choir\" is development here and held-out in life \"choir-move\"", "keep a family in one role"},
    /* observations.jsonl */
    {OBS, "\"source_id\":\"wa-lunch\"", "\"source_id\":\"em-welcome\"", MC_SEVERITY_ERROR, OBS, 2, ".source_id",
     "the source_id \"em-welcome\" was used on line 1", "give every observation an ID of its own"},
    {OBS, "\"arrived_at\":\"2026-10-31T11:05:02-04:00\"", "\"arrived_at\":\"2026-10-31T11:04:00-04:00\"",
     MC_SEVERITY_ERROR, OBS, 2, ".arrived_at", "arrived_at is before written_at (2026-10-31T11:05:00-04:00)",
     "let arrived_at be at or after written_at"},
    {OBS, "\"arrived_at\":\"2026-10-31T11:05:02-04:00\"", "\"arrived_at\":\"2026-10-31T21:00:00-04:00\"",
     MC_SEVERITY_ERROR, OBS, 2, ".collected_at", "collected_at is before arrived_at (2026-10-31T21:00:00-04:00)",
     "let collected_at be at or after arrived_at"},
    {OBS, "\"collected_at\":\"2026-10-31T20:00:00-04:00\",\"sender\":\"Ilse\"",
     "\"collected_at\":\"2026-10-31T20:00:01-04:00\",\"sender\":\"Ilse\"", MC_SEVERITY_ERROR, OBS, 2, ".collected_at",
     "2026-10-31T20:00:01-04:00 is not a collection boundary of the life",
     "use one of the times under collections in life.yaml"},
    {OBS, "\"collected_at\":\"2026-11-01T08:00:00-05:00\"", "\"collected_at\":\"2026-11-01T09:00:00-04:00\"",
     MC_SEVERITY_WARNING, OBS, 4, ".collected_at",
     "2026-11-01T09:00:00-04:00 is not an offset of America/New_York at that time",
     "write that instant as 2026-11-01T08:00:00-05:00, or correct the time of day"},
    {OBS, "\"written_at\":\"2026-10-31T11:05:00-04:00\"", "\"written_at\":\"2026-10-31T11:05:00\"", MC_SEVERITY_ERROR,
     OBS, 2, ".written_at", "\"2026-10-31T11:05:00\" has no UTC offset",
     "write the offset, as in 2026-08-07T09:00:00-04:00"},
    {OBS, "\"sender\":\"Ilse\"", "\"sender\":\"\"", MC_SEVERITY_ERROR, OBS, 2, ".sender", "the sender is empty",
     "name the sender"},
    {OBS, "\"text\":\"I am so full of soup. Thank you for lunch!\"", "\"text\":\"\"", MC_SEVERITY_ERROR, OBS, 2,
     ".text", "the observation is empty: no text, subject or structured data",
     "write the text, or remove the observation"},
    {OBS, "\"thread\":\"Ilse\",", "\"thread\":\"Ilse\",\"mood\":\"full\",", MC_SEVERITY_ERROR, OBS, 2, ".mood",
     "unknown key", "put what is not text under \"structured\""},
    {OBS, "\"to\":[\"Nadia\",\"altos\"]", "\"to\":[\"Nadia\",2]", MC_SEVERITY_ERROR, OBS, 1, ".to[1]",
     "must be text, is a whole number", "write a name"},
    {OBS, "\"to\":[\"Nadia\",\"altos\"]", "\"to\":7", MC_SEVERITY_ERROR, OBS, 1, ".to",
     "must be text or a list of text", "write a name, or a list of names"},
    {OBS, "{\"source_id\":\"wa-lunch\"", "[\"source_id\",\"wa-lunch\"", MC_SEVERITY_ERROR, OBS, 2, "",
     "not valid JSON at column", "write one JSON object on the line, in UTF-8"},
    {OBS, "soup", "so\xffup", MC_SEVERITY_ERROR, OBS, 2, "", "not valid JSON at column",
     "write one JSON object on the line, in UTF-8"},
    {OBS, "\"from_owner\":true", "\"from_owner\":\"yes\"", MC_SEVERITY_ERROR, OBS, 6, ".from_owner",
     "must be true or false, is text", "write true or false"},
    /* turns.jsonl */
    {TURNS, "t-scarf", "wa-lunch", MC_SEVERITY_ERROR, TURNS, 1, ".id",
     "the id \"wa-lunch\" was used on line 2 of observations.jsonl",
     "give every turn an ID of its own, and none of an observation's"},
    {TURNS, "\"at\":\"2026-11-02T07:00:00-05:00\"", "\"at\":\"2026-12-02T07:00:00-05:00\"", MC_SEVERITY_ERROR, TURNS, 2,
     ".at", "2026-12-02T07:00:00-05:00 lies outside the life", "move it between starts and ends of life.yaml"},
    {TURNS, "Small correction: the scarf was in the car all along.", "  ", MC_SEVERITY_ERROR, TURNS, 2, ".text",
     "the text is empty", "write what the person says under \"text\""},
    /* checkpoints.jsonl */
    {CHECKS, "\"deadline_s\":120", "\"deadline_s\":0", MC_SEVERITY_ERROR, CHECKS, 1, ".deadline_s",
     "must be 1 to 86400, is 0", "write the seconds that an answer may take, 1 to 86400"},
    {CHECKS, "\"deadline_s\":120", "\"deadline_s\":120,\"expected\":\"x\"", MC_SEVERITY_ERROR, CHECKS, 1, ".expected",
     "unknown key", "remove the key: what is expected belongs in rubric.yaml only"},
    {CHECKS, "after/solo", "after/scarf", MC_SEVERITY_ERROR, CHECKS, 4, ".id",
     "the id \"after/scarf\" was used on line 3", "give every checkpoint an ID of its own"},
    {CHECKS, "T09:05:00-05:00", "T10:05:00-04:00", MC_SEVERITY_ERROR, CHECKS, 3, ".at",
     "2026-11-02T10:05:00-04:00 is not an offset of America/New_York at that time",
     "write that instant as 2026-11-02T09:05:00-05:00, or correct the time of day"},
    {CHECKS, "Where do we sing", "Do we sing in the Larch Street  chapel", MC_SEVERITY_ERROR, CHECKS, 1, ".question",
     "the question contains its own answer \"Larch Street chapel\"", "ask without giving the answer away"},
    /* rubric.yaml */
    {RUBRIC, "  after/solo:", "  after/sola:", MC_SEVERITY_ERROR, RUBRIC, 48, ".checkpoints.\"after/sola\"",
     "checkpoints.jsonl has no checkpoint \"after/sola\"", "add the checkpoint, or remove the entry"},
    {RUBRIC, "  after/solo:", "  after/sola:", MC_SEVERITY_ERROR, RUBRIC, 1, ".checkpoints",
     "checkpoint \"after/solo\" (checkpoints.jsonl:4) has no entry", "say what its answer must hold, or remove it"},
    {RUBRIC, "supported_by: [em-welcome]", "supported_by: [em-wellcome]", MC_SEVERITY_ERROR, RUBRIC, 12,
     ".checkpoints.\"before/where\".slots[0].supported_by[0]", "there is no observation or turn \"em-wellcome\"",
     "name the source_id of an observation, or the id of a turn, of this life"},
    {RUBRIC, "supported_by: [em-welcome]", "supported_by: [wa-boiler]", MC_SEVERITY_ERROR, RUBRIC, 12,
     ".checkpoints.\"before/where\".slots[0].supported_by[0]",
     "\"wa-boiler\" is known only at 2026-10-31T20:00:00-04:00, after the checkpoint (2026-10-31T08:00:00-04:00)",
     "ask later, collect it earlier, or rest the slot on something else"},
    {RUBRIC, "supported_by: [em-welcome]", "supported_by: [t-fix]", MC_SEVERITY_ERROR, RUBRIC, 12,
     ".checkpoints.\"before/where\".slots[0].supported_by[0]", "\"t-fix\" is known only at 2026-11-02T08:00:00-04:00",
     "ask later, collect it earlier, or rest the slot on something else"},
    {RUBRIC, "required: [place, day, time]", "required: [place, date, time]", MC_SEVERITY_ERROR, RUBRIC, 15,
     ".checkpoints.\"after/plan\".required[1]", "the checkpoint has no slot \"date\"",
     "name a slot of this checkpoint, or add the slot"},
    {RUBRIC, "- id: day", "- id: place", MC_SEVERITY_ERROR, RUBRIC, 23, ".checkpoints.\"after/plan\".slots[1]",
     "the slot id \"place\" was used on line 17", "give every slot of a checkpoint an ID of its own"},
    {RUBRIC, "forbidden: [Mercer Hall]", "forbidden: [\"larch street Chapel.\"]", MC_SEVERITY_ERROR, RUBRIC, 9,
     ".checkpoints.\"before/where\".slots[0].expected", "\"Larch Street chapel\" is expected and forbidden at once",
     "decide whether the value is right or wrong, and remove the other"},
    {RUBRIC, "forbidden: [Mercer Hall]", "forbidden: [THE CHAPEL ON LARCH STREET]", MC_SEVERITY_ERROR, RUBRIC, 10,
     ".checkpoints.\"before/where\".slots[0].alternatives[0]",
     "\"the chapel on Larch Street\" is expected and forbidden at once",
     "decide whether the value is right or wrong, and remove the other"},
    {RUBRIC, "alternatives: [the chapel on Larch Street]", "alternatives: [on Larch, on Larch]", MC_SEVERITY_WARNING,
     RUBRIC, 10, ".checkpoints.\"before/where\".slots[0].alternatives[1]",
     "the alternative \"on Larch\" stands here twice", "remove one of them"},
    {RUBRIC, "mode: fact", "mode: facts", MC_SEVERITY_ERROR, RUBRIC, 3, ".checkpoints.\"before/where\".mode",
     "must be one of fact, complete-plan, open-ended, unanswerable, is \"facts\"",
     "use fact, complete-plan, open-ended or unanswerable"},
    {RUBRIC, "        supported_by: [t-fix]\n", "", MC_SEVERITY_WARNING, RUBRIC, 42,
     ".checkpoints.\"after/scarf\".slots[0]", "the slot names no evidence",
     "name the observations or turns that it rests on"},
    {RUBRIC, "supported_by: [t-fix]", "supported_by: [t-scarf]", MC_SEVERITY_WARNING, TURNS, 2, ".text",
     "turn \"t-fix\", which checkpoint \"after/scarf\" does not name as evidence, holds \"in the car\"",
     "say it in an observation, or leave the value to the rubric"},
    {RUBRIC, "expected: in the car", "expected: finds another room", MC_SEVERITY_ERROR, LIFE, 0, ".title",
     "the life's description holds \"finds another room\", which no observation says",
     "say it in an observation, or leave the value to the rubric"},
    {RUBRIC, "expected: in the car", "expected: the carol concert", MC_SEVERITY_ERROR, NULL, 0, NULL, NULL, NULL},
    {RUBRIC, "expected: in the car", "expected: two short lives", MC_SEVERITY_ERROR, "corpus.yaml", 0, "",
     "the corpus's description holds \"two short lives\", which no observation says",
     "say it in an observation, or leave the value to the rubric"},
    {RUBRIC, "checkpoints:", "checkpoint:", MC_SEVERITY_ERROR, RUBRIC, 1, ".", "\"checkpoints\" is missing",
     "write checkpoints: and an entry for each"},
};

static void check_fault(const struct fault *fault)
{
    char *folder = small_copy();
    edit(folder, fault->file, fault->from, fault->to);
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    if (!fault->text) { /* asked later than its checkpoint: no problem */
        assert_int_equal(problems.errors + problems.warnings, 0);
        remove_folder(folder);
        return;
    }
    const struct mc_problem *found = find_problem(&problems, fault->text);
    if (!found) {
        show_problems(&problems);
        fail_msg("not found: %s", fault->text);
        return;
    }
    MC_AUTOFREE char *file = mc_path_join(folder, fault->where);
    assert_int_equal(found->severity, fault->severity);
    assert_string_equal(found->file, file);
    assert_string_equal(found->path, fault->path);
    assert_string_equal(found->mend, fault->mend);
    if (found->line != fault->line) {
        print_message("%s: line %d, expected %d\n", fault->text, found->line, fault->line);
    }
    assert_int_equal(found->line, fault->line);
    remove_folder(folder);
}

static void every_fault_is_found_at_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < MC_COUNT(faults); i++) {
        check_fault(&faults[i]);
    }
}

static void the_small_corpus_has_no_problem(void **state)
{
    (void)state;
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(SMALL, 1, &problems);
    show_problems(&problems);
    assert_int_equal(problems.errors + problems.warnings, 0);
}

static void all_problems_come_in_one_pass(void **state)
{
    (void)state;
    char *folder = small_copy();
    for (size_t i = 0; i + 1 < MC_COUNT(faults); i += 11) {
        edit(folder, faults[i].file, faults[i].from, faults[i].to);
    }
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    for (size_t i = 0; i + 1 < MC_COUNT(faults); i += 11) {
        if (!find_problem(&problems, faults[i].text)) {
            show_problems(&problems);
            fail_msg("not found: %s", faults[i].text);
        }
    }
    remove_folder(folder);
}

static void a_choice_gives_nothing_away(void **state)
{
    (void)state;
    char *folder = small_copy();
    edit(folder, CHECKS, "Where do we sing this Tuesday?", "Do we sing in the Larch Street chapel or in Mercer Hall?");
    assert_valid(folder);
    remove_folder(folder);
}

static void hidden_files_are_told_and_left_out(void **state)
{
    (void)state;
    char *folder = small_copy();
    put_text(folder, ".DS_Store", "x");
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    assert_int_equal(problems.errors, 0);
    assert_int_equal(problems.warnings, 1);
    assert_string_equal(problems.items[0].text,
                        "hidden files are not part of the corpus: not in its digest, not copied");
    remove_folder(folder);
}

static void files_that_do_not_belong_are_refused(void **state)
{
    (void)state;
    char *folder = small_copy();
    put_text(folder, "lives/choir-move/answers.txt", "x");
    put_text(folder, "notes/x", "x");
    put_text(folder, "README.md", "A corpus for tests.");
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    assert_int_equal(problems.errors, 2);
    assert_non_null(find_problem(&problems, "a life has life.yaml, observations.jsonl, turns.jsonl, checkpoints.jsonl "
                                            "and rubric.yaml, and nothing else"));
    assert_non_null(find_problem(
        &problems, "a corpus has corpus.yaml, lives/ and files such as README or LICENSE, and nothing else"));
    remove_folder(folder);
}

static void folders_of_lives_have_names_that_can_be_ids(void **state)
{
    (void)state;
    char *folder = small_copy();
    put_text(folder, "lives/a life/life.yaml", "id: x\n");
    put_text(folder, "lives/notes.txt", "x");
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    assert_int_equal(problems.errors, 2);
    const struct mc_problem *name = find_problem(&problems, "\"a life\" cannot be the ID of a life");
    assert_non_null(name);
    assert_string_equal(name->mend,
                        "rename it: 1 to 100 letters, digits, '.', '_' and '-', the first a letter, digit or "
                        "'_'");
    assert_non_null(find_problem(&problems, "\"notes.txt\" is not a folder"));
    remove_folder(folder);
}

static void a_corpus_without_lives_says_so(void **state)
{
    (void)state;
    char *folder = new_folder();
    put_text(folder, "corpus.yaml", "name: n\nversion: \"1\"\ndescription: d\nlicense: l\nchannels: []\n");
    MC_AUTOFREE char *lives = mc_path_join(folder, "lives");
    struct mc_err err;
    assert_int_equal(mc_fs_mkdirs(lives, &err), 0);
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    assert_int_equal(problems.errors, 1);
    assert_string_equal(problems.items[0].text, "the corpus has no lives");
    assert_string_equal(problems.items[0].mend, "put each life in a folder lives/<id>");
    remove_folder(folder);
}

static void a_readme_must_not_tell(void **state)
{
    (void)state;
    char *folder = small_copy();
    put_text(folder, "README.md", "The scarf is\nunder the Big Bench.");
    edit(folder, RUBRIC, "expected: in the car", "expected: under the big bench");
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    assert_int_equal(problems.errors, 1);
    assert_string_equal(problems.items[0].text, "README.md holds \"under the big bench\", which no observation says");
    remove_folder(folder);
}

static void problems_become_json(void **state)
{
    (void)state;
    char *folder = small_copy();
    edit(folder, OBS, "\"sender\":\"Ilse\"", "\"sender\":\"\"");
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    MC_AUTOJSON json_t *report = mc_problems_json(&problems);
    MC_AUTOFREE char *text = mc_json_text(report);
    MC_AUTOFREE char *expected =
        mc_strf("{\"errors\":1,\"left_out\":0,\"problems\":[{\"file\":\"%s/" OBS "\",\"line\":2,\"mend\":\"name the "
                "sender\",\"path\":\".sender\",\"severity\":\"error\",\"text\":\"the sender is "
                "empty\"}],\"warnings\":0}",
                folder);
    assert_string_equal(text, expected);
    remove_folder(folder);
}

static void the_report_is_bounded(void **state)
{
    (void)state;
    char *folder = small_copy();
    struct mc_buf lines = MC_BUF_OWN;
    for (int i = 0; i < 5000; i++) {
        mc_buf_puts(&lines, "[]\n");
    }
    put(folder, OBS, mc_buf_text(&lines), lines.len);
    mc_buf_release(&lines);
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 0, &problems);
    assert_int_equal(problems.errors, 5000);
    assert_int_equal(problems.count, MC_PROBLEMS_KEPT);
    MC_AUTOJSON json_t *report = mc_problems_json(&problems);
    assert_int_equal(json_integer_value(json_object_get(report, "left_out")), 4000);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_found_at_its_place),
        cmocka_unit_test(the_small_corpus_has_no_problem),
        cmocka_unit_test(all_problems_come_in_one_pass),
        cmocka_unit_test(a_choice_gives_nothing_away),
        cmocka_unit_test(hidden_files_are_told_and_left_out),
        cmocka_unit_test(files_that_do_not_belong_are_refused),
        cmocka_unit_test(a_readme_must_not_tell),
        cmocka_unit_test(folders_of_lives_have_names_that_can_be_ids),
        cmocka_unit_test(a_corpus_without_lives_says_so),
        cmocka_unit_test(problems_become_json),
        cmocka_unit_test(the_report_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
