#include "corpus/problems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void mc_problems_release(struct mc_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        free(problems->items[i].file);
        free(problems->items[i].path);
        free(problems->items[i].text);
        free(problems->items[i].mend);
    }
    free(problems->items);
    memset(problems, 0, sizeof *problems);
}

/* Counts one more; the place for it, or NULL where enough are kept. Errors and warnings are limited apart, so that many
 * of one never hide the other. */
static struct mc_problem *next_problem(struct mc_problems *problems, enum mc_severity severity)
{
    size_t *found = severity == MC_SEVERITY_ERROR ? &problems->errors : &problems->warnings;
    if ((*found)++ >= MC_PROBLEMS_KEPT) {
        return NULL;
    }
    problems->items = mc_grow(problems->items, problems->count, &problems->capacity, sizeof *problems->items);
    struct mc_problem *problem = &problems->items[problems->count++];
    memset(problem, 0, sizeof *problem);
    problem->severity = severity;
    return problem;
}

static void add(struct mc_problems *problems, enum mc_severity severity, struct mc_place place, const char *mend,
                const char *format, va_list args)
{
    struct mc_problem *problem = next_problem(problems, severity);
    if (problem) {
        problem->file = mc_strdup(place.file ? place.file : "");
        problem->line = place.line;
        problem->path = mc_strdup(place.path ? place.path : "");
        problem->text = mc_vstrf(format, args);
        problem->mend = mc_strdup(mend);
    }
}

void mc_problems_add(struct mc_problems *problems, enum mc_severity severity, struct mc_place place, const char *mend,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(problems, severity, place, mend, format, args);
    va_end(args);
}

void mc_problems_at(struct mc_problems *problems, enum mc_severity severity, const struct mc_view *view,
                    const char *mend, const char *format, ...)
{
    MC_AUTOFREE char *path = mc_view_path(view);
    struct mc_place place = {.file = view->source->name, .line = mc_view_line(view), .path = path};
    va_list args;
    va_start(args, format);
    add(problems, severity, place, mend, format, args);
    va_end(args);
}

/* Splits "file:line: path" where it starts with `file`. */
static struct mc_place split_place(char *place, const char *file)
{
    struct mc_place out = {.file = file, .line = 0, .path = ""};
    if (!mc_starts_with(place, file)) {
        return out;
    }
    char *rest = place + strlen(file);
    if (*rest == ':') {
        long line = strtol(rest + 1, &rest, 10);
        out.line = line > 0 && line < INT32_MAX ? (int)line : 0;
    }
    while (*rest == ':' || *rest == ' ') {
        rest++;
    }
    out.path = rest;
    return out;
}

void mc_problems_take(struct mc_problems *problems, const struct mc_err *err, const char *file, const char *mend)
{
    MC_AUTOFREE char *prefix = mc_strndup(err->text, err->place);
    struct mc_place place = split_place(prefix, file);
    const char *text = err->text + (err->place ? err->place + 2 : 0);
    mc_problems_add(problems, MC_SEVERITY_ERROR, place, err->hint[0] ? err->hint : mend, "%s", text);
}

int mc_problems_has(const struct mc_problems *problems, const struct mc_err *err, const char *file, size_t before)
{
    MC_AUTOFREE char *prefix = mc_strndup(err->text, err->place);
    struct mc_place place = split_place(prefix, file);
    for (size_t i = 0; i < before; i++) {
        const struct mc_problem *one = &problems->items[i];
        if (one->line == place.line && mc_streq(one->file, place.file) && mc_streq(one->path, place.path)) {
            return 1;
        }
    }
    return 0;
}

int mc_problems_check(const struct mc_problems *problems, struct mc_err *err)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct mc_problem *first = &problems->items[i];
        if (first->severity != MC_SEVERITY_ERROR) {
            continue;
        }
        mc_fail(err, MC_INPUT, "%s", first->text);
        MC_AUTOFREE char *line = first->line > 0 ? mc_strf(":%d", first->line) : mc_strdup("");
        MC_AUTOFREE char *place = mc_strf("%s%s%s%s", first->file, line, first->path[0] ? ": " : "", first->path);
        mc_wrap_place(err, place);
        if (problems->errors > 1) {
            return mc_hint(err, "%s (one of %zu errors: memcal corpus validate shows them all)", first->mend,
                           problems->errors);
        }
        return mc_hint(err, "%s", first->mend);
    }
    return 0;
}

static json_t *problem_json(const struct mc_problem *problem)
{
    json_t *out = json_object();
    json_object_set_new(out, "severity", json_string(problem->severity == MC_SEVERITY_ERROR ? "error" : "warning"));
    json_object_set_new(out, "file", json_string(problem->file));
    if (problem->line > 0) {
        json_object_set_new(out, "line", json_integer(problem->line));
    }
    if (problem->path[0]) {
        json_object_set_new(out, "path", json_string(problem->path));
    }
    json_object_set_new(out, "text", json_string(problem->text));
    json_object_set_new(out, "mend", json_string(problem->mend));
    return out;
}

json_t *mc_problems_json(const struct mc_problems *problems)
{
    json_t *list = json_array();
    for (size_t i = 0; i < problems->count; i++) {
        json_array_append_new(list, problem_json(&problems->items[i]));
    }
    size_t left_out = problems->errors + problems->warnings - problems->count;
    json_t *out = json_object();
    json_object_set_new(out, "errors", json_integer((json_int_t)problems->errors));
    json_object_set_new(out, "warnings", json_integer((json_int_t)problems->warnings));
    json_object_set_new(out, "left_out", json_integer((json_int_t)left_out));
    json_object_set_new(out, "problems", list);
    return out;
}
