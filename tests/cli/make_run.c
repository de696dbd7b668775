/* make_run STORE RUN CORPUS ANSWERS [BASE_URL [SECRET]]: a stored run for the tests of commands. */
#include <stdio.h>

#include "support/stored_run.h"

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "make_run STORE RUN CORPUS ANSWERS [BASE_URL [SECRET]]\n");
        return 2;
    }
    struct mc_err err;
    struct mc_store *store = NULL;
    struct stored_run run = {.id = argv[2],
                             .corpus = argv[3],
                             .answers = argv[4],
                             .judge = argc > 5 ? argv[5] : NULL,
                             .secret = argc > 6 ? argv[6] : NULL};
    int rc = mc_store_open(argv[1], &store, &err);
    rc = rc ? rc : stored_run_make(store, &run, &err);
    mc_store_close(store);
    if (rc != 0) {
        fprintf(stderr, "make_run: %s\n", err.text);
        return 1;
    }
    return 0;
}
