#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/events.h"
#include "store/objects.h"
#include "store/records.h"
#include "store/schema.h"
#include "support/folder.h"

struct fixture {
    char *dir;
    struct mc_store *store;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct mc_err err;
    fixture.dir = test_folder();
    assert_int_equal(mc_store_open(fixture.dir, &fixture.store, &err), 0);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    mc_store_close(f->store);
    test_folder_remove(f->dir);
    return 0;
}

/* ---- The store itself ---- */

static void a_new_store_keeps_its_identity(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_store *again;
    assert_string_equal(mc_store_dir(f->store), f->dir);
    assert_int_equal(strlen(mc_store_uuid(f->store)), 36);
    assert_int_equal(mc_store_uuid(f->store)[14], '4');
    assert_int_equal(mc_store_open(f->dir, &again, &err), 0);
    assert_string_equal(mc_store_uuid(again), mc_store_uuid(f->store));
    mc_store_close(again);
    char *other_dir = test_folder();
    assert_int_equal(mc_store_open(other_dir, &again, &err), 0);
    assert_string_not_equal(mc_store_uuid(again), mc_store_uuid(f->store));
    mc_store_close(again);
    test_folder_remove(other_dir);
    mc_store_close(NULL);
}

static void damage(const char *dir, const char *sql)
{
    MC_AUTOFREE char *path = mc_path_join(dir, "memcal.db");
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void refused(const char *dir, enum mc_code code, const char *text, const char *hint)
{
    struct mc_err err;
    struct mc_store *store;
    MC_AUTOFREE char *expected = mc_strf(text, dir);
    assert_int_equal(mc_store_open(dir, &store, &err), code);
    assert_string_equal(err.text, expected);
    assert_string_equal(err.hint, hint);
}

static void what_is_not_a_store_is_left_alone(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        const char *text;
        const char *hint;
    } cases[] = {
        {"PRAGMA application_id=7; PRAGMA user_version=1;", "%s/memcal.db is not a memcal store",
         "use another store with --store DIR"},
        {"CREATE TABLE mine (x)", "%s/memcal.db is not a memcal store", "use another store with --store DIR"},
        {"PRAGMA application_id=1835229548", "%s/memcal.db is not a memcal store",
         "use another store with --store DIR"},
        {"PRAGMA application_id=1835229548; PRAGMA user_version=99",
         "the store %s was written by a newer memcal (schema 99, this one knows 1)",
         "update memcal, or use another store with --store DIR"},
    };
    assert_int_equal(MC_APPLICATION_ID, 1835229548);
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        char *dir = test_folder();
        damage(dir, cases[i].sql);
        MC_AUTOFREE char *path = mc_path_join(dir, "memcal.db");
        refused(dir, MC_INPUT, cases[i].text, cases[i].hint);
        damage(dir, "CREATE TABLE still_works (x)");
        sqlite3 *db;
        sqlite3_stmt *statement;
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM runs", -1, &statement, NULL), SQLITE_ERROR);
        sqlite3_close(db);
        test_folder_remove(dir);
    }
}

static void damaged_databases_are_said_to_be(void **state)
{
    (void)state;
    char *dir = test_folder();
    char junk[8192];
    memset(junk, 'j', sizeof junk);
    junk[sizeof junk - 1] = '\0';
    MC_AUTOFREE char *path = test_file(dir, "memcal.db", junk);
    refused(dir, MC_IO, "working in %s/memcal.db: file is not a database",
            "the database is damaged: restore it from a backup, or use another store with --store DIR");
    test_folder_remove(dir);
}

/* All pages after the first are overwritten: the header still says that it is a store. */
static void damaged_pages_are_noticed(void **state)
{
    (void)state;
    char *dir = test_folder();
    struct mc_err err;
    struct mc_store *store;
    assert_int_equal(mc_store_open(dir, &store, &err), 0);
    mc_store_close(store);
    MC_AUTOFREE char *path = mc_path_join(dir, "memcal.db");
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    for (off_t at = 4096; at < info.st_size; at += 4096) {
        assert_int_equal(pwrite(fd, junk, sizeof junk, at), sizeof junk);
    }
    close(fd);
    assert_int_equal(mc_store_open(dir, &store, &err), MC_IO);
    assert_non_null(strstr(err.text, "malformed"));
    assert_string_equal(err.hint,
                        "the database is damaged: restore it from a backup, or use another store with --store DIR");
    test_folder_remove(dir);
}

