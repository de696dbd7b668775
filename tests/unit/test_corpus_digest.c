#include "corpus_help.h"

#include <sys/stat.h>

/* The digest of tests/data/corpora/small, by: find . -type f | LC_ALL=C sort | while read f; do printf '%s\t%s\t%s\n'
 * "${f#./}" "$(stat -c %s "$f")" "$(sha256sum < "$f" | cut -d' ' -f1)"; done | sha256sum */
static const char small_digest[] = "29642a29a234d7ba25f2f375013942df6bac282b276847303d5f54bb1b5deb58";

static void the_digest_is_the_documented_one(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOLISTING struct mc_listing listing;
    assert_int_equal(mc_listing_scan(SMALL, &listing, &err), 0);
    assert_int_equal(listing.count, 11);
    assert_string_equal(listing.files[0].path, "corpus.yaml");
    assert_string_equal(listing.digest.hex, small_digest);
}

static void a_copy_has_the_same_digest(void **state)
{
    (void)state;
    struct mc_err err;
    char *folder = small_copy();
    MC_AUTOFREE char *turns = mc_path_join(folder, "lives/choir-move/turns.jsonl");
    assert_int_equal(chmod(turns, 0400), 0); /* modes do not count */
    put_text(folder, ".git/config", "x");    /* nor do hidden names */
    put_text(folder, "lives/choir-move/.DS_Store", "x");
    MC_AUTOFREE char *empty = mc_path_join(folder, "empty");
    assert_int_equal(mkdir(empty, 0700), 0); /* nor do empty folders */
    MC_AUTOLISTING struct mc_listing listing;
    assert_int_equal(mc_listing_scan(folder, &listing, &err), 0);
    assert_string_equal(listing.digest.hex, small_digest);
    assert_int_equal(listing.ignored_count, 2);
    assert_string_equal(listing.ignored[0], ".git");
    assert_string_equal(listing.ignored[1], "lives/choir-move/.DS_Store");
    remove_folder(folder);
}

static void every_change_is_noticed_and_named(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOLISTING struct mc_listing pinned;
    assert_int_equal(mc_listing_scan(SMALL, &pinned, &err), 0);
    assert_int_equal(mc_listing_compare(&pinned, &pinned, &err), 0);
    static const char *const says[] = {
        ": corpus.yaml changed (1 files differ)",
        ": lives/choir-move/life.yaml was removed (1 files differ)",
        ": README was added (1 files differ)",
    };
    for (size_t i = 0; i < MC_COUNT(says); i++) {
        char *folder = small_copy();
        MC_AUTOFREE char *gone = mc_path_join(folder, "lives/choir-move/life.yaml");
        if (i == 0) {
            edit(folder, "corpus.yaml", "small", "smell");
        } else if (i == 1) {
            assert_int_equal(unlink(gone), 0);
        } else {
            put_text(folder, "README", "x");
        }
        MC_AUTOLISTING struct mc_listing now;
        assert_int_equal(mc_listing_scan(folder, &now, &err), 0);
        assert_int_equal(mc_listing_compare(&pinned, &now, &err), MC_MISMATCH);
        MC_AUTOFREE char *text = mc_strf("the corpus is no longer the one with digest %s%s", small_digest, says[i]);
        assert_string_equal(err.text, text);
        MC_AUTOFREE char *hint = mc_strf("restore the files, or name the new digest %s", now.digest.hex);
        assert_string_equal(err.hint, hint);
        remove_folder(folder);
    }
}

static void moving_bytes_between_files_changes_the_digest(void **state)
{
    (void)state;
    struct mc_err err;
    static const char *const contents[][2] = {{"ab", "c"}, {"a", "bc"}};
    struct mc_digest digests[2];
    for (int i = 0; i < 2; i++) {
        char *folder = new_folder();
        put_text(folder, "x", contents[i][0]);
        put_text(folder, "y", contents[i][1]);
        MC_AUTOLISTING struct mc_listing listing;
        assert_int_equal(mc_listing_scan(folder, &listing, &err), 0);
        digests[i] = listing.digest;
        remove_folder(folder);
    }
    assert_string_not_equal(digests[0].hex, digests[1].hex);
}

/* Makes one thing that cannot be part of a corpus, and checks what is said. */
static void assert_refused(char *folder, const char *says)
{
    struct mc_err err;
    struct mc_listing listing;
    assert_int_equal(mc_listing_scan(folder, &listing, &err), MC_INPUT);
    MC_AUTOFREE char *text = mc_strf("%s/%s", folder, says);
    assert_string_equal(err.text, text);
    assert_true(err.hint[0] != '\0');
    remove_folder(folder);
}

static void links_and_special_files_are_refused(void **state)
{
    (void)state;
    char *folder = small_copy();
    MC_AUTOFREE char *link = mc_path_join(folder, "lives/choir-move/passwd");
    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_refused(folder, "lives/choir-move/passwd: a symbolic link cannot be part of a corpus");
    folder = small_copy();
    MC_AUTOFREE char *up = mc_path_join(folder, "lives/up");
    assert_int_equal(symlink("..", up), 0);
    assert_refused(folder, "lives/up: a symbolic link cannot be part of a corpus");
    folder = small_copy();
    MC_AUTOFREE char *fifo = mc_path_join(folder, "pipe");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_refused(folder, "pipe: only files and folders can be part of a corpus");
}

