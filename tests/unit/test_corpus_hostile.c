/* Corpora made to hurt: each ends in an exact error or a right load, in bounded memory and time. */
#include "corpus_help.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "corpus/schedule.h"

#define LIFE "lives/choir-move/"

static void assert_problem(const char *folder, const char *text)
{
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    if (!find_problem(&problems, text)) {
        show_problems(&problems);
        fail_msg("not found: %s", text);
    }
    assert_true(problems.errors > 0);
}

/* Adds a line of `length` bytes `fill` after the file's own lines. */
static void append_line(const char *folder, const char *name, char fill, size_t length)
{
    MC_AUTOFREE char *path = mc_path_join(folder, name);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    char *line = mc_alloc(length + 1, 1);
    memset(line, fill, length);
    line[length] = '\n';
    assert_int_equal(fwrite(line, 1, length + 1, file), length + 1);
    assert_int_equal(fclose(file), 0);
    free(line);
}

static void a_line_of_ten_megabytes(void **state)
{
    (void)state;
    static const char *const names[] = {LIFE "observations.jsonl", LIFE "turns.jsonl", LIFE "checkpoints.jsonl"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        char *folder = small_copy();
        append_line(folder, names[i], 'x', (size_t)10 << 20);
        assert_problem(folder, "the line is longer than 1048576 bytes");
        remove_folder(folder);
    }
}

static void a_manifest_of_ten_megabytes(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"corpus.yaml", "larger than the 1048576 bytes allowed for it"},
                                           {LIFE "life.yaml", "larger than the 1048576 bytes allowed for it"},
                                           {LIFE "rubric.yaml", "larger than the 8388608 bytes allowed for it"}};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        char *folder = small_copy();
        append_line(folder, names[i][0], '#', (size_t)10 << 20);
        assert_problem(folder, names[i][1]);
        remove_folder(folder);
    }
}

static void nesting_without_end(void **state)
{
    (void)state;
    char *folder = small_copy();
    append_line(folder, LIFE "observations.jsonl", '[', 1000000);
    assert_problem(folder, "maximum parsing depth reached");
    remove_folder(folder);
    folder = small_copy();
    append_line(folder, LIFE "life.yaml", '[', 100000);
    assert_problem(folder, "not valid YAML");
    remove_folder(folder);
    folder = small_copy();
    char deep[300];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = '\0';
    MC_AUTOFREE char *yaml = mc_strf("checkpoints:\n  a: %s\n", deep);
    put_text(folder, LIFE "rubric.yaml", yaml);
    assert_problem(folder, "nested deeper than 64 levels");
    remove_folder(folder);
}

static void aliases_that_explode(void **state)
{
    (void)state;
    char *folder = small_copy();
    put_text(folder, LIFE "rubric.yaml",
             "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n"
             "c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c, *c, *c]\n");
    assert_problem(folder, "anchors and tags are not allowed");
    remove_folder(folder);
}

static void bytes_that_are_not_utf8(void **state)
{
    (void)state;
    static const char *const names[][3] = {
        {"corpus.yaml", "small", "not valid YAML"},
        {LIFE "life.yaml", "Nadia", "not valid YAML"},
        {LIFE "observations.jsonl", "soup", "not valid JSON at column"},
        {LIFE "turns.jsonl", "scarf", "not valid JSON at column"},
        {LIFE "checkpoints.jsonl", "Tuesday", "not valid JSON at column"},
        {LIFE "rubric.yaml", "Mercer", "not valid YAML"},
    };
    static const char *const bad[] = {"\xff", "\xc3", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xc0\xaf"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        for (size_t k = 0; k < MC_COUNT(bad); k++) {
            char *folder = small_copy();
            edit(folder, names[i][0], names[i][1], bad[k]);
            assert_problem(folder, names[i][2]);
            remove_folder(folder);
        }
    }
}

static void links_out_of_the_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"corpus.yaml",      LIFE "life.yaml",         LIFE "observations.jsonl",
                                        LIFE "turns.jsonl", LIFE "checkpoints.jsonl", LIFE "rubric.yaml"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        char *folder = small_copy();
        MC_AUTOFREE char *path = mc_path_join(folder, names[i]);
        MC_AUTOFREE char *target = mc_path_join(SMALL, names[i]);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(target, path), 0);
        assert_problem(folder, "symbolic link");
        remove_folder(folder);
    }
    char *folder = small_copy();
    MC_AUTOFREE char *life = mc_path_join(folder, "lives/elsewhere");
    assert_int_equal(symlink(SMALL "/lives/choir-move", life), 0);
    assert_problem(folder, "\"elsewhere\" is not a folder");
    remove_folder(folder);
    folder = small_copy();
    MC_AUTOFREE char *lives = mc_path_join(folder, "lives");
    struct mc_err err;
    assert_int_equal(mc_fs_remove_tree(lives, &err), 0);
    assert_int_equal(symlink(SMALL "/lives", lives), 0);
    assert_problem(folder, "there is no folder of lives");
    remove_folder(folder);
}

