#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "sidecar/script.h"
#include "sidecar/search.h"
#include "sidecar/terms.h"

/*
 * The extractive script: no model at all, only plumbing that can be measured.
 *
 *  - A message that asks nothing is acknowledged.
 *  - A question is first put to a search-like tool, once in a turn, where one is offered.
 *  - Then the lines that share most words with it are quoted: of tool results, of injected context, and of what the
 * user said before. Rare words weigh more; of equals the later date wins, then the later place.
 */

enum { QUOTES_MAX = 3, LINES_MAX = 20000, LINE_BYTES_MAX = 2000, JSON_DEPTH_MAX = 16 };

static const char acknowledgement[] = "Noted.";
static const char ignorance[] = "I don't know: nothing that I was shown answers this.";
static const char context_open[] = "<memory-context>";
static const char context_close[] = "</memory-context>";

struct evidence {
    char *text;
    char *date; /* "2026-08-07...", "" where it has none */
    struct mc_terms words;
    size_t place;
    unsigned long score;
};

struct pile {
    struct evidence *items;
    size_t count;
    size_t capacity;
};

/* ---- Collecting lines ---- */

/* True where `text` begins with a date: "2026-08-07". */
static int is_date(const char *text)
{
    static const char shape[] = "dddd-dd-dd";
    for (size_t i = 0; shape[i]; i++) {
        int digit = text[i] >= '0' && text[i] <= '9';
        if (shape[i] == 'd' ? !digit : text[i] != shape[i]) {
            return 0;
        }
    }
    return 1;
}

/* The first date in a text, with the time after it where there is one; "" where there is none. */
static char *date_in(const char *text)
{
    enum { DATE = 10 };
    for (; *text; text++) {
        if (is_date(text)) {
            size_t time = text[DATE] == 'T' ? strspn(text + DATE, "T:0123456789") : 0;
            return mc_strndup(text, DATE + time);
        }
    }
    return mc_strdup("");
}

static void add_line(struct pile *pile, const char *text, size_t length, const char *date)
{
    static const char bullets[] = " \t-*#>";
    while (length > 0 && memchr(bullets, *text, sizeof bullets - 1)) {
        text++;
        length--;
    }
    while (length > 0 && strchr(" \t\r", text[length - 1])) {
        length--;
    }
    if (length == 0 || length > LINE_BYTES_MAX || pile->count >= LINES_MAX) {
        return;
    }
    pile->items = mc_grow(pile->items, pile->count, &pile->capacity, sizeof *pile->items);
    struct evidence *line = &pile->items[pile->count];
    line->text = mc_strndup(text, length);
    line->date = date ? mc_strdup(date) : date_in(line->text);
    mc_terms_of(line->text, length, &line->words);
    line->place = pile->count++;
    line->score = 0;
}

static void add_lines(struct pile *pile, const char *text, const char *date)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        add_line(pile, text, length, date);
        text += length + (text[length] == '\n');
    }
}

/* The first date among an object's own members, NULL where there is none; the caller frees it. */
static char *date_of_object(const json_t *object)
{
    const char *key;
    json_t *member;
    json_object_foreach ((json_t *)object, key, member) {
        const char *text = json_string_value(member);
        if (text && strlen(text) <= 40) {
            char *date = date_in(text);
            if (date[0]) {
                return date;
            }
            free(date);
        }
    }
    return NULL;
}

/* Every text in a JSON result; a member's date is its neighbours' date too. */
static void add_json(struct pile *pile, const json_t *value, const char *date, int depth)
{
    size_t i;
    const char *key;
    json_t *inner;
    if (depth > JSON_DEPTH_MAX) {
        return;
    }
    if (json_is_string(value)) {
        add_lines(pile, json_string_value(value), date);
    } else if (json_is_array(value)) {
        json_array_foreach ((json_t *)value, i, inner) {
            add_json(pile, inner, date, depth + 1);
        }
    } else if (json_is_object(value)) {
        MC_AUTOFREE char *own = date_of_object(value);
        json_object_foreach ((json_t *)value, key, inner) {
            add_json(pile, inner, own ? own : date, depth + 1);
        }
    }
}

static void add_result(struct pile *pile, const char *text)
{
    MC_AUTOJSON json_t *json = json_loads(text, 0, NULL);
    if (json) {
        add_json(pile, json, NULL, 0);
    } else {
        add_lines(pile, text, NULL);
    }
}

/* Takes the injected blocks out of a user's message and returns what the user wrote; the caller frees it. */
static char *split_context(const char *text, struct pile *pile)
{
    struct mc_buf own = MC_BUF_OWN;
    const char *open;
    while ((open = strstr(text, context_open)) != NULL) {
        const char *inside = open + sizeof context_open - 1;
        const char *close = strstr(inside, context_close);
        MC_AUTOFREE char *block = close ? mc_strndup(inside, (size_t)(close - inside)) : mc_strdup(inside);
        mc_buf_put(&own, text, (size_t)(open - text));
        if (pile) {
            add_lines(pile, block, NULL);
        }
        text = close ? close + sizeof context_close - 1 : inside + strlen(inside);
    }
    mc_buf_puts(&own, text);
    return mc_buf_take(&own);
}

