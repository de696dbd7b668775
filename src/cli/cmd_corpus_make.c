/* memcal corpus vary, memcal corpus import */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "corpus/import.h"
#include "corpus/vary.h"

static int missing(struct mc_err *err, const char *option, const char *what)
{
    mc_fail(err, MC_INPUT, "--%s is missing", option);
    return mc_hint(err, "%s", what);
}

/* ---- vary ---- */

static int read_kind(const char *text, enum mc_vary_kind *out, struct mc_err *err)
{
    for (int i = 0; text && mc_vary_names[i]; i++) {
        if (mc_streq(mc_vary_names[i], text)) {
            *out = (enum mc_vary_kind)i;
            return 0;
        }
    }
    static const char kinds[] = "it is one of wording, distractor, duplicate, reorder, batch, sparse";
    if (!text) {
        return missing(err, "kind", kinds);
    }
    mc_fail(err, MC_INPUT, "there is no kind of variant \"%s\"", text);
    return mc_hint(err, "%s", kinds);
}

static int vary(const char *dir, const struct mc_vary *wish, char **id, struct mc_err *err)
{
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    int rc = mc_corpus_open(dir, &corpus, err);
    return rc ? rc : mc_corpus_vary(corpus, wish, id, err);
}

int mc_cmd_corpus_vary(struct mc_cli *cli, int argc, char **argv)
{
    const char *kind = NULL;
    const char *out = NULL;
    int64_t seed = -1;
    const struct mc_option options[] = {
        {"kind", 0, MC_OPTION_TEXT, "KIND", "wording, distractor, duplicate, reorder, batch or sparse", &kind},
        {"seed", 0, MC_OPTION_WHOLE, "N", "the same seed gives the same bytes", &seed},
        {"out", 0, MC_OPTION_TEXT, "DIR", "the corpus that takes the variant; made where absent", &out},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal corpus vary DIR LIFE --kind KIND --seed N --out DIR",
        .about =
            "Writes a variant of a life into another corpus: the same meaning in another shape. The source is only\n"
            "read. Where a variant would change what can be expected, its rubric follows or it is refused.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples =
            "  memcal corpus vary manifests/corpora/quickstart trivia-night --kind wording --seed 1 --out varied",
        .least = 2,
        .most = 2};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_vary wish = {.life = argv[1], .out = out};
    MC_AUTOFREE char *id = NULL;
    int rc = read_kind(kind, &wish.kind, &err);
    if (rc == 0 && seed < 0) {
        rc = missing(&err, "seed", "give a whole number; it is part of the variant's name");
    } else if (rc == 0 && seed > UINT32_MAX) {
        rc = mc_fail(&err, MC_INPUT, "--seed %lld is larger than %lld", (long long)seed, (long long)UINT32_MAX);
    } else if (rc == 0 && !out) {
        rc = missing(&err, "out", "name the corpus that takes the variant");
    }
    wish.seed = (uint32_t)seed;
    rc = rc ? rc : vary(argv[0], &wish, &id, &err);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        MC_AUTOJSON json_t *json = json_pack("{ss ss ss sI ss}", "life", id, "of", argv[1], "kind",
                                             mc_vary_names[wish.kind], "seed", (json_int_t)seed, "corpus", out);
        mc_cli_print_json(json);
    } else {
        printf("%s written to %s\n", id, out);
    }
    return MC_EXIT_OK;
}

/* ---- import ---- */

static void print_list(const json_t *list, const char *title, const char *why)
{
    size_t i;
    const json_t *entry;
    if (json_array_size(list) > 0) {
        printf("\n%s (%zu):\n", title, json_array_size(list));
    }
    json_array_foreach (list, i, entry) {
        const char *kind = json_string_value(json_object_get(entry, "kind"));
        MC_AUTOFREE char *line = mc_strf(
            "%s%s%s: %s: %s", kind ? kind : "", kind ? " " : "", json_string_value(json_object_get(entry, "where")),
            json_string_value(json_object_get(entry, "what")), json_string_value(json_object_get(entry, why)));
        mc_cli_print_line("  ", line);
    }
}

static void print_report(const struct mc_cli *cli, const json_t *report, const char *out)
{
    if (cli->json) {
        mc_cli_print_json(report);
        return;
    }
    printf("%lld lives, %lld observations, %lld questions (%lld carried over) written to %s\n",
           (long long)json_integer_value(json_object_get(report, "lives")),
           (long long)json_integer_value(json_object_get(report, "observations")),
           (long long)json_integer_value(json_object_get(report, "questions")),
           (long long)json_integer_value(json_object_get(report, "carried")), out);
    print_list(json_object_get(report, "left_out"), "left out", "reason");
    print_list(json_object_get(report, "repaired"), "repaired", "how");
}

