/* memcal doctor, and how commands open the engine */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/tz.h"
#include "cli/cmd.h"
#include "engine/find.h"
#include "store/store.h"

enum { OPEN_MS = 15000 };

int mc_cli_open_engine(struct mc_cli *cli, struct mc_engine **out, struct mc_err *err)
{
    struct mc_find_env env = mc_find_env();
    struct mc_found found;
    int rc = mc_find(&env, &found, err);
    if (rc == 0) {
        mc_log(&cli->log, MC_LOG_DEBUG, "engine %s, by %s", found.endpoint.host, found.rule);
        rc = mc_engine_open(&found.endpoint, NULL, mc_within(OPEN_MS, &cli->cancel), out, err);
    }
    mc_found_release(&found);
    if (rc != 0 && rc != MC_INPUT && rc != MC_CANCELLED) {
        rc = err->code = MC_ENGINE; /* however it is missing: it has an exit code of its own */
    }
    return rc;
}

static json_t *tries_json(const struct mc_found *found)
{
    json_t *list = json_array();
    for (size_t i = 0; i < found->try_count; i++) {
        json_array_append_new(list, json_pack("{ss ss ss}", "rule", found->tries[i].rule, "where",
                                              found->tries[i].where, "why", found->tries[i].why));
    }
    return list;
}

static json_t *engine_json(const struct mc_engine_about *about)
{
    return json_pack("{ss ss ss ss ss ss ss ss ss ss ss ss sb sI sI}", "kind", about->kind_name, "version",
                     about->version, "api_spoken", about->api_spoken, "api_newest", about->api_newest, "api_oldest",
                     about->api_oldest, "os", about->os, "arch", about->arch, "kernel", about->kernel, "system",
                     about->system, "storage", about->storage, "cgroup", about->cgroup, "runtime", about->runtime,
                     "rootless", about->rootless, "cpus", (json_int_t)about->cpus, "memory", (json_int_t)about->memory);
}

/* One finding: good, or bad with what to do. */
static void find(json_t *findings, const char *what, int good, const char *seen, const char *mend)
{
    json_array_append_new(
        findings, json_pack("{ss sb ss ss*}", "what", what, "good", good, "seen", seen, "mend", good ? NULL : mend));
}

static void examine_engine(struct mc_cli *cli, const struct mc_found *found, json_t *body, json_t *findings)
{
    struct mc_err err;
    struct mc_engine *engine = NULL;
    int rc = mc_engine_open(&found->endpoint, NULL, mc_within(OPEN_MS, &cli->cancel), &engine, &err);
    if (rc != 0) {
        find(findings, "engine answers", 0, err.text, err.hint);
        return;
    }
    const struct mc_engine_about *about = mc_engine_about(engine);
    MC_AUTOFREE char *seen = mc_strf("%s %s, API %s (engine: %s to %s)", about->kind_name, about->version,
                                     about->api_spoken, about->api_oldest, about->api_newest);
    find(findings, "engine answers", 1, seen, NULL);
    int is_linux = mc_streq(about->os, "linux");
    find(findings, "engine runs Linux containers", is_linux, about->os, "switch the engine to Linux containers");
    MC_AUTOFREE char *memory = mc_strf("%lld MiB, %lld CPUs", (long long)(about->memory >> 20), (long long)about->cpus);
    find(findings, "memory for one trial (2 GiB)", about->memory == 0 || about->memory >= (int64_t)2 << 30, memory,
         "give the engine's machine more memory");
    json_object_set_new(body, "engine", engine_json(about));
    mc_engine_close(engine);
}

static void examine_store(struct mc_cli *cli, json_t *findings)
{
    struct mc_err err;
    struct mc_store *store = NULL;
    if (mc_cli_open_store(cli, &store, &err) != 0) {
        find(findings, "store can be written", 0, err.text, err.hint);
        return;
    }
    find(findings, "store can be written", 1, mc_store_dir(store), NULL);
    mc_store_close(store);
}

static void examine_zones(json_t *findings)
{
    struct mc_err err;
    struct mc_tz *zone = NULL;
    int good = mc_tz_load("America/New_York", &zone, &err) == 0;
    find(findings, "time zones are installed", good, good ? "America/New_York" : err.text,
         "install tzdata: apt-get install tzdata");
    mc_tz_free(zone);
}

static int print_findings(const struct mc_cli *cli, const json_t *body)
{
    int bad = 0;
    size_t i;
    const json_t *finding;
    json_array_foreach (json_object_get(body, "findings"), i, finding) {
        int good = json_is_true(json_object_get(finding, "good"));
        bad += !good;
        if (!cli->json) {
            const char *mend = json_string_value(json_object_get(finding, "mend"));
            printf("%-4s %-32s %s%s%s\n", good ? "ok" : "BAD", json_string_value(json_object_get(finding, "what")),
                   json_string_value(json_object_get(finding, "seen")), mend ? ": " : "", mend ? mend : "");
        }
    }
    if (cli->json) {
        MC_AUTOFREE char *text = mc_json_pretty(body);
        printf("%s\n", text);
        return bad ? MC_EXIT_MISSING : MC_EXIT_OK;
    }
    printf("\nlooked for an engine at:\n");
    const json_t *try;
    json_array_foreach (json_object_get(body, "tried"), i, try) {
        printf("  %-20s %-44s %s\n", json_string_value(json_object_get(try, "rule")),
               json_string_value(json_object_get(try, "where")), json_string_value(json_object_get(try, "why")));
    }
    printf("\n%s\n", bad ? "something is missing" : "all is well");
    return bad ? MC_EXIT_MISSING : MC_EXIT_OK;
}

int mc_cmd_doctor(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal doctor",
        .about = "Says which engine is used, where it was looked for, and what is missing."};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    MC_AUTOJSON json_t *body = json_object();
    json_t *findings = json_array();
    json_object_set_new(body, "findings", findings);
    struct mc_err err;
    struct mc_find_env env = mc_find_env();
    struct mc_found found;
    if (mc_find(&env, &found, &err) == 0) {
        MC_AUTOFREE char *seen = mc_strf("%s (%s)", found.endpoint.host, found.rule);
        find(findings, "engine is found", 1, seen, NULL);
        examine_engine(cli, &found, body, findings);
    } else {
        find(findings, "engine is found", 0, err.text, err.hint);
    }
    json_object_set_new(body, "tried", tries_json(&found));
    mc_found_release(&found);
    examine_store(cli, findings);
    examine_zones(findings);
    return print_findings(cli, body);
}
