#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, FIRST_SIZE = 256 };

struct reader {
    const char *at, *end;
    int depth;
};

static struct json *read_value(struct reader *in);

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static void skip_space(struct reader *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
        in->at++;
}

static bool take(struct reader *in, char wanted)
{
    skip_space(in);
    if (in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

static bool take_word(struct reader *in, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

/* Four hex digits, or -1. */
static long read_hex(struct reader *in)
{
    long value = 0;

    if (in->end - in->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = *in->at++;

        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            value = value * 16 + (c - 'A' + 10);
        else
            return -1;
    }
    return value;
}

static void put_utf8(struct text *out, long point)
{
    char bytes[4];
    size_t length;

    if (point < 0x80) {
        bytes[0] = (char)point;
        length = 1;
    } else if (point < 0x800) {
        bytes[0] = (char)(0xC0 | (point >> 6));
        bytes[1] = (char)(0x80 | (point & 0x3F));
        length = 2;
    } else if (point < 0x10000) {
        bytes[0] = (char)(0xE0 | (point >> 12));
        bytes[1] = (char)(0x80 | ((point >> 6) & 0x3F));
        bytes[2] = (char)(0x80 | (point & 0x3F));
        length = 3;
    } else {
        bytes[0] = (char)(0xF0 | (point >> 18));
        bytes[1] = (char)(0x80 | ((point >> 12) & 0x3F));
        bytes[2] = (char)(0x80 | ((point >> 6) & 0x3F));
        bytes[3] = (char)(0x80 | (point & 0x3F));
        length = 4;
    }
    text_add(out, bytes, length);
}

/* What follows \u; surrogates only in pairs. */
static bool read_unicode(struct reader *in, struct text *out)
{
    long point = read_hex(in);

    if (point >= 0xD800 && point < 0xDC00) {
        long low;

        if (!take_word(in, "\\u"))
            return false;
        low = read_hex(in);
        if (low < 0xDC00 || low > 0xDFFF)
            return false;
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    } else if (point >= 0xDC00 && point <= 0xDFFF) {
        return false;
    }
    if (point <= 0)
        return false;
    put_utf8(out, point);
    return true;
}

static bool read_escape(struct reader *in, struct text *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found;
    char c;

    if (in->at == in->end)
        return false;
    c = *in->at++;
    if (c == 'u')
        return read_unicode(in, out);
    found = c != '\0' ? strchr(from, c) : NULL;
    if (found == NULL)
        return false;
    text_add(out, &to[found - from], 1);
    return true;
}

/* A string after its first quote; NULL when it is broken. */
static char *read_string(struct reader *in)
{
    struct text out = {0};

    text_add(&out, "", 0);
    while (in->at < in->end && *in->at != '"') {
        const char *from = in->at;

        while (in->at < in->end && *in->at != '"' && *in->at != '\\' && (unsigned char)*in->at >= 0x20)
            in->at++;
        text_add(&out, from, (size_t)(in->at - from));
        if (in->at == in->end || *in->at == '"')
            continue;
        if (*in->at++ != '\\' || !read_escape(in, &out)) {
            text_free(&out);
            return NULL;
        }
    }
    if (in->at == in->end) {
        text_free(&out);
        return NULL;
    }
    in->at++;
    return out.data;
}

static bool read_number(struct reader *in, struct json *value)
{
    char digits[64];
    char *end;
    size_t length = 0;

    while (in->at + length < in->end && length < sizeof digits - 1 &&
           strchr("+-0123456789.eE", in->at[length]) != NULL && in->at[length] != '\0') {
        digits[length] = in->at[length];
        length++;
    }
    digits[length] = '\0';
    if (length == 0 || !(digits[0] == '-' || (digits[0] >= '0' && digits[0] <= '9')))
        return false;
    value->number = strtod(digits, &end);
    if (*end != '\0')
        return false;
    in->at += length;
    value->type = JSON_NUMBER;
    return true;
}

/* Members up to the closing bracket, for arrays and objects alike. */
static bool read_members(struct reader *in, struct json *value, char close)
{
    struct json **last = &value->child;

    if (take(in, close))
        return true;
    do {
        char *key = NULL;

        if (close == '}') {
            if (!take(in, '"') || (key = read_string(in)) == NULL)
                return false;
            if (!take(in, ':')) {
                free(key);
                return false;
            }
        }
        *last = read_value(in);
        if (*last == NULL) {
            free(key);
            return false;
        }
        (*last)->key = key;
        last = &(*last)->next;
    } while (take(in, ','));
    return take(in, close);
}

static bool read_into(struct reader *in, struct json *value)
{
    if (take(in, '{')) {
        value->type = JSON_OBJECT;
        return read_members(in, value, '}');
    }
    if (take(in, '[')) {
        value->type = JSON_ARRAY;
        return read_members(in, value, ']');
    }
    if (take(in, '"')) {
        value->type = JSON_STRING;
        value->text = read_string(in);
        return value->text != NULL;
    }
    if (take_word(in, "null"))
        value->type = JSON_NULL;
    else if (take_word(in, "true"))
        value->type = JSON_TRUE;
    else if (take_word(in, "false"))
        value->type = JSON_FALSE;
    else
        return read_number(in, value);
    return true;
}

static struct json *read_value(struct reader *in)
{
    struct json *value = must(calloc(1, sizeof *value));
    bool good = ++in->depth <= MAX_DEPTH && read_into(in, value);

    in->depth--;
    if (!good) {
        json_free(value);
        return NULL;
    }
    return value;
}

struct json *json_parse(const char *text, size_t length)
{
    struct reader in = {.at = text, .end = text + length};
    struct json *value = read_value(&in);

    skip_space(&in);
    if (value != NULL && in.at != in.end) {
        json_free(value);
        return NULL;
    }
    return value;
}

void json_free(struct json *value)
{
    while (value != NULL) {
        struct json *next = value->next;

        json_free(value->child);
        free(value->key);
        free(value->text);
        free(value);
        value = next;
    }
}

const struct json *json_get(const struct json *value, const char *key)
{
    if (value == NULL || value->type != JSON_OBJECT)
        return NULL;
    for (const struct json *member = value->child; member != NULL; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

const char *json_text(const struct json *value, const char *key)
{
    const struct json *member = json_get(value, key);

    return member != NULL && member->type == JSON_STRING ? member->text : NULL;
}

void text_add(struct text *out, const char *data, size_t length)
{
    if (out->size - out->length <= length) {
        while (out->size - out->length <= length)
            out->size = out->size == 0 ? FIRST_SIZE : out->size * 2;
        out->data = must(realloc(out->data, out->size));
    }
    if (length > 0)
        memcpy(out->data + out->length, data, length);
    out->length += length;
    out->data[out->length] = '\0';
}

void text_put(struct text *out, const char *string)
{
    text_add(out, string, strlen(string));
}

void text_put_number(struct text *out, long number)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%ld", number);

    text_add(out, digits, (size_t)length);
}

void text_put_json(struct text *out, const char *string)
{
    text_put(out, "\"");
    for (const char *at = string; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        char escape[8];

        if (c == '"' || c == '\\')
            text_put(out, c == '"' ? "\\\"" : "\\\\");
        else if (c < 0x20)
            text_add(out, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", c));
        else
            text_add(out, at, 1);
    }
    text_put(out, "\"");
}

void text_free(struct text *out)
{
    free(out->data);
    *out = (struct text){0};
}
