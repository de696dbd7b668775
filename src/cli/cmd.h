/*
 * Commands: one row in the table of main.c and one file cmd_<name>.c each.
 *
 * A command parses its options (options.h), does its work through the modules below, prints through output.h, and
 * returns the process's exit code. Only cli/ prints, and only cli/ has global state (the signal handler's).
 *
 * Ownership: `struct mc_cli` is main's and outlives every command.
 */
#pragma once

#include "base/json.h"
#include "base/log.h"
#include "base/until.h"
#include "cli/options.h"
#include "engine/engine.h"
#include "store/store.h"

struct mc_cli {
    int json;          /* --json: machines read the output */
    const char *store; /* --store, or NULL */
    int verbose;       /* --verbose */
    struct mc_log log;
    struct mc_cancel cancel; /* raised by Ctrl-C and SIGTERM */
};

typedef int mc_cli_command_fn(struct mc_cli *cli, int argc, char **argv);

struct mc_cli_command {
    const char *name;
    const char *alias; /* NULL: none */
    mc_cli_command_fn *fn;
    const char *summary; /* one line; NULL: not listed */
};

mc_cli_command_fn mc_cmd_audit, mc_cmd_compare, mc_cmd_corpus, mc_cmd_doctor, mc_cmd_grade, mc_cmd_harness, mc_cmd_help,
    mc_cmd_image, mc_cmd_provider, mc_cmd_report, mc_cmd_review, mc_cmd_run, mc_cmd_runs, mc_cmd_score, mc_cmd_show,
    mc_cmd_sidecar, mc_cmd_version;

extern const struct mc_cli_command mc_cli_commands[]; /* ends with a NULL name */

/* Those of "memcal corpus" that make a corpus. */
mc_cli_command_fn mc_cmd_corpus_import, mc_cmd_corpus_vary;

/* Exit codes (design.md section 8). */
enum mc_exit {
    MC_EXIT_OK = 0,
    MC_EXIT_INTERNAL = 1,
    MC_EXIT_USAGE = 2,
    MC_EXIT_PREFLIGHT = 3,
    MC_EXIT_MISSING = 4,
    MC_EXIT_BUDGET = 5,
    MC_EXIT_CANCELLED = 6,
    MC_EXIT_MISMATCH = 7,
};

/* Prints the error ("memcal: what was wrong: what to do", or as JSON) and gives the exit code that belongs to it. */
int mc_cli_fail(const struct mc_cli *cli, const struct mc_err *err);

/* Prints a value for machines: sorted, indented by two, on standard output. */
void mc_cli_print_json(const json_t *value);

/* --store, else MEMCAL_STORE, else $XDG_DATA_HOME/memcal, else ~/.local/share/memcal. */
int mc_cli_open_store(const struct mc_cli *cli, struct mc_store **out, struct mc_err *err) MC_CHECKED;

/* The engine that design.md section 10's order finds. */
int mc_cli_open_engine(struct mc_cli *cli, struct mc_engine **out, struct mc_err *err) MC_CHECKED;

/* For commands with words after their name ("corpus add"): the row of `table` that argv[1] names, or NULL after an
 * error or a help page was printed and *exit_code was set. argc/argv then start at that word. */
const struct mc_cli_command *mc_cli_subcommand(struct mc_cli *cli, const char *command,
                                               const struct mc_cli_command *table, int *argc, char ***argv,
                                               int *exit_code);
