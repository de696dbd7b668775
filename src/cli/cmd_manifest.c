/* memcal harness, memcal provider: manifests */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/meter.h"
#include "run/check.h"
#include "run/runfile.h"

/* MEMCAL_MANIFESTS, else ./manifests. */
static char *folder_of(const char *kind)
{
    const char *set = getenv("MEMCAL_MANIFESTS");
    return mc_path_join(set && *set ? set : "manifests", kind);
}

/* A path where it looks like one, else NAME.yaml in the kind's folder. */
static char *manifest_of(const char *kind, const char *given)
{
    size_t length = strlen(given);
    int is_path = strchr(given, '/') || (length > 5 && mc_streq(given + length - 5, ".yaml"));
    MC_AUTOFREE char *folder = folder_of(kind);
    return is_path ? mc_strdup(given) : mc_strf("%s/%s.yaml", folder, given);
}

static json_t *harness_json(const char *path, struct mc_err *err)
{
    struct mc_harness harness;
    if (mc_harness_load(path, &harness, err) != 0) {
        return NULL;
    }
    json_t *json = mc_harness_json(&harness);
    mc_harness_release(&harness);
    return json;
}

static json_t *provider_json(const char *path, struct mc_err *err)
{
    struct mc_provider provider;
    if (mc_provider_load(path, &provider, err) != 0) {
        return NULL;
    }
    json_t *json = mc_provider_json(&provider);
    mc_provider_release(&provider);
    return json;
}

typedef json_t *load_fn(const char *path, struct mc_err *err);

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_names(const char *folder, char ***names, size_t *count, struct mc_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        mc_fail_errno(err, errno, "reading the folder %s", folder);
        return mc_hint(err, "run it where manifests/ is, or set MEMCAL_MANIFESTS");
    }
    size_t cap = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && mc_streq(entry->d_name + length - 5, ".yaml")) {
            *names = mc_grow(*names, *count, &cap, sizeof **names);
            (*names)[(*count)++] = mc_strdup(entry->d_name);
        }
    }
    closedir(dir);
    if (*count) {
        qsort(*names, *count, sizeof **names, by_name);
    }
    return 0;
}

/* A manifest that cannot be read is listed with what is wrong with it. */
static json_t *list_manifests(const char *kind, load_fn *load, struct mc_err *err)
{
    MC_AUTOFREE char *folder = folder_of(kind);
    char **names = NULL;
    size_t count = 0;
    if (list_names(folder, &names, &count, err) != 0) {
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        MC_AUTOFREE char *path = mc_path_join(folder, names[i]);
        struct mc_err one;
        json_t *json = load(path, &one);
        json_array_append_new(list, json ? json : json_pack("{ss ss}", "path", path, "error", one.text));
        free(names[i]);
    }
    free(names);
    return list;
}

static int list_command(struct mc_cli *cli, int argc, char **argv, const struct mc_usage_page *page, const char *kind,
                        load_fn *load)
{
    int operands;
    int code = mc_options_read(cli, page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    MC_AUTOJSON json_t *list = list_manifests(kind, load, &err);
    if (!list) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        mc_cli_print_json(list);
        return MC_EXIT_OK;
    }
    size_t i;
    const json_t *manifest;
    json_array_foreach (list, i, manifest) {
        const char *error = json_string_value(json_object_get(manifest, "error"));
        const char *provider = json_string_value(json_object_get(manifest, "provider"));
        if (error) {
            printf("%s\n", error);
        } else {
            printf("%-22s %-34s %s\n", json_string_value(json_object_get(manifest, "name")),
                   json_string_value(json_object_get(manifest, "image")), provider ? provider : "");
        }
    }
    return MC_EXIT_OK;
}

static int show_command(struct mc_cli *cli, int argc, char **argv, const struct mc_usage_page *page, const char *kind,
                        load_fn *load)
{
    int operands;
    int code = mc_options_read(cli, page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    MC_AUTOFREE char *path = manifest_of(kind, argv[0]);
    MC_AUTOJSON json_t *json = load(path, &err);
    if (!json) {
        return mc_cli_fail(cli, &err);
    }
    mc_cli_print_json(json);
    return MC_EXIT_OK;
}

static int harness_list(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal harness list",
                                              .about = "Lists the harness manifests in manifests/harnesses."};
    return list_command(cli, argc, argv, &page, "harnesses", harness_json);
}

