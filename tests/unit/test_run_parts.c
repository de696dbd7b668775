#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "run/context.h"
#include "run/owner.h"
#include "run/secrets.h"
#include "support/folder.h"

/* ---- Owners ---- */

/* "host/boot/pid/ticks" with one part replaced. */
static char *with_part(const char *owner, int part, const char *value)
{
    MC_AUTOFREE char *copy = mc_strdup(owner);
    struct mc_buf out = MC_BUF_OWN;
    char *rest = NULL;
    int i = 0;
    for (char *p = strtok_r(copy, "/", &rest); p; p = strtok_r(NULL, "/", &rest), i++) {
        mc_buf_putf(&out, "%s%s", i ? "/" : "", i == part ? value : p);
    }
    assert_int_equal(i, 4);
    return mc_buf_take(&out);
}

static char *self(void)
{
    struct mc_err err;
    char *owner = NULL;
    assert_int_equal(mc_owner_self(&owner, &err), 0);
    return owner;
}

static void this_process_is_alive(void **state)
{
    (void)state;
    MC_AUTOFREE char *owner = self();
    MC_AUTOFREE char *again = self();
    assert_string_equal(owner, again);
    assert_int_equal(mc_owner_state(owner), MC_OWNER_ALIVE);
}

static void a_process_that_ended_is_dead(void **state)
{
    (void)state;
    MC_AUTOFREE char *owner = self();
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    MC_AUTOFREE char *pid = mc_strf("%ld", (long)child);
    MC_AUTOFREE char *dead = with_part(owner, 2, pid);
    assert_int_equal(mc_owner_state(dead), MC_OWNER_DEAD);
    /* The same process ID, another start. */
    MC_AUTOFREE char *reused = with_part(owner, 3, "1");
    assert_int_equal(mc_owner_state(reused), MC_OWNER_DEAD);
}

static void a_process_that_nobody_reaped_is_dead(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        struct mc_err err;
        char *owner = NULL;
        int rc = mc_owner_self(&owner, &err);
        ssize_t n = rc == 0 ? write(fds[1], owner, strlen(owner)) : -1;
        free(owner);
        _exit(n < 0);
    }
    close(fds[1]);
    char owner[512] = "";
    assert_true(read(fds[0], owner, sizeof owner - 1) > 0);
    close(fds[0]);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* it has ended, and stays */
    assert_int_equal(mc_owner_state(owner), MC_OWNER_DEAD);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void another_boot_is_dead_and_another_host_unknown(void **state)
{
    (void)state;
    MC_AUTOFREE char *owner = self();
    MC_AUTOFREE char *boot = with_part(owner, 1, "00000000-0000-0000-0000-000000000000");
    assert_int_equal(mc_owner_state(boot), MC_OWNER_DEAD);
    MC_AUTOFREE char *host = with_part(owner, 0, "elsewhere.example");
    assert_int_equal(mc_owner_state(host), MC_OWNER_ELSEWHERE);
}

static void what_is_no_owner_proves_nothing(void **state)
{
    (void)state;
    MC_AUTOFREE char *owner = self();
    MC_AUTOFREE char *no_pid = with_part(owner, 2, "x");
    MC_AUTOFREE char *negative = with_part(owner, 2, "-1");
    MC_AUTOFREE char *zero = with_part(owner, 2, "0");
    MC_AUTOFREE char *no_ticks = with_part(owner, 3, "x");
    MC_AUTOFREE char *more = mc_strf("%s/more", owner);
    MC_AUTOFREE char *host = mc_strndup(owner, strcspn(owner, "/"));
    MC_AUTOFREE char *host_only = mc_strf("%s/", host);
    const char *const texts[] = {"", "/", "a", no_pid, negative, zero, no_ticks, more, host, host_only};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        assert_int_equal(mc_owner_state(texts[i]), MC_OWNER_ELSEWHERE);
    }
}

/* ---- Secrets ---- */