static void a_folder_that_cannot_be_made_is_said(void **state)
{
    (void)state;
    char *dir = test_folder();
    MC_AUTOFREE char *file = test_file(dir, "file", "x");
    struct mc_err err;
    struct mc_store *store;
    assert_int_equal(mc_store_open(file, &store, &err), MC_NOT_FOUND);
    MC_AUTOFREE char *expected =
        mc_strf("opening the store %s: making the folder %s/objects/tmp: Not a directory", file, file);
    assert_string_equal(err.text, expected);
    assert_string_equal(err.hint, "choose a folder that you may write to with --store DIR");
    test_folder_remove(dir);
}

static void transactions_are_whole(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_corpus_record corpus = {.digest = "d", .name = "n", .version = "1", .lives = 2};
    struct mc_corpus_file files[] = {{"a", 1, "not an object"}};
    /* A file whose object is not there: nothing of the corpus stays, and it is not called a duplicate. */
    assert_int_equal(mc_corpora_add(f->store, &corpus, files, 1, &err), MC_INTERNAL);
    assert_non_null(strstr(err.text, "FOREIGN KEY constraint failed"));
    assert_int_equal(mc_corpora_remove(f->store, "d", &err), 0);
    assert_int_equal(mc_store_begin(f->store, &err), 0);
    assert_int_equal(mc_corpora_add(f->store, &corpus, NULL, 0, &err), MC_IO); /* within another */
    mc_store_rollback(f->store);
    mc_store_rollback(f->store);
}

/* ---- Objects ---- */

static char *object_path(struct fixture *f, const struct mc_digest *digest)
{
    return mc_object_path(f->store, digest->hex);
}

static size_t temporaries(const struct fixture *f)
{
    MC_AUTOFREE char *tmp = mc_path_join(f->dir, "objects/tmp");
    return test_count(tmp);
}

static void objects_are_kept_by_content(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_digest one;
    struct mc_digest two;
    assert_int_equal(mc_object_put(f->store, "test", "abc", 3, &one, &err), 0);
    assert_string_equal(one.hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); /* FIPS 180-2 */
    assert_int_equal(mc_object_put(f->store, "other", "abc", 3, &two, &err), 0);
    assert_string_equal(one.hex, two.hex);
    MC_AUTOFREE char *path = object_path(f, &one);
    MC_AUTOFREE char *wanted = mc_strf("%s/objects/ba/%s", f->dir, one.hex + 2);
    assert_string_equal(path, wanted);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0444);
    assert_int_equal(info.st_nlink, 1);
    assert_int_equal(temporaries(f), 0);
    struct mc_buf bytes = MC_BUF_INIT(3);
    assert_int_equal(mc_object_read(f->store, one.hex, &bytes, &err), 0);
    assert_string_equal(mc_buf_text(&bytes), "abc");
    mc_buf_release(&bytes);
    struct mc_buf small = MC_BUF_INIT(2);
    assert_int_equal(mc_object_read(f->store, one.hex, &small, &err), MC_LIMIT);
    mc_buf_release(&small);
    /* Nothing and zeros are content too. */
    assert_int_equal(mc_object_put(f->store, "test", "", 0, &one, &err), 0);
    assert_int_equal(mc_object_put(f->store, "test", "\0\0", 2, &one, &err), 0);
}

static void what_is_not_there_or_no_digest_is_said(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_buf bytes = MC_BUF_INIT(10);
    assert_int_equal(mc_object_read(f->store, "../memcal.db", &bytes, &err), MC_INPUT);
    assert_string_equal(err.text, "\"../memcal.db\" is not the digest of an object");
    assert_int_equal(mc_object_read(f->store, "", &bytes, &err), MC_INPUT);
    struct mc_digest digest = mc_sha256_of("absent", 6);
    assert_int_equal(mc_object_read(f->store, digest.hex, &bytes, &err), MC_NOT_FOUND);
    mc_buf_release(&bytes);
}