static int harness_show(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal harness show NAME|FILE",
                                              .about =
                                                  "Shows a harness manifest as it is understood, defaults filled in.",
                                              .least = 1,
                                              .most = 1};
    return show_command(cli, argc, argv, &page, "harnesses", harness_json);
}

static int provider_list(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal provider list",
                                              .about = "Lists the provider manifests in manifests/providers."};
    return list_command(cli, argc, argv, &page, "providers", provider_json);
}

static int provider_show(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal provider show NAME|FILE",
                                              .about =
                                                  "Shows a provider manifest as it is understood, defaults filled in.",
                                              .least = 1,
                                              .most = 1};
    return show_command(cli, argc, argv, &page, "providers", provider_json);
}

/* ---- check ---- */

static int print_checks(const struct mc_cli *cli, const json_t *checks)
{
    int bad = 0;
    size_t i;
    const json_t *check;
    json_array_foreach (checks, i, check) {
        int passed = json_is_true(json_object_get(check, "passed"));
        bad += !passed;
        if (!cli->json) {
            printf("%-5s %-24s expected: %s; seen: %s\n", passed ? "ok" : "FAIL",
                   json_string_value(json_object_get(check, "check")),
                   json_string_value(json_object_get(check, "expected")),
                   json_string_value(json_object_get(check, "seen")));
        }
    }
    if (cli->json) {
        mc_cli_print_json(checks);
    } else {
        printf("%s\n", bad ? "the program does not keep to the protocol" : "all checks passed");
    }
    return bad ? MC_EXIT_PREFLIGHT : MC_EXIT_OK;
}

static int check_command(struct mc_cli *cli, int argc, char **argv, const struct mc_usage_page *page, int provider)
{
    int operands;
    int code = mc_options_read(cli, page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_engine *engine = NULL;
    MC_AUTOJSON json_t *checks = NULL;
    MC_AUTOFREE char *path = manifest_of(provider ? "providers" : "harnesses", argv[0]);
    struct mc_meter meter;
    mc_meter_begin(&meter, cli);
    int rc = mc_cli_open_engine(cli, &engine, &err);
    if (rc == 0) {
        struct mc_check_options options = {.engine = engine,
                                           .manifest = path,
                                           .is_provider = provider,
                                           .cancel = &cli->cancel,
                                           .watch = {mc_meter_of_run, &meter}};
        rc = mc_check_manifest(&options, &checks, &err);
    }
    mc_meter_end(&meter);
    mc_engine_close(engine);
    return rc ? mc_cli_fail(cli, &err) : print_checks(cli, checks);
}

static int harness_check(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal harness check NAME|FILE",
        .about = "Runs a harness, with its provider if it has one, through a life of one import, one turn, one\n"
                 "night and one probe with the scripted model, and says what was expected and seen at each step.\n"
                 "Exit code 3 where a check failed.",
        .examples = "  memcal harness check hermes-fts\n  memcal harness check ./my-agent.yaml",
        .least = 1,
        .most = 1};
    return check_command(cli, argc, argv, &page, 0);
}

static int provider_check(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal provider check NAME|FILE",
        .about = "Runs a provider beside Hermes through a life of one import, one turn, one night and one probe, and\n"
                 "says what was expected and seen at each step. Exit code 3 where a check failed.",
        .least = 1,
        .most = 1};
    return check_command(cli, argc, argv, &page, 1);
}

int mc_cmd_harness(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_cli_command table[] = {{"list", NULL, harness_list, "list harness manifests"},
                                                  {"show", NULL, harness_show, "show one as it is understood"},
                                                  {"check", NULL, harness_check, "run one against the protocol"},
                                                  {NULL, NULL, NULL, NULL}};
    int code;
    const struct mc_cli_command *command = mc_cli_subcommand(cli, "harness", table, &argc, &argv, &code);
    return command ? command->fn(cli, argc, argv) : code;
}

int mc_cmd_provider(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_cli_command table[] = {{"list", NULL, provider_list, "list provider manifests"},
                                                  {"show", NULL, provider_show, "show one as it is understood"},
                                                  {"check", NULL, provider_check, "run one beside Hermes"},
                                                  {NULL, NULL, NULL, NULL}};
    int code;
    const struct mc_cli_command *command = mc_cli_subcommand(cli, "provider", table, &argc, &argv, &code);
    return command ? command->fn(cli, argc, argv) : code;
}
