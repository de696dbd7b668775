/* memcal: which memory system answers better, faster and cheaper after living through the same week. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/mem.h"
#include "cli/cmd.h"

const struct mc_cli_command mc_cli_commands[] = {
    {"run", NULL, mc_cmd_run, "run lives through harnesses and print the comparison"},
    {"runs", NULL, mc_cmd_runs, "list the runs in the store"},
    {"show", NULL, mc_cmd_show, "show a run, or one of its trials"},
    {"report", NULL, mc_cmd_report, "make a run's report from the verdicts in force"},
    {"compare", NULL, mc_cmd_compare, "compare two harnesses, with intervals and a test"},
    {"grade", NULL, mc_cmd_grade, "grade a run again, or an answers file"},
    {"review", NULL, mc_cmd_review, "give one verdict by hand; the first one stays"},
    {"audit", NULL, mc_cmd_audit, "draw verdicts for a person to look at"},
    {"score", NULL, mc_cmd_score, "take scores from elsewhere, beside ours"},
    {"corpus", "dataset", mc_cmd_corpus, "add, list, check and make corpora of lives"},
    {"harness", NULL, mc_cmd_harness, "list, show and check harness manifests"},
    {"provider", NULL, mc_cmd_provider, "list, show and check provider manifests"},
    {"image", NULL, mc_cmd_image, "build and list the images that lives run in"},
    {"doctor", NULL, mc_cmd_doctor, "say which engine is used and what is missing"},
    {"version", NULL, mc_cmd_version, "print the version"},
    {"help", NULL, mc_cmd_help, "print the help page of a command"},
    {"sidecar", NULL, mc_cmd_sidecar, NULL},
    {NULL, NULL, NULL, NULL},
};

/* The one piece of global state: a signal handler reaches nothing else. */
static struct mc_cancel *cancelled;

static void on_signal(int number)
{
    (void)number;
    mc_cancel_raise(cancelled);
    if (atomic_load(&cancelled->level) >= 2) {
        /* Asked twice: leave at once. What is on the engine carries labels; the store is always whole. */
        _exit(MC_EXIT_CANCELLED);
    }
}

static void watch_signals(struct mc_cancel *cancel)
{
    cancelled = cancel;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static const struct mc_cli_command *find_command(const char *name)
{
    for (const struct mc_cli_command *c = mc_cli_commands; c->name; c++) {
        if (mc_streq(c->name, name) || (c->alias && mc_streq(c->alias, name))) {
            return c;
        }
    }
    return NULL;
}

/* Known before options are read: what is wrong with them is said in JSON, too. */
static int wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && !mc_streq(argv[i], "--"); i++) {
        if (mc_streq(argv[i], "--json")) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct mc_err err;
    struct mc_cli cli = {.json = wants_json(argc, argv), .log = {.stream = stderr, .level = MC_LOG_NONE}};
    if (mc_cancel_init(&cli.cancel, &err) != 0) {
        return mc_cli_fail(&cli, &err);
    }
    watch_signals(&cli.cancel);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        mc_fail(&err, MC_INTERNAL, "starting libcurl failed");
        return mc_cli_fail(&cli, &err);
    }
    const char *name = argc > 1 ? argv[1] : "help";
    if (mc_streq(name, "--help") || mc_streq(name, "-h")) {
        name = "help";
    } else if (mc_streq(name, "--version")) {
        name = "version";
    }
    const struct mc_cli_command *command = find_command(name);
    int code;
    if (command) {
        int shift = argc > 1 ? 1 : 0;
        code = command->fn(&cli, argc - shift, argv + shift);
    } else {
        mc_fail(&err, MC_INPUT, "there is no command \"%s\"", name);
        mc_hint(&err, "\"memcal help\" lists them");
        code = mc_cli_fail(&cli, &err);
    }
    curl_global_cleanup();
    mc_cancel_release(&cli.cancel);
    if (fflush(stdout) != 0 && code == MC_EXIT_OK) {
        mc_fail_errno(&err, errno, "writing standard output");
        code = mc_cli_fail(&cli, &err);
    }
    return code;
}
