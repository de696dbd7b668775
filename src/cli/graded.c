#include "cli/graded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

const char mc_cli_as_of_help[] = "the verdicts in force at that time (ISO 8601 with an offset)";

int mc_cli_open_run(const struct mc_cli *cli, const char *given, struct mc_store **store, struct mc_stored_run *run,
                    struct mc_err *err)
{
    int rc = mc_cli_open_store(cli, store, err);
    return rc ? rc : mc_stored_run_load(*store, given, run, err);
}

int mc_cli_as_of(const char *text, struct mc_time *time, const struct mc_time **out, struct mc_err *err)
{
    *out = NULL;
    if (!text) {
        return 0;
    }
    int rc = mc_time_parse(text, time, err);
    if (rc != 0) {
        mc_wrap(err, "--as-of");
        return err->hint[0] ? rc : mc_hint(err, "write it as 2026-08-07T09:00:00-04:00");
    }
    *out = time;
    return 0;
}

void mc_cli_print_line(const char *label, const char *text)
{
    fputs(label, stdout);
    mc_print_safe(stdout, text, strlen(text));
    fputc('\n', stdout);
}
