#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cmd.h"

struct parse {
    struct mc_cli *cli;
    const struct mc_usage_page *page;
    struct mc_option common[4];
    int help;
};

static int usage_error(const struct parse *p, const char *format, ...) MC_PRINTF(2, 3);
static int usage_error(const struct parse *p, const char *format, ...)
{
    struct mc_err err;
    va_list args;
    va_start(args, format);
    mc_vfail(&err, MC_INPUT, format, args);
    va_end(args);
    mc_hint(&err, "usage: %s", p->page->synopsis);
    return mc_cli_fail(p->cli, &err);
}

static const struct mc_option *find(const struct parse *p, const char *name, size_t length, char letter)
{
    for (int i = 0; i < p->page->option_count + (int)MC_COUNT(p->common); i++) {
        const struct mc_option *option =
            i < p->page->option_count ? &p->page->options[i] : &p->common[i - p->page->option_count];
        int same_name = name && strlen(option->name) == length && strncmp(option->name, name, length) == 0;
        if (same_name || (letter && option->letter == letter)) {
            return option;
        }
    }
    return NULL;
}

/* -1 fine, else an exit code. */
static int store_number(const struct parse *p, const struct mc_option *option, const char *value)
{
    char *end;
    errno = 0;
    if (option->kind == MC_OPTION_WHOLE) {
        long long number = strtoll(value, &end, 10);
        if (errno || *end || end == value || number < 0) {
            return usage_error(p, "--%s needs a whole number, not \"%s\"", option->name, value);
        }
        *(int64_t *)option->out = number;
        return -1;
    }
    double number = strtod(value, &end);
    if (errno || *end || end == value || !isfinite(number) || number < 0) {
        return usage_error(p, "--%s needs a number, not \"%s\"", option->name, value);
    }
    *(double *)option->out = number;
    return -1;
}

static int store_value(const struct parse *p, const struct mc_option *option, const char *value)
{
    switch (option->kind) {
    case MC_OPTION_FLAG:
        *(int *)option->out = 1;
        return -1;
    case MC_OPTION_TEXT:
        *(const char **)option->out = value;
        return -1;
    case MC_OPTION_TEXTS: {
        struct mc_option_texts *texts = option->out;
        if (texts->count == MC_OPTION_TEXTS_MAX) {
            return usage_error(p, "--%s is given more than %d times", option->name, MC_OPTION_TEXTS_MAX);
        }
        texts->items[texts->count++] = value;
        return -1;
    }
    default:
        return store_number(p, option, value);
    }
}

/* One option at argv[*i], with its value in the same word or the next. */
static int take(const struct parse *p, int argc, char **argv, int *i)
{
    const char *word = argv[*i];
    int is_long = word[1] == '-';
    const char *name = is_long ? word + 2 : NULL;
    size_t length = is_long ? strcspn(name, "=") : 1;
    const struct mc_option *option = find(p, name, length, is_long ? '\0' : word[1]);
    if (!option) {
        return usage_error(p, "unknown option \"%s\"", word);
    }
    const char *value = is_long ? name + length : word + 2;
    value = is_long && *value == '=' ? value + 1 : *value ? value : NULL;
    if (option->kind == MC_OPTION_FLAG) {
        return value ? usage_error(p, "--%s takes no value", option->name) : store_value(p, option, "");
    }
    if (!value) {
        if (*i + 1 >= argc) {
            return usage_error(p, "--%s needs a value: %s", option->name, option->arg);
        }
        value = argv[++*i];
    }
    return store_value(p, option, value);
}

int mc_options_read(struct mc_cli *cli, const struct mc_usage_page *page, int argc, char **argv, int *operands)
{
    struct parse p = {.cli = cli, .page = page, .help = 0};
    p.common[0] = (struct mc_option){"json", 0, MC_OPTION_FLAG, NULL, "print JSON for machines", &cli->json};
    p.common[1] = (struct mc_option){
        "store", 0, MC_OPTION_TEXT, "DIR", "where memcal keeps what it knows [MEMCAL_STORE]", &cli->store};
    p.common[2] = (struct mc_option){"verbose", 'v', MC_OPTION_FLAG, NULL, "tell what is being done", &cli->verbose};
    p.common[3] = (struct mc_option){"help", 'h', MC_OPTION_FLAG, NULL, "this page", &p.help};
    int count = 0;
    int only_operands = 0;
    for (int i = 1; i < argc; i++) {
        if (!only_operands && mc_streq(argv[i], "--")) {
            only_operands = 1;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
            int rc = take(&p, argc, argv, &i);
            if (rc >= 0) {
                return rc;
            }
        } else {
            argv[count++] = argv[i];
        }
    }
    if (cli->verbose) {
        cli->log.level = MC_LOG_DEBUG;
    }
    if (p.help) {
        mc_usage_print(page);
        return MC_EXIT_OK;
    }
    if (count < page->least) {
        return usage_error(&p, "an argument is missing");
    }
    if (page->most >= 0 && count > page->most) {
        return usage_error(&p, "one argument too many: \"%s\"", argv[page->most]);
    }
    *operands = count;
    return -1;
}

static void print_option(const struct mc_option *option)
{
    char left[64];
    char letter[8] = "    ";
    if (option->letter) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->arg ? " " : "",
             option->arg ? option->arg : "");
    printf("  %-28s %s\n", left, option->help);
}

void mc_usage_print(const struct mc_usage_page *page)
{
    printf("usage: %s\n\n%s\n", page->synopsis, page->about);
    printf("\noptions:\n");
    for (int i = 0; i < page->option_count; i++) {
        print_option(&page->options[i]);
    }
    static const struct mc_option common[] = {
        {"json", 0, MC_OPTION_FLAG, NULL, "print JSON for machines", NULL},
        {"store", 0, MC_OPTION_TEXT, "DIR", "where memcal keeps what it knows [MEMCAL_STORE]", NULL},
        {"verbose", 'v', MC_OPTION_FLAG, NULL, "tell what is being done", NULL},
        {"help", 'h', MC_OPTION_FLAG, NULL, "this page", NULL}};
    for (size_t i = 0; i < MC_COUNT(common); i++) {
        print_option(&common[i]);
    }
    if (page->examples) {
        printf("\nexamples:\n%s\n", page->examples);
    }
}