/* The two formats that need nothing but a path. */
typedef int import_fn(const char *path, const char *out_dir, json_t **report, struct mc_err *err);

struct public_format {
    import_fn *import;
    const char *synopsis;
    const char *about;
    const char *examples;
};

static int import_public(struct mc_cli *cli, int argc, char **argv, const struct public_format *format)
{
    const char *out = NULL;
    const struct mc_option options[] = {{"out", 0, MC_OPTION_TEXT, "DIR", "the new corpus; must not exist", &out}};
    const struct mc_usage_page page = {.synopsis = format->synopsis,
                                       .about = format->about,
                                       .options = options,
                                       .option_count = MC_COUNT(options),
                                       .examples = format->examples,
                                       .least = 1,
                                       .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    MC_AUTOJSON json_t *report = NULL;
    int rc = out ? format->import(argv[0], out, &report, &err)
                 : missing(&err, "out", "name a folder that does not exist yet");
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    print_report(cli, report, out);
    return MC_EXIT_OK;
}

static int import_locomo(struct mc_cli *cli, int argc, char **argv)
{
    static const struct public_format format = {
        .import = mc_import_locomo,
        .synopsis = "memcal corpus import locomo PATH --out DIR",
        .about =
            "Makes a corpus of LoCoMo's conversations: a JSON file, a folder of them, or a ZIP. Every question is\n"
            "carried over or listed with the reason why not.",
        .examples = "  memcal corpus import locomo locomo10.zip --out locomo"};
    return import_public(cli, argc, argv, &format);
}

static int import_longmemeval(struct mc_cli *cli, int argc, char **argv)
{
    static const struct public_format format = {
        .import = mc_import_longmemeval,
        .synopsis = "memcal corpus import longmemeval FILE --out DIR",
        .about = "Makes a corpus of LongMemEval's questions, one life each, from longmemeval_*.json.",
        .examples = "  memcal corpus import longmemeval longmemeval_oracle.json --out longmemeval"};
    return import_public(cli, argc, argv, &format);
}

static int import_jsonl(struct mc_cli *cli, int argc, char **argv)
{
    struct mc_import_jsonl source = {.path = NULL};
    const char *out = NULL;
    const struct mc_option options[] = {
        {"life", 0, MC_OPTION_TEXT, "ID", "the ID of the life", &source.life},
        {"owner", 0, MC_OPTION_TEXT, "NAME", "the person whose life it is", &source.owner},
        {"timezone", 0, MC_OPTION_TEXT, "ZONE", "IANA name, such as Europe/Berlin", &source.timezone},
        {"out", 0, MC_OPTION_TEXT, "DIR", "the new corpus; must not exist", &out},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal corpus import jsonl FILE --life ID --owner NAME --timezone ZONE --out DIR",
        .about = "Makes a corpus of anyone's own messages, one JSON object a line (docs/corpus.md).",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples =
            "  memcal corpus import jsonl messages.jsonl --life ana --owner Ana --timezone Europe/Berlin --out ana",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    const struct {
        const char *name;
        const char *value;
    } needed[] = {{"life", source.life}, {"owner", source.owner}, {"timezone", source.timezone}, {"out", out}};
    struct mc_err err;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < MC_COUNT(needed); i++) {
        rc = needed[i].value ? 0 : missing(&err, needed[i].name, "give --life, --owner, --timezone and --out");
    }
    source.path = argv[0];
    MC_AUTOJSON json_t *report = NULL;
    rc = rc ? rc : mc_import_jsonl(&source, out, &report, &err);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    print_report(cli, report, out);
    return MC_EXIT_OK;
}

int mc_cmd_corpus_import(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_cli_command table[] = {
        {"locomo", NULL, import_locomo, "LoCoMo's conversations"},
        {"longmemeval", NULL, import_longmemeval, "LongMemEval's questions"},
        {"jsonl", NULL, import_jsonl, "your own messages, one JSON object a line"},
        {NULL, NULL, NULL, NULL}};
    int code;
    const struct mc_cli_command *command = mc_cli_subcommand(cli, "corpus import", table, &argc, &argv, &code);
    return command ? command->fn(cli, argc, argv) : code;
}
