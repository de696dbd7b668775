/* memcal corpus */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "corpus/corpus.h"
#include "corpus/digest.h"
#include "run/keep.h"
#include "run/validate.h"
#include "store/objects.h"
#include "store/records.h"

/* ---- validate ---- */

static void print_problems(const struct mc_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct mc_problem *p = &problems->items[i];
        fputs(p->severity == MC_SEVERITY_ERROR ? "error: " : "warning: ", stdout);
        mc_print_safe(stdout, p->file, strlen(p->file));
        if (p->line > 0) {
            printf(":%d", p->line);
        }
        fputs(p->path[0] ? ": " : "", stdout);
        mc_print_safe(stdout, p->path, strlen(p->path));
        fputs(": ", stdout);
        mc_print_safe(stdout, p->text, strlen(p->text));
        fputs(p->mend[0] ? ": " : "", stdout);
        mc_print_safe(stdout, p->mend, strlen(p->mend));
        fputc('\n', stdout);
    }
    if (problems->count < problems->errors + problems->warnings) {
        printf("... and %zu more\n", problems->errors + problems->warnings - problems->count);
    }
    printf("%zu errors, %zu warnings\n", problems->errors, problems->warnings);
}

static int corpus_validate(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal corpus validate DIR",
        .about = "Checks a corpus against the whole format and names every problem in one pass, each with its file,\n"
                 "line and path, and a way to mend it. Exit code 2 where there is an error.",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    MC_AUTOPROBLEMS struct mc_problems problems = {.items = NULL};
    mc_validate(argv[0], &problems);
    if (cli->json) {
        MC_AUTOJSON json_t *json = mc_problems_json(&problems);
        mc_cli_print_json(json);
    } else {
        print_problems(&problems);
    }
    return problems.errors ? MC_EXIT_USAGE : MC_EXIT_OK;
}

/* ---- add, list, show, rm, export ---- */

static int corpus_add(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal corpus add DIR",
                                              .about =
                                                  "Checks a corpus, copies it into the store and prints its digest.",
                                              .examples = "  memcal corpus add manifests/corpora/quickstart",
                                              .least = 1,
                                              .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_store *store = NULL;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLISTING struct mc_listing listing = {.files = NULL};
    MC_AUTOPROBLEMS struct mc_problems problems = {.items = NULL};
    mc_validate(argv[0], &problems);
    int rc = mc_problems_check(&problems, &err);
    rc = rc ? rc : mc_corpus_open(argv[0], &corpus, &err);
    rc = rc ? rc : mc_listing_scan(argv[0], &listing, &err);
    rc = rc ? rc : mc_cli_open_store(cli, &store, &err);
    rc = rc ? rc : mc_keep_corpus(store, corpus, &listing, &err);
    mc_store_close(store);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        printf("{\"digest\":\"%s\",\"files\":%zu,\"lives\":%zu}\n", listing.digest.hex, listing.count,
               corpus->life_count);
    } else {
        printf("%s %s: %zu lives, %zu files\n%s\n", corpus->name, corpus->version, corpus->life_count, listing.count,
               listing.digest.hex);
    }
    return MC_EXIT_OK;
}

static int list_corpus(void *payload, const struct mc_corpus_record *corpus)
{
    json_array_append_new(payload,
                          json_pack("{ss ss ss sI ss}", "digest", corpus->digest, "name", corpus->name, "version",
                                    corpus->version, "lives", (json_int_t)corpus->lives, "added", corpus->added));
    return 0;
}

static int corpus_list(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal corpus list",
                                              .about = "Lists the corpora in the store."};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_store *store = NULL;
    MC_AUTOJSON json_t *list = json_array();
    int rc = mc_cli_open_store(cli, &store, &err);
    rc = rc ? rc : mc_corpora_list(store, list_corpus, list, &err);
    mc_store_close(store);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        mc_cli_print_json(list);
        return MC_EXIT_OK;
    }
    if (json_array_size(list) == 0) {
        printf("no corpora yet; add one with: memcal corpus add DIR\n");
    }
    size_t i;
    const json_t *corpus;
    json_array_foreach (list, i, corpus) {
        printf("%-20s %-8s %6lld lives  %s\n", json_string_value(json_object_get(corpus, "name")),
               json_string_value(json_object_get(corpus, "version")),
               (long long)json_integer_value(json_object_get(corpus, "lives")),
               json_string_value(json_object_get(corpus, "digest")));
    }
    return MC_EXIT_OK;
}

static json_t *life_json(const struct mc_life *life)
{
    return json_pack("{ss ss ss ss ss ss ss? sI sI sI sI sI}", "id", life->id, "title", life->title, "owner",
                     life->owner, "timezone", life->timezone, "family", life->family, "role",
                     mc_life_role_names[life->role], "control_of", life->control_of, "observations",
                     (json_int_t)life->observation_count, "turns", (json_int_t)life->turn_count, "checkpoints",
                     (json_int_t)life->checkpoint_count, "collections", (json_int_t)life->collection_count, "nights",
                     (json_int_t)life->night_count);
}

static json_t *corpus_json(const struct mc_corpus *corpus, const char *digest, struct mc_err *err)
{
    json_t *lives = json_array();
    for (size_t i = 0; i < corpus->life_count; i++) {
        MC_AUTOLIFE struct mc_life *life = NULL;
        if (mc_life_load(corpus, corpus->lives[i], &life, err) != 0) {
            json_decref(lives);
            return NULL;
        }
        json_array_append_new(lives, life_json(life));
    }
    return json_pack("{ss ss ss ss ss so}", "name", corpus->name, "version", corpus->version, "description",
                     corpus->description, "license", corpus->license, "digest", digest, "lives", lives);
}