static void damaged_objects_are_noticed_and_replaced(void **state)
{
    struct fixture *f = *state;
    static const char *const wrong[] = {"abX", "ab", "", "abcd"};
    for (size_t i = 0; i < MC_COUNT(wrong); i++) {
        struct mc_err err;
        struct mc_digest digest;
        assert_int_equal(mc_object_put(f->store, "test", "abc", 3, &digest, &err), 0);
        MC_AUTOFREE char *path = object_path(f, &digest);
        assert_int_equal(unlink(path), 0);
        MC_AUTOFREE char *damaged = test_file(f->dir, path + strlen(f->dir) + 1, wrong[i]);
        struct mc_buf bytes = MC_BUF_INIT(10);
        assert_int_equal(mc_object_read(f->store, digest.hex, &bytes, &err), MC_MISMATCH);
        struct mc_digest found = mc_sha256_of(wrong[i], strlen(wrong[i]));
        MC_AUTOFREE char *text = mc_strf("the object %s is damaged: its bytes have the digest %s", path, found.hex);
        assert_string_equal(err.text, text);
        assert_string_equal(err.hint, "restore it from a backup; what refers to it cannot be trusted");
        assert_int_equal(mc_object_put(f->store, "test", "abc", 3, &digest, &err), 0);
        assert_int_equal(mc_object_read(f->store, digest.hex, &bytes, &err), 0);
        assert_int_equal(temporaries(f), 0);
        mc_buf_release(&bytes);
    }
}

static void pieces_make_the_same_object(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_object_writer *writer;
    struct mc_digest digest;
    int64_t size = 0;
    assert_int_equal(mc_object_begin(f->store, "test", &writer, &err), 0);
    assert_int_equal(temporaries(f), 1);
    assert_int_equal(mc_object_write(writer, "a", 1, &err), 0);
    assert_int_equal(mc_object_write(writer, "", 0, &err), 0);
    assert_int_equal(mc_object_write(writer, "bc", 2, &err), 0);
    assert_int_equal(mc_object_end(writer, &digest, &size, &err), 0);
    assert_int_equal(size, 3);
    assert_string_equal(digest.hex, mc_sha256_of("abc", 3).hex);
    assert_int_equal(mc_object_begin(f->store, "test", &writer, &err), 0);
    assert_int_equal(mc_object_write(writer, "gone", 4, &err), 0);
    mc_object_abandon(writer);
    mc_object_abandon(NULL);
    assert_int_equal(temporaries(f), 0);
}

/* Its folder cannot be made: a file has its name. */
static void a_failed_object_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_digest digest;
    MC_AUTOFREE char *blocker = test_file(f->dir, "objects/ba", "x");
    assert_int_equal(mc_object_put(f->store, "test", "abc", 3, &digest, &err), MC_INPUT);
    MC_AUTOFREE char *text = mc_strf("making the folder %s/objects/ba: something else has that name", f->dir);
    assert_string_equal(err.text, text);
    assert_int_equal(temporaries(f), 0);
}

/* ---- A full disk ---- */

static void a_full_disk_is_said_clearly_and_leaves_no_half_object(void **state)
{
    (void)state;
    char *dir = test_folder();
    if (geteuid() != 0 || mount("none", dir, "tmpfs", 0, "size=1m") != 0) {
        print_message("not run: mounting a small tmpfs needs root\n");
        test_folder_remove(dir);
        skip();
    }
    struct mc_err err;
    struct mc_store *store;
    struct mc_events *events = NULL;
    assert_int_equal(mc_store_open(dir, &store, &err), 0);
    assert_int_equal(mc_events_open(store, "r", NULL, &events, &err), 0);
    assert_int_equal(mc_events_add(events, "first", NULL, &err), 0);
    /* An object that is larger than the disk. */
    size_t size = (size_t)2 << 20;
    MC_AUTOFREE char *large = mc_alloc(size, 1);
    memset(large, 'x', size);
    struct mc_digest digest;
    assert_int_equal(mc_object_put(store, "test", large, size, &digest, &err), MC_IO);
    assert_non_null(strstr(err.text, "No space left on device"));
    assert_string_equal(err.hint, "free some space on that disk, then run the same command again");
    MC_AUTOFREE char *tmp = mc_path_join(dir, "objects/tmp");
    assert_int_equal(test_count(tmp), 0);
    MC_AUTOFREE char *objects = mc_path_join(dir, "objects");
    assert_int_equal(test_count(objects), 1);
    /* The disk is full now: rows and events fail with the same advice, and the log has no half line. */
    MC_AUTOFREE char *filler = mc_path_join(dir, "filler");
    int fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, large, 4096) > 0) {
    }
    close(fd);
    int rc = 0;
    for (int i = 0; rc == 0 && i < 100000; i++) {
        rc = mc_events_add(events, "more", json_pack("{s:s}", "text", "some text to fill the page with"), &err);
    }
    assert_int_equal(rc, MC_IO);
    assert_string_equal(err.hint, "free some space on that disk, then run the same command again");
    rc = 0;
    for (int i = 0; rc == 0 && i < 100000; i++) {
        MC_AUTOFREE char *id = mc_strf("corpus %d", i);
        struct mc_corpus_record corpus = {.digest = id, .name = "n", .version = "1", .lives = 1};
        rc = mc_corpora_add(store, &corpus, NULL, 0, &err);
    }
    assert_int_equal(rc, MC_IO);
    assert_string_equal(err.hint, "free some space on that disk, then run the same command again");
    /* Space again: all goes on, the log counts without a gap. */
    assert_int_equal(unlink(filler), 0);
    assert_int_equal(mc_object_put(store, "test", "abc", 3, &digest, &err), 0);
    assert_int_equal(mc_events_add(events, "last", NULL, &err), 0);
    mc_events_close(events);
    mc_store_close(store);
    MC_AUTOFREE char *path = mc_path_join(dir, "runs/r/events.jsonl");
    MC_AUTOFREE char *text = test_content(path);
    json_int_t seq = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        json_t *json = json_loads(line, 0, NULL);
        assert_non_null(json);
        assert_int_equal(json_integer_value(json_object_get(json, "seq")), ++seq);
        json_decref(json);
    }
    assert_int_equal(umount(dir), 0);
    test_folder_remove(dir);
}

