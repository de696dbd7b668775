/* A small JSON reader and writer: enough for frames, strict about syntax, bounded in depth. */
#ifndef TINY_JSON_H
#define TINY_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_type type;
    char *key;  /* in an object: the member's name */
    char *text; /* a string's bytes, UTF-8, NUL at the end */
    double number;
    struct json *child; /* first of an array's or object's members */
    struct json *next;
};

/* A whole document, or NULL when it is not valid JSON (a NUL in a string is not taken either). Free with json_free. */
struct json *json_parse(const char *text, size_t length);
void json_free(struct json *value);

/* The member of that name, or NULL; the value may be NULL or no object. */
const struct json *json_get(const struct json *value, const char *key);
/* The text of that member when it is a string, or NULL. */
const char *json_text(const struct json *value, const char *key);

/* Text that grows; a program that has no memory left ends. */
struct text {
    char *data;
    size_t length, size;
};

void text_add(struct text *out, const char *data, size_t length);
void text_put(struct text *out, const char *string);
void text_put_number(struct text *out, long number);
/* As a JSON string, quotes and all. */
void text_put_json(struct text *out, const char *string);
void text_free(struct text *out);

#endif