static void a_pipe_in_place_of_a_file(void **state)
{
    (void)state;
    char *folder = small_copy();
    MC_AUTOFREE char *path = mc_path_join(folder, LIFE "turns.jsonl");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_problem(folder, "turns.jsonl is not a regular file"); /* and does not wait for a writer */
    remove_folder(folder);
}

static void more_turns_than_allowed(void **state)
{
    (void)state;
    char *folder = small_copy();
    struct mc_buf lines = MC_BUF_OWN;
    for (int i = 0; i < MC_LIFE_TURNS + 1; i++) {
        mc_buf_putf(&lines, "{\"id\":\"t%d\",\"at\":\"2026-11-01T12:00:00-05:00\",\"session\":\"s\",\"text\":\"x\"}\n",
                    i);
    }
    put(folder, LIFE "turns.jsonl", mc_buf_text(&lines), lines.len);
    mc_buf_release(&lines);
    assert_problem(folder, "more than 10000 lines");
    remove_folder(folder);
}

/* Writes `count` observations and returns the bytes written. */
static size_t many_observations(const char *folder, size_t count)
{
    MC_AUTOFREE char *path = mc_path_join(folder, LIFE "observations.jsonl");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        int n = fprintf(file,
                        "{\"source_id\":\"n%zu\",\"channel\":\"email\",\"written_at\":\"2026-10-31T07:00:00-04:00\","
                        "\"arrived_at\":\"2026-10-31T07:00:00-04:00\",\"collected_at\":\"2026-10-31T08:00:00-04:00\","
                        "\"sender\":\"Bulk\",\"thread\":\"b\",\"text\":\"Number %zu of many.\"}\n",
                        i, i);
        assert_true(n > 0);
        bytes += (size_t)n;
    }
    assert_int_equal(fclose(file), 0);
    put_text(folder, LIFE "checkpoints.jsonl", "");
    put_text(folder, LIFE "rubric.yaml", "checkpoints: {}\n");
    return bytes;
}

static long peak_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
/* Under sanitizers, which take ten times as long and keep freed memory, a fifth of a million. */
#ifdef SANITIZED
enum { MANY = 200000, MIB = 400, SECONDS = 60 };
#else
enum { MANY = 1000000, MIB = 200, SECONDS = 60 };
#endif

/* A million observations load: the index takes less than the file, and the text stays on disk. */
static void a_million_observations(void **state)
{
    (void)state;
    char *folder = small_copy();
    size_t bytes = many_observations(folder, MANY);
    long before = peak_kib();
    clock_t start = clock();
    struct mc_err err = {.text = ""};
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLIFE struct mc_life *life = NULL;
    assert_int_equal(mc_corpus_open(folder, &corpus, &err), 0);
    assert_int_equal(mc_life_load(corpus, "choir-move", &life, &err), 0);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    long used_mib = (peak_kib() - before) / 1024;
    print_message("%d observations, %zu MiB of text: %.1f s of processor time, %ld MiB more memory\n", (int)MANY,
                  bytes >> 20, seconds, used_mib);
    assert_int_equal(life->observation_count, MANY);
    assert_string_equal(life->observations[1].source_id, "n1");
    assert_string_equal(life->observations[2].source_id, "n10");
    MC_AUTOSCHEDULE struct mc_schedule schedule;
    mc_life_schedule(life, &schedule);
    assert_int_equal(schedule.steps[0].count, MANY);
    MC_AUTOFREE char *last = mc_life_observation(life, MANY - 1, &err);
    MC_AUTOFREE char *text = mc_strf("\"source_id\":\"%s\"", life->observations[MANY - 1].source_id);
    assert_non_null(strstr(last, text));
    assert_true(used_mib < MIB);
    assert_true(seconds < SECONDS);
    remove_folder(folder);
}

static void ids_that_collide_in_a_weak_table(void **state)
{
    (void)state;
    struct mc_ids ids = {.count = 0};
    enum { IDS = 200000 };
    for (int i = 0; i < IDS; i++) {
        char id[32];
        snprintf(id, sizeof id, "%08x", (unsigned)i * 0x10001U);
        int fresh;
        mc_ids_add(&ids, (struct mc_id){.text = id, .line = i}, &fresh);
        assert_true(fresh);
    }
    int fresh;
    const struct mc_id *again = mc_ids_add(&ids, (struct mc_id){.text = "00010001", .line = 9}, &fresh);
    assert_false(fresh);
    assert_int_equal(again->line, 1);
    assert_null(mc_ids_find(&ids, "none"));
    mc_ids_release(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_ten_megabytes),   cmocka_unit_test(a_manifest_of_ten_megabytes),
        cmocka_unit_test(nesting_without_end),       cmocka_unit_test(aliases_that_explode),
        cmocka_unit_test(bytes_that_are_not_utf8),   cmocka_unit_test(links_out_of_the_folder),
        cmocka_unit_test(a_pipe_in_place_of_a_file), cmocka_unit_test(more_turns_than_allowed),
        cmocka_unit_test(a_million_observations),    cmocka_unit_test(ids_that_collide_in_a_weak_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