/* A folder, or the digest or name of a corpus in the store: then its files are written into a temporary folder. */
static int open_any(struct mc_cli *cli, const char *given, char **temporary, struct mc_corpus **corpus,
                    struct mc_listing *listing, struct mc_err *err)
{
    if (mc_fs_is_dir(given)) {
        int rc = mc_corpus_open(given, corpus, err);
        return rc ? rc : mc_listing_scan(given, listing, err);
    }
    struct mc_store *store = NULL;
    int rc = mc_cli_open_store(cli, &store, err);
    rc = rc ? rc : mc_kept_listing(store, given, listing, err);
    if (rc == 0) {
        const char *tmp = getenv("TMPDIR");
        *temporary = mc_strf("%s/memcal-corpus-XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(*temporary)) {
            rc = mc_fail(err, MC_IO, "making a temporary folder %s", *temporary);
        }
        rc = rc ? rc : mc_listing_export(listing, mc_kept_files(store), *temporary, err);
        rc = rc ? rc : mc_corpus_open(*temporary, corpus, err);
    }
    mc_store_close(store);
    return rc;
}

static void remove_temporary(char *path)
{
    struct mc_err ignored;
    if (path && mc_fs_remove_tree(path, &ignored) != 0) {
        fprintf(stderr, "memcal: %s was left behind\n", path);
    }
    free(path);
}

static void print_corpus(const json_t *json)
{
    printf("%s %s (%s)\n%s\n%s\n\n", json_string_value(json_object_get(json, "name")),
           json_string_value(json_object_get(json, "version")), json_string_value(json_object_get(json, "license")),
           json_string_value(json_object_get(json, "description")), json_string_value(json_object_get(json, "digest")));
    printf("%-28s %-12s %12s %6s %11s  %s\n", "life", "role", "observations", "turns", "checkpoints", "title");
    size_t i;
    const json_t *life;
    json_array_foreach (json_object_get(json, "lives"), i, life) {
        printf("%-28s %-12s %12lld %6lld %11lld  %s\n", json_string_value(json_object_get(life, "id")),
               json_string_value(json_object_get(life, "role")),
               (long long)json_integer_value(json_object_get(life, "observations")),
               (long long)json_integer_value(json_object_get(life, "turns")),
               (long long)json_integer_value(json_object_get(life, "checkpoints")),
               json_string_value(json_object_get(life, "title")));
    }
}

static int corpus_show(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal corpus show DIR|DIGEST|NAME",
        .about = "Shows a corpus and its lives: a folder's, or one in the store.\nNever shows the hidden rubric.",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    char *temporary = NULL;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLISTING struct mc_listing listing = {.files = NULL};
    MC_AUTOJSON json_t *json = NULL;
    int rc = open_any(cli, argv[0], &temporary, &corpus, &listing, &err);
    if (rc == 0 && !(json = corpus_json(corpus, listing.digest.hex, &err))) {
        rc = err.code;
    }
    remove_temporary(temporary);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        mc_cli_print_json(json);
    } else {
        print_corpus(json);
    }
    return MC_EXIT_OK;
}

static int corpus_rm(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal corpus rm DIGEST|NAME",
        .about = "Takes a corpus out of the store's list. Runs that were made with it keep what they need.",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_store *store = NULL;
    MC_AUTOLISTING struct mc_listing listing = {.files = NULL};
    int rc = mc_cli_open_store(cli, &store, &err);
    rc = rc ? rc : mc_kept_listing(store, argv[0], &listing, &err);
    rc = rc ? rc : mc_corpora_remove(store, listing.digest.hex, &err);
    mc_store_close(store);
    if (rc < 0) {
        return mc_cli_fail(cli, &err);
    }
    printf(cli->json ? "{\"removed\":\"%s\"}\n" : "removed %s\n", listing.digest.hex);
    return MC_EXIT_OK;
}

static int corpus_export(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal corpus export DIGEST|NAME DIR",
        .about = "Writes a corpus of the store into a new folder, each file checked against its digest.",
        .least = 2,
        .most = 2};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_store *store = NULL;
    MC_AUTOLISTING struct mc_listing listing = {.files = NULL};
    int rc = mc_cli_open_store(cli, &store, &err);
    rc = rc ? rc : mc_kept_listing(store, argv[0], &listing, &err);
    rc = rc ? rc : mc_listing_export(&listing, mc_kept_files(store), argv[1], &err);
    mc_store_close(store);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        printf("{\"digest\":\"%s\",\"files\":%zu}\n", listing.digest.hex, listing.count);
    } else {
        printf("%zu files written to %s\n", listing.count, argv[1]);
    }
    return MC_EXIT_OK;
}

int mc_cmd_corpus(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_cli_command table[] = {
        {"validate", NULL, corpus_validate, "check a corpus and name every problem"},
        {"add", NULL, corpus_add, "copy a corpus into the store, pinned by digest"},
        {"list", NULL, corpus_list, "list the corpora in the store"},
        {"show", NULL, corpus_show, "show a corpus and its lives"},
        {"export", NULL, corpus_export, "write a corpus of the store into a folder"},
        {"vary", NULL, mc_cmd_corpus_vary, "write a variant of a life into another corpus"},
        {"import", NULL, mc_cmd_corpus_import, "make a corpus of LoCoMo, LongMemEval, or your own messages"},
        {"rm", NULL, corpus_rm, "take a corpus out of the store"},
        {NULL, NULL, NULL, NULL}};
    int code;
    const struct mc_cli_command *command = mc_cli_subcommand(cli, "corpus", table, &argc, &argv, &code);
    return command ? command->fn(cli, argc, argv) : code;
}
