/* What commands share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "engine/find.h"

static int exit_code_of(const struct mc_err *err)
{
    switch (err->code) {
    case MC_INPUT:
    case MC_NOT_FOUND:
    case MC_EXISTS:
    case MC_LIMIT:
    case MC_DENIED:
        return MC_EXIT_USAGE;
    case MC_ENGINE:
    case MC_TIMEOUT:
    case MC_CLOSED:
        return MC_EXIT_MISSING;
    case MC_BUDGET:
        return MC_EXIT_BUDGET;
    case MC_CANCELLED:
        return MC_EXIT_CANCELLED;
    case MC_MISMATCH:
        return MC_EXIT_MISMATCH;
    default:
        return MC_EXIT_INTERNAL;
    }
}

int mc_cli_fail(const struct mc_cli *cli, const struct mc_err *err)
{
    int code = exit_code_of(err);
    if (cli->json) {
        MC_AUTOJSON json_t *body = json_pack("{s{ss ss ss* si}}", "error", "code", mc_code_name(err->code), "text",
                                             err->text, "hint", err->hint[0] ? err->hint : NULL, "exit", code);
        MC_AUTOFREE char *text = body ? mc_json_text(body) : mc_strdup("{\"error\":{}}");
        fprintf(stderr, "%s\n", text);
        return code;
    }
    fputs("memcal: ", stderr);
    mc_print_safe(stderr, err->text, strlen(err->text));
    if (err->hint[0]) {
        fputs(": ", stderr);
        mc_print_safe(stderr, err->hint, strlen(err->hint));
    }
    fputc('\n', stderr);
    return code;
}

void mc_cli_print_json(const json_t *value)
{
    MC_AUTOFREE char *text = mc_json_pretty(value);
    printf("%s\n", text);
}

int mc_cli_open_store(const struct mc_cli *cli, struct mc_store **out, struct mc_err *err)
{
    const char *dir = cli->store ? cli->store : getenv("MEMCAL_STORE");
    if (dir && *dir) {
        return mc_store_open(dir, out, err);
    }
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if ((!data || data[0] != '/') && (!home || home[0] != '/')) {
        mc_fail(err, MC_INPUT, "there is no folder for the store: neither XDG_DATA_HOME nor HOME is set");
        return mc_hint(err, "name one with --store DIR");
    }
    MC_AUTOFREE char *path =
        data && data[0] == '/' ? mc_strf("%s/memcal", data) : mc_strf("%s/.local/share/memcal", home);
    return mc_store_open(path, out, err);
}

const struct mc_cli_command *mc_cli_subcommand(struct mc_cli *cli, const char *command,
                                               const struct mc_cli_command *table, int *argc, char ***argv,
                                               int *exit_code)
{
    const char *word = *argc > 1 ? (*argv)[1] : NULL;
    for (const struct mc_cli_command *c = table; word && c->name; c++) {
        if (mc_streq(c->name, word) || (c->alias && mc_streq(c->alias, word))) {
            (*argc)--;
            (*argv)++;
            return c;
        }
    }
    if (word && (mc_streq(word, "--help") || mc_streq(word, "-h") || mc_streq(word, "help"))) {
        printf("usage: memcal %s COMMAND ...\n\n", command);
        for (const struct mc_cli_command *c = table; c->name; c++) {
            printf("  %-12s %s\n", c->name, c->summary);
        }
        printf("\n\"memcal %s COMMAND --help\" says more.\n", command);
        *exit_code = MC_EXIT_OK;
        return NULL;
    }
    struct mc_err err;
    struct mc_buf names = MC_BUF_OWN;
    for (const struct mc_cli_command *c = table; c->name; c++) {
        mc_buf_putf(&names, "%s%s", c == table ? "" : ", ", c->name);
    }
    if (word && word[0] != '-') {
        mc_fail(&err, MC_INPUT, "there is no command \"%s %s\"", command, word);
    } else {
        mc_fail(&err, MC_INPUT, "\"memcal %s\" needs a command", command);
    }
    mc_hint(&err, "it is one of %s", mc_buf_text(&names));
    mc_buf_release(&names);
    *exit_code = mc_cli_fail(cli, &err);
    return NULL;
}