static void secrets_come_from_the_environment(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_secrets secrets;
    setenv("MEMCAL_TEST_KEY", "hunter22", 1);
    const char *const names[] = {"MEMCAL_TEST_KEY", NULL};
    assert_int_equal(mc_secrets_read(&secrets, names, &err), 0);
    assert_string_equal(json_string_value(json_object_get(secrets.values, "MEMCAL_TEST_KEY")), "hunter22");
    MC_AUTOFREE char *clean = mc_redact_text(secrets.redactor, "a hunter22");
    assert_string_equal(clean, "a [secret:MEMCAL_TEST_KEY]");
    mc_secrets_release(&secrets);
    mc_secrets_release(&secrets);
    static const struct {
        const char *value;
        const char *text;
        const char *hint;
    } cases[] = {
        {NULL, "the secret MEMCAL_TEST_KEY is not set",
         "set it in the environment: the run file names it under \"secrets\""},
        {"", "the secret MEMCAL_TEST_KEY is not set",
         "set it in the environment: the run file names it under \"secrets\""},
        {"12345",
         "the secret MEMCAL_TEST_KEY is shorter than 6 characters: it could not be kept out of what is recorded",
         "use a longer one"},
        {"not \xff text", "the secret MEMCAL_TEST_KEY is not UTF-8 text", ""},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        if (cases[i].value) {
            setenv("MEMCAL_TEST_KEY", cases[i].value, 1);
        } else {
            unsetenv("MEMCAL_TEST_KEY");
        }
        assert_int_equal(mc_secrets_read(&secrets, names, &err), MC_INPUT);
        assert_string_equal(err.text, cases[i].text);
        assert_string_equal(err.hint, cases[i].hint);
        mc_secrets_release(&secrets);
    }
    unsetenv("MEMCAL_TEST_KEY");
}

/* ---- Build contexts ---- */

static struct mc_digest digest_of(struct mc_context *context, int *fd)
{
    struct mc_err err;
    struct mc_digest digest;
    if (mc_context_write(context, fd, &digest, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return digest;
}

/* A folder of two files and a folder, made in one of two orders, with what has no place in a context. */
static char *make_tree(int backwards)
{
    static const char *const names[] = {"Dockerfile", "a/one", "a/two", "b.keep/.keep"};
    char *dir = test_folder();
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        const char *name = names[backwards ? MC_COUNT(names) - 1 - i : i];
        free(test_file(dir, name, name));
    }
    free(test_file(dir, ".git/config", "not this"));
    free(test_file(dir, "a/__pycache__/x.pyc", backwards ? "nor this" : "or this"));
    MC_AUTOFREE char *one = mc_path_join(dir, "a/one");
    assert_int_equal(chmod(one, backwards ? 0700 : 0755), 0);
    return dir;
}

static void the_same_content_gives_the_same_bytes(void **state)
{
    (void)state;
    struct mc_digest digests[2];
    for (int i = 0; i < 2; i++) {
        struct mc_err err;
        char *dir = make_tree(i);
        MC_AUTOFREE char *extra = test_file(dir, ".extra", "x");
        struct mc_context context = {.files = NULL};
        mode_t before = umask(i ? 077 : 022);
        if (i) {
            assert_int_equal(mc_context_add(&context, "extra", extra, &err), 0);
        }
        assert_int_equal(mc_context_add(&context, "", dir, &err), 0);
        if (!i) {
            assert_int_equal(mc_context_add(&context, "extra", extra, &err), 0);
        }
        umask(before);
        int fd = -1;
        digests[i] = digest_of(&context, &fd);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
        close(fd);
        mc_context_release(&context);
        test_folder_remove(dir);
        sleep(i ? 0 : 1); /* another second on the clock */
    }
    assert_string_equal(digests[0].hex, digests[1].hex);
}

static void the_tar_says_nothing_of_the_host(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mode_t mode;
    } wanted[] = {{"Dockerfile", 0644}, {"a/one", 0755}, {"a/two", 0644}, {"b.keep/.keep", 0644}};
    struct mc_err err;
    char *dir = make_tree(0);
    struct mc_context context = {.files = NULL};
    assert_int_equal(mc_context_add(&context, "", dir, &err), 0);
    int fd = -1;
    digest_of(&context, &fd);
    struct archive *tar = archive_read_new();
    archive_read_support_format_tar(tar);
    assert_int_equal(archive_read_open_fd(tar, fd, 10240), ARCHIVE_OK);
    struct archive_entry *entry;
    size_t count = 0;
    while (archive_read_next_header(tar, &entry) == ARCHIVE_OK) {
        assert_true(count < MC_COUNT(wanted));
        assert_string_equal(archive_entry_pathname(entry), wanted[count].name);
        assert_int_equal(archive_entry_perm(entry), wanted[count].mode);
        assert_int_equal(archive_entry_uid(entry), 0);
        assert_int_equal(archive_entry_gid(entry), 0);
        assert_int_equal(archive_entry_mtime(entry), 0);
        char bytes[64] = "";
        assert_int_equal(archive_read_data(tar, bytes, sizeof bytes - 1), strlen(wanted[count].name));
        assert_string_equal(bytes, wanted[count].name);
        count++;
    }
    assert_int_equal(count, MC_COUNT(wanted));
    archive_read_free(tar);
    close(fd);
    mc_context_release(&context);
    test_folder_remove(dir);
}