/* ---- Events ---- */

static char *log_of(const struct fixture *f)
{
    MC_AUTOFREE char *path = mc_path_join(f->dir, "runs/r1/events.jsonl");
    return test_content(path);
}

static void events_are_lines_with_a_count(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_events *events;
    struct mc_redactor *redactor = mc_redactor_new();
    mc_redactor_add(redactor, "KEY", "hunter22");
    assert_int_equal(mc_events_open(f->store, "r1", redactor, &events, &err), 0);
    assert_int_equal(mc_events_add(events, "one", NULL, &err), 0);
    /* The log's own members are not to be overwritten, and no secret gets in. */
    assert_int_equal(
        mc_events_add(events, "two",
                      json_pack("{s:i, s:s, s:s, s:s}", "seq", 9, "type", "x", "at", "y", "text", "line\nhunter22"),
                      &err),
        0);
    assert_int_equal(mc_events_flush(events, &err), 0);
    mc_events_close(events);
    mc_events_close(NULL);
    MC_AUTOFREE char *text = log_of(f);
    char *second = strchr(text, '\n');
    *second++ = '\0';
    json_t *one = json_loads(text, 0, NULL);
    json_t *two = json_loads(second, 0, NULL);
    assert_int_equal(json_object_size(one), 3);
    assert_int_equal(json_integer_value(json_object_get(one, "seq")), 1);
    struct mc_time at;
    assert_int_equal(mc_time_parse(json_string_value(json_object_get(one, "at")), &at, &err), 0);
    assert_int_equal(json_integer_value(json_object_get(two, "seq")), 2);
    assert_string_equal(json_string_value(json_object_get(two, "type")), "two");
    assert_string_equal(json_string_value(json_object_get(two, "text")), "line\n[secret:KEY]");
    json_decref(one);
    json_decref(two);
    mc_redactor_free(redactor);
}

static void a_torn_last_line_is_cut_and_the_count_goes_on(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *before;
        const char *kept;
        json_int_t next;
    } cases[] = {{"", "", 1},
                 {"{\"seq\":1}\n", "{\"seq\":1}\n", 2},
                 {"{\"seq\":1}\n{\"seq\":2,\"ty", "{\"seq\":1}\n", 2},
                 {"{\"se", "", 1}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_events *events;
        MC_AUTOFREE char *path = test_file(f->dir, "runs/r1/events.jsonl", cases[i].before);
        assert_int_equal(mc_events_open(f->store, "r1", NULL, &events, &err), 0);
        assert_int_equal(mc_events_add(events, "next", NULL, &err), 0);
        mc_events_close(events);
        MC_AUTOFREE char *text = log_of(f);
        size_t kept = strlen(cases[i].kept);
        assert_int_equal(strncmp(text, cases[i].kept, kept), 0);
        json_t *line = json_loads(text + kept, 0, NULL);
        assert_int_equal(json_integer_value(json_object_get(line, "seq")), cases[i].next);
        json_decref(line);
    }
}

