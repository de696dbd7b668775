/*
 * Options as data: a table says what a command takes, and the same table is its help page.
 *
 * Ownership: tables are the command's; texts stored through `out` are borrowed from argv.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct mc_cli;

enum mc_option_kind {
    MC_OPTION_FLAG,   /* int *: 1 */
    MC_OPTION_TEXT,   /* const char ** */
    MC_OPTION_WHOLE,  /* int64_t *, not negative */
    MC_OPTION_NUMBER, /* double *, not negative */
    MC_OPTION_TEXTS,  /* struct mc_option_texts *: may be given again and again */
};

enum { MC_OPTION_TEXTS_MAX = 64 };

struct mc_option_texts {
    const char *items[MC_OPTION_TEXTS_MAX + 1]; /* NULL-ended */
    int count;
};

struct mc_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum mc_option_kind kind;
    const char *arg; /* what the value is called; NULL for flags */
    const char *help;
    void *out;
};

struct mc_usage_page {
    const char *synopsis; /* "memcal run RUNFILE [options]" */
    const char *about;    /* a paragraph */
    const struct mc_option *options;
    int option_count;
    const char *examples; /* lines; NULL: none */
    int least;            /* operands, beside options */
    int most;             /* negative: any number */
};

/* Reads argv[1..]; operands are moved to the front of argv and *operands counts them. Returns -1 to go on, else the
 * exit code: 0 after --help, 2 after a message. Adds --json, --store, --verbose and --help by itself. */
int mc_options_read(struct mc_cli *cli, const struct mc_usage_page *page, int argc, char **argv,
                    int *operands) MC_CHECKED;

void mc_usage_print(const struct mc_usage_page *page);
