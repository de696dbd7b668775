/* memcal sidecar: what the trusted container of a life runs; not for people */
#include <unistd.h>

#include "cli/cmd.h"
#include "sidecar/sidecar.h"

int mc_cmd_sidecar(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {
        .synopsis = "memcal sidecar",
        .about = "Runs inside the sidecar container: model gateway and scenario clock. memcal starts it itself."};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    int rc = mc_sidecar_main(&mc_sidecar_default_paths, STDIN_FILENO, STDOUT_FILENO, &err);
    return rc ? mc_cli_fail(cli, &err) : MC_EXIT_OK;
}