static void content_names_and_modes_change_the_digest(void **state)
{
    (void)state;
    struct mc_digest digests[4];
    for (int i = 0; i < 4; i++) {
        struct mc_err err;
        char *dir = test_folder();
        MC_AUTOFREE char *path = test_file(dir, i == 2 ? "b" : "a", i == 1 ? "y" : "x");
        assert_int_equal(chmod(path, i == 3 ? 0755 : 0644), 0);
        struct mc_context context = {.files = NULL};
        assert_int_equal(mc_context_add(&context, "", dir, &err), 0);
        int fd = -1;
        digests[i] = digest_of(&context, &fd);
        close(fd);
        mc_context_release(&context);
        test_folder_remove(dir);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(digests[i].hex, digests[j].hex);
        }
    }
}

static void what_a_context_cannot_hold_is_said(void **state)
{
    (void)state;
    struct mc_err err;
    char *dir = test_folder();
    MC_AUTOFREE char *file = test_file(dir, "file", "x");
    struct mc_context context = {.files = NULL};
    int fd = -1;
    struct mc_digest digest;
    assert_int_equal(mc_context_add(&context, "", dir, &err), 0);
    assert_int_equal(mc_context_add(&context, "file", file, &err), 0);
    assert_int_equal(mc_context_write(&context, &fd, &digest, &err), MC_INPUT);
    assert_string_equal(err.text, "the build context has two files file");
    assert_int_equal(fd, -1);
    mc_context_release(&context);
    MC_AUTOFREE char *absent = mc_path_join(dir, "absent");
    assert_int_equal(mc_context_add(&context, "x", absent, &err), MC_NOT_FOUND);
    MC_AUTOFREE char *fifo = mc_path_join(dir, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(mc_context_add(&context, "", dir, &err), MC_INPUT);
    MC_AUTOFREE char *neither = mc_strf("%s is neither a file nor a folder", fifo);
    assert_string_equal(err.text, neither);
    mc_context_release(&context);
    assert_int_equal(unlink(fifo), 0);
    MC_AUTOFREE char *link = mc_path_join(dir, "link");
    assert_int_equal(symlink(".", link), 0);
    assert_int_equal(mc_context_add(&context, "", dir, &err), MC_INPUT);
    MC_AUTOFREE char *linked = mc_strf("%s is a symbolic link, which a build context cannot hold", link);
    assert_string_equal(err.text, linked);
    mc_context_release(&context);
    test_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process_is_alive),
        cmocka_unit_test(a_process_that_ended_is_dead),
        cmocka_unit_test(a_process_that_nobody_reaped_is_dead),
        cmocka_unit_test(another_boot_is_dead_and_another_host_unknown),
        cmocka_unit_test(what_is_no_owner_proves_nothing),
        cmocka_unit_test(secrets_come_from_the_environment),
        cmocka_unit_test(the_same_content_gives_the_same_bytes),
        cmocka_unit_test(the_tar_says_nothing_of_the_host),
        cmocka_unit_test(content_names_and_modes_change_the_digest),
        cmocka_unit_test(what_a_context_cannot_hold_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
