#include "sidecar/search.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* What a tool that searches is called, or says of itself; the best first. */
static const char *const search_words[] = {"search", "recall", "query", "find", "retrieve", "lookup", "probe", NULL};
static const char *const query_names[] = {"query", "q",      "question", "search_query", "text",     "search",
                                          "input", "prompt", "content",  "message",      "keywords", NULL};

static int contains_word(const char *text, const char *word)
{
    return text && strcasestr(text, word) != NULL;
}

static int mentions_search(const char *text)
{
    for (size_t i = 0; search_words[i]; i++) {
        if (contains_word(text, search_words[i])) {
            return 1;
        }
    }
    return 0;
}

static int is_type(const json_t *schema, const char *type)
{
    return mc_streq(json_string_value(json_object_get(schema, "type")), type);
}

static int is_free_text(const json_t *schema)
{
    return is_type(schema, "string") && !json_object_get(schema, "enum");
}

/* The parameter that takes the question: a well-known name, else the only required text, else the only text. */
static const char *query_parameter(const json_t *properties, const json_t *required)
{
    for (size_t i = 0; query_names[i]; i++) {
        if (is_free_text(json_object_get(properties, query_names[i]))) {
            return query_names[i];
        }
    }
    const char *only = NULL;
    size_t i;
    json_t *name;
    size_t count = 0;
    json_array_foreach ((json_t *)required, i, name) {
        if (is_free_text(json_object_get(properties, json_string_value(name)))) {
            only = json_string_value(name);
            count++;
        }
    }
    if (count != 0) {
        return count == 1 ? only : NULL;
    }
    const char *key;
    json_t *schema;
    json_object_foreach ((json_t *)properties, key, schema) {
        if (is_free_text(schema)) {
            only = key;
            count++;
        }
    }
    return count == 1 ? only : NULL;
}

/* The choice of an `action` that searches; NULL where none does. */
static const char *search_action(const json_t *choices)
{
    for (size_t word = 0; search_words[word]; word++) {
        size_t i;
        json_t *choice;
        json_array_foreach ((json_t *)choices, i, choice) {
            if (contains_word(json_string_value(choice), search_words[word])) {
                return json_string_value(choice);
            }
        }
    }
    return NULL;
}

/* A value for a required parameter that is not the question; NULL where nothing obvious would do. */
static json_t *filler(const json_t *schema)
{
    const json_t *choices = json_object_get(schema, "enum");
    json_t *fixed = json_object_get(schema, "default");
    if (fixed) {
        return json_incref(fixed);
    }
    if (json_array_size(choices) > 0) {
        return json_incref(json_array_get(choices, 0));
    }
    if (is_type(schema, "integer") || is_type(schema, "number")) {
        return json_integer(10);
    }
    return is_type(schema, "boolean") ? json_true() : NULL;
}

static json_t *arguments_for(const json_t *function, const char *query)
{
    const json_t *parameters = json_object_get(function, "parameters");
    const json_t *properties = json_object_get(parameters, "properties");
    const json_t *required = json_object_get(parameters, "required");
    const char *name = query_parameter(properties, required);
    if (!name) {
        return NULL;
    }
    MC_AUTOJSON json_t *arguments = json_object();
    json_object_set_new(arguments, name, json_string(query));
    const json_t *actions = json_object_get(json_object_get(properties, "action"), "enum");
    if (actions) {
        const char *action = search_action(actions);
        if (!action) {
            return NULL;
        }
        json_object_set_new(arguments, "action", json_string(action));
    }
    size_t i;
    json_t *item;
    json_array_foreach ((json_t *)required, i, item) {
        const char *key = json_string_value(item);
        if (!key || json_object_get(arguments, key)) {
            continue;
        }
        json_t *value = filler(json_object_get(properties, key));
        if (!value) {
            return NULL;
        }
        json_object_set_new(arguments, key, value);
    }
    return mc_steal(&arguments);
}

/* 3: its name says that it searches; 2: one of its actions does; 1: its description does; 0: nothing does. */
static int rank(const json_t *function)
{
    const json_t *properties = json_object_get(json_object_get(function, "parameters"), "properties");
    if (mentions_search(json_string_value(json_object_get(function, "name")))) {
        return 3;
    }
    if (search_action(json_object_get(json_object_get(properties, "action"), "enum"))) {
        return 2;
    }
    return mentions_search(json_string_value(json_object_get(function, "description")));
}

int mc_find_search(const json_t *tools, const char *query, char **tool, char **arguments)
{
    int best = 0;
    MC_AUTOJSON json_t *chosen = NULL;
    const char *name = NULL;
    size_t i;
    json_t *item;
    json_array_foreach ((json_t *)tools, i, item) {
        const json_t *function = json_object_get(item, "function");
        int value = rank(function);
        json_t *filled = value > best ? arguments_for(function, query) : NULL;
        if (filled) {
            json_decref(chosen);
            chosen = filled;
            name = json_string_value(json_object_get(function, "name"));
            best = value;
        }
    }
    if (!name) {
        return 0;
    }
    *tool = mc_strdup(name);
    *arguments = mc_json_text(chosen);
    return 1;
}