/* ---- Two processes ---- */

enum { EACH = 60 };

static int write_much(const char *dir, int number)
{
    struct mc_err err;
    struct mc_store *store;
    if (mc_store_open(dir, &store, &err) != 0) {
        return 1;
    }
    for (int i = 0; i < EACH; i++) {
        MC_AUTOFREE char *text = mc_strf("object %d of %d", i, number);
        struct mc_digest digest;
        MC_AUTOFREE char *shared = mc_strf("object %d", i);
        struct mc_digest same;
        struct mc_corpus_record corpus = {.digest = text, .name = "n", .version = "1", .lives = number};
        struct mc_corpus_file files[] = {{"a", 1, digest.hex}, {"b", 1, same.hex}};
        if (mc_object_put(store, "test", text, strlen(text), &digest, &err) != 0 ||
            mc_object_put(store, "test", shared, strlen(shared), &same, &err) != 0 ||
            mc_corpora_add(store, &corpus, files, 2, &err) != 0) {
            return 2;
        }
    }
    mc_store_close(store);
    return 0;
}

static int count_corpus(void *payload, const struct mc_corpus_record *corpus)
{
    int *counts = payload;
    counts[corpus->lives]++;
    return 0;
}

/* They also make the store at the same time. */
static void two_writers_lose_nothing(void **state)
{
    (void)state;
    char *dir = test_folder();
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            _exit(write_much(dir, i + 1));
        }
    }
    for (int i = 0; i < 2; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct mc_err err;
    struct mc_store *store;
    int counts[3] = {0, 0, 0};
    assert_int_equal(mc_store_open(dir, &store, &err), 0);
    assert_int_equal(mc_corpora_list(store, count_corpus, counts, &err), 0);
    assert_int_equal(counts[1], EACH);
    assert_int_equal(counts[2], EACH);
    for (int i = 0; i < EACH; i++) {
        for (int number = 0; number < 3; number++) {
            MC_AUTOFREE char *text = number ? mc_strf("object %d of %d", i, number) : mc_strf("object %d", i);
            struct mc_digest digest = mc_sha256_of(text, strlen(text));
            struct mc_buf bytes = MC_BUF_INIT(100);
            assert_int_equal(mc_object_read(store, digest.hex, &bytes, &err), 0);
            mc_buf_release(&bytes);
        }
    }
    mc_store_close(store);
    test_folder_remove(dir);
}

/* A writer that dies takes nothing committed with it. */
static void what_was_written_before_a_crash_is_there(void **state)
{
    (void)state;
    char *dir = test_folder();
    pid_t child = fork();
    if (child == 0) {
        struct mc_err err;
        struct mc_store *store;
        struct mc_corpus_record corpus = {.digest = "d", .name = "n", .version = "1", .lives = 1};
        int rc = mc_store_open(dir, &store, &err) || mc_corpora_add(store, &corpus, NULL, 0, &err) ||
                 mc_store_begin(store, &err);
        corpus.digest = "half";
        _exit(rc); /* without closing, in the middle of a transaction */
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct mc_err err;
    struct mc_store *store;
    int counts[2] = {0, 0};
    assert_int_equal(mc_store_open(dir, &store, &err), 0);
    assert_int_equal(mc_corpora_list(store, count_corpus, counts, &err), 0);
    assert_int_equal(counts[1], 1);
    mc_store_close(store);
    test_folder_remove(dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_store_keeps_its_identity),
        TEST(what_is_not_a_store_is_left_alone),
        TEST(damaged_databases_are_said_to_be),
        TEST(damaged_pages_are_noticed),
        TEST(a_folder_that_cannot_be_made_is_said),
        TEST(transactions_are_whole),
        TEST(objects_are_kept_by_content),
        TEST(what_is_not_there_or_no_digest_is_said),
        TEST(damaged_objects_are_noticed_and_replaced),
        TEST(pieces_make_the_same_object),
        TEST(a_failed_object_leaves_nothing),
        TEST(a_full_disk_is_said_clearly_and_leaves_no_half_object),
        TEST(events_are_lines_with_a_count),
        TEST(a_torn_last_line_is_cut_and_the_count_goes_on),
        TEST(two_writers_lose_nothing),
        TEST(what_was_written_before_a_crash_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