static void names_that_cannot_be_listed_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a\nb", "a\tb", "a\xff", "a\\b"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        char *folder = new_folder();
        put_text(folder, names[i], "x");
        assert_refused(folder, ": holds a name that is not UTF-8, or has control characters or a backslash");
    }
    char *folder = new_folder();
    put_text(folder, "1/2/3/4/5/6/7/8/9/10", "x");
    assert_refused(folder, "1/2/3/4/5/6/7/8/9: folders are nested too deep");
}

static void a_listing_reads_back(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOLISTING struct mc_listing listing;
    MC_AUTOLISTING struct mc_listing again;
    assert_int_equal(mc_listing_scan(SMALL, &listing, &err), 0);
    MC_AUTOFREE char *text = mc_listing_text(&listing);
    assert_int_equal(mc_listing_parse(text, strlen(text), &again, &err), 0);
    assert_int_equal(again.count, listing.count);
    assert_string_equal(again.digest.hex, small_digest);
    assert_int_equal(mc_listing_compare(&listing, &again, &err), 0);
}

static void forged_listings_are_refused(void **state)
{
    (void)state;
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
    static const char *const texts[] = {
        "../a\t1\t" ZEROS "\n",
        "/a\t1\t" ZEROS "\n",
        "a/../b\t1\t" ZEROS "\n",
        ".hidden\t1\t" ZEROS "\n",
        "a//b\t1\t" ZEROS "\n",
        "a/\t1\t" ZEROS "\n",
        "\t1\t" ZEROS "\n",
        "a\t01\t" ZEROS "\n",
        "a\t-1\t" ZEROS "\n",
        "a\t1\t" ZEROS,
        "a\t1\tabc\n",
        "a\t1\n",
        "a\t1\t" ZEROS "\t\n",
        "b\t1\t" ZEROS "\na\t1\t" ZEROS "\n",
        "a\t1\t" ZEROS "\na\t1\t" ZEROS "\n",
        "a\xff\t1\t" ZEROS "\n",
        "a\t99999999999999999999\t" ZEROS "\n",
        "1/2/3/4/5/6/7/8/9/10/11\t1\t" ZEROS "\n",
    };
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        struct mc_err err;
        struct mc_listing listing;
        assert_int_equal(mc_listing_parse(texts[i], strlen(texts[i]), &listing, &err), MC_INPUT);
        assert_non_null(strstr(err.text, "is not a line of a corpus listing"));
        assert_null(listing.files);
    }
}

static void an_export_checks_what_it_writes(void **state)
{
    (void)state;
    struct mc_err err;
    char *folder = small_copy();
    char *out = new_folder();
    MC_AUTOLISTING struct mc_listing listing;
    assert_int_equal(mc_listing_scan(folder, &listing, &err), 0);
    edit(folder, "lives/choir-stays/life.yaml", "Nadia", "Nodia"); /* after the listing was made */
    assert_int_equal(mc_listing_export(&listing, mc_files_of_dir(folder), out, &err), MC_MISMATCH);
    assert_string_equal(err.text, "lives/choir-stays/life.yaml does not have the digest that the listing gives it");
    assert_false(mc_fs_exists(out));
    free(out);
    remove_folder(folder);
}

static void an_export_overwrites_nothing(void **state)
{
    (void)state;
    struct mc_err err;
    char *folder = small_copy();
    char source[] = SMALL;
    MC_AUTOLISTING struct mc_listing listing;
    assert_int_equal(mc_listing_scan(SMALL, &listing, &err), 0);
    assert_int_equal(mc_listing_export(&listing, mc_files_of_dir(source), folder, &err), MC_EXISTS);
    MC_AUTOFREE char *text = mc_strf("%s: the folder is not empty", folder);
    assert_string_equal(err.text, text);
    MC_AUTOFREE char *file = mc_path_join(folder, "corpus.yaml");
    assert_int_equal(mc_listing_export(&listing, mc_files_of_dir(source), file, &err), MC_EXISTS);
    assert_non_null(strstr(err.text, "corpus.yaml: is not a folder"));
    assert_valid(folder);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_is_the_documented_one),
        cmocka_unit_test(a_copy_has_the_same_digest),
        cmocka_unit_test(every_change_is_noticed_and_named),
        cmocka_unit_test(moving_bytes_between_files_changes_the_digest),
        cmocka_unit_test(links_and_special_files_are_refused),
        cmocka_unit_test(names_that_cannot_be_listed_are_refused),
        cmocka_unit_test(a_listing_reads_back),
        cmocka_unit_test(forged_listings_are_refused),
        cmocka_unit_test(an_export_checks_what_it_writes),
        cmocka_unit_test(an_export_overwrites_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
