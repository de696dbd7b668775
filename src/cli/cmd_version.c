/* memcal version, memcal help */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"

int mc_cmd_version(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal version", .about = "Prints memcal's version."};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    if (cli->json) {
        printf("{\"version\":\"%s\",\"api\":{\"oldest\":\"%s\",\"newest\":\"%s\"},\"protocol\":1}\n", MEMCAL_VERSION,
               MC_API_OLDEST, MC_API_NEWEST);
    } else {
        printf("memcal %s\n", MEMCAL_VERSION);
    }
    return MC_EXIT_OK;
}

static void print_overview(void)
{
    printf("memcal: which memory system answers better, faster and cheaper after living through the same week\n\n"
           "usage: memcal COMMAND ...\n\n");
    for (const struct mc_cli_command *c = mc_cli_commands; c->name; c++) {
        if (c->summary) {
            printf("  %-10s %s\n", c->name, c->summary);
        }
    }
    printf("\n\"memcal COMMAND --help\" says more about each. Start with: memcal doctor\n");
}

int mc_cmd_help(struct mc_cli *cli, int argc, char **argv)
{
    if (argc < 2) {
        print_overview();
        return MC_EXIT_OK;
    }
    for (const struct mc_cli_command *c = mc_cli_commands; c->name; c++) {
        if (mc_streq(c->name, argv[1]) || (c->alias && mc_streq(c->alias, argv[1]))) {
            char help[] = "--help";
            char *words[] = {argv[1], help, NULL};
            return c->fn(cli, 2, words);
        }
    }
    struct mc_err err;
    mc_fail(&err, MC_INPUT, "there is no command \"%s\"", argv[1]);
    mc_hint(&err, "\"memcal help\" lists them");
    return mc_cli_fail(cli, &err);
}