static int is_question(const char *text)
{
    static const char *const openers[] = {"who",  "what",   "when", "where", "which", "why",    "how",      "whose",
                                          "is",   "are",    "do",   "does",  "did",   "can",    "could",    "should",
                                          "will", "would",  "was",  "were",  "has",   "have",   "tell",     "list",
                                          "name", "remind", "show", "give",  "find",  "recall", "summarize"};
    if (strchr(text, '?')) {
        return 1;
    }
    text += strspn(text, " \t\r\n");
    for (size_t i = 0; i < MC_COUNT(openers); i++) {
        size_t length = strlen(openers[i]);
        if (strncasecmp(text, openers[i], length) == 0 && strchr(" \t\n'", text[length]) && text[length]) {
            return 1;
        }
    }
    return 0;
}

static void collect(const json_t *messages, size_t asked, struct pile *pile)
{
    size_t i;
    json_t *message;
    json_array_foreach ((json_t *)messages, i, message) {
        MC_AUTOFREE char *text = mc_message_text(message);
        if (mc_message_is(message, "tool")) {
            add_result(pile, text);
        } else if (mc_message_is(message, "user")) {
            MC_AUTOFREE char *own = split_context(text, pile);
            if (i != asked && !is_question(own)) {
                add_lines(pile, own, NULL);
            }
        }
    }
}

static void pile_release(struct pile *pile)
{
    for (size_t i = 0; i < pile->count; i++) {
        free(pile->items[i].text);
        free(pile->items[i].date);
        mc_terms_release(&pile->items[i].words);
    }
    free(pile->items);
}

/* ---- Choosing ---- */

/* 2 for a word that every line has, and one more for each time that halving the lines leaves as many as have it. */
static unsigned long weight(size_t lines, size_t having)
{
    unsigned long weight = 2;
    for (size_t left = having; left <= lines / 2; left *= 2) {
        weight++;
    }
    return weight;
}

static void score_all(struct pile *pile, const struct mc_terms *question)
{
    for (size_t w = 0; w < question->count; w++) {
        size_t having = 0;
        for (size_t i = 0; i < pile->count; i++) {
            having += (size_t)mc_terms_have(&pile->items[i].words, question->items[w]);
        }
        for (size_t i = 0; having > 0 && i < pile->count; i++) {
            if (mc_terms_have(&pile->items[i].words, question->items[w])) {
                pile->items[i].score += weight(pile->count, having);
            }
        }
    }
}

static int by_worth(const void *left, const void *right)
{
    const struct evidence *a = left;
    const struct evidence *b = right;
    if (a->score != b->score) {
        return a->score > b->score ? -1 : 1;
    }
    int date = strcmp(b->date, a->date);
    return date != 0 ? date : (a->place > b->place ? -1 : 1);
}

/* The same line comes by several ways (a tool, injected context), with something before or after it. */
static int is_repeated(const char *text, const char *const *quoted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(quoted[i], text) || strstr(text, quoted[i])) {
            return 1;
        }
    }
    return 0;
}

/* The best line, and others that are nearly as good; the caller frees it. */
static char *quote(struct pile *pile)
{
    if (pile->count > 0) {
        qsort(pile->items, pile->count, sizeof *pile->items, by_worth);
    }
    struct mc_buf out = MC_BUF_OWN;
    const char *quoted[QUOTES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < pile->count && count < QUOTES_MAX; i++) {
        const struct evidence *line = &pile->items[i];
        if (line->score == 0 || line->score * 4 < pile->items[0].score * 3) {
            break;
        }
        if (!is_repeated(line->text, quoted, count)) {
            mc_buf_putf(&out, "%s%s", count ? "\n" : "", line->text);
            quoted[count++] = line->text;
        }
    }
    return out.len ? mc_buf_take(&out) : mc_strdup(ignorance);
}

static int searched_since(const json_t *messages, size_t asked)
{
    for (size_t i = asked + 1; i < json_array_size(messages); i++) {
        if (mc_message_is(json_array_get(messages, i), "tool")) {
            return 1;
        }
    }
    return 0;
}

static char *trimmed(const char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1])) {
        length--;
    }
    return mc_strndup(text, length);
}

int mc_script_extractive(const json_t *request, const json_t *messages, const json_t *config, struct mc_move *out,
                         struct mc_err *err)
{
    (void)config;
    (void)err;
    size_t asked = mc_last_message(messages, "user");
    MC_AUTOFREE char *text = mc_message_text(json_array_get(messages, asked));
    MC_AUTOFREE char *own = split_context(text, NULL);
    MC_AUTOFREE char *question = trimmed(own);
    if (!is_question(question)) {
        out->text = mc_strdup(acknowledgement);
        return 0;
    }
    if (!searched_since(messages, asked) &&
        mc_find_search(json_object_get(request, "tools"), question, &out->tool, &out->arguments)) {
        return 0;
    }
    struct pile pile = {NULL, 0, 0};
    struct mc_terms words;
    collect(messages, asked, &pile);
    mc_terms_of(question, strlen(question), &words);
    score_all(&pile, &words);
    out->text = quote(&pile);
    mc_terms_release(&words);
    pile_release(&pile);
    return 0;
}
