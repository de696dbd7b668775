/* Slots from answers that were written for people: which matcher can judge one, and what cannot be judged at all. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "corpus/import_parts.h"
#include "corpus/rubric.h"
#include "corpus/words.h"

static const char *const months[] = {"january", "february", "march",     "april",   "may",      "june",
                                     "july",    "august",   "september", "october", "november", "december"};
static const char *const counts[] = {"zero",  "one",   "two",  "three", "four",   "five",  "six",
                                     "seven", "eight", "nine", "ten",   "eleven", "twelve"};

enum { WORDS = 8 };

/* The folded answer's words, commas dropped; the number of them, WORDS + 1 where there are more. */
static size_t split(char *folded, const char **words)
{
    size_t count = 0;
    char *rest = folded;
    for (char *word = strtok_r(folded, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest)) {
        if (count == WORDS) {
            return WORDS + 1;
        }
        words[count++] = word;
    }
    return count;
}

static int is_among(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (mc_streq(word, list[i])) {
            return 1;
        }
    }
    return 0;
}

static int is_month(const char *word)
{
    return is_among(word, months, MC_COUNT(months));
}

static int is_digits(const char *word, size_t shortest, size_t longest)
{
    size_t length = strspn(word, "0123456789");
    return length >= shortest && length <= longest && word[length] == '\0';
}

static int is_year(const char *word)
{
    return is_digits(word, 4, 4) && (mc_starts_with(word, "19") || mc_starts_with(word, "20"));
}

/* "7", "7th" */
static int is_day(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    static const char *const ends[] = {"", "st", "nd", "rd", "th"};
    return digits >= 1 && digits <= 2 && is_among(word + digits, ends, MC_COUNT(ends));
}

/* A whole answer that is one day, month or year: "7 May 2023", "May 7, 2023", "in May 2023", "2023-05-07". A year alone
 * is a date only where the question asks when. */
static int is_date(const char *const *w, size_t n, const char *question)
{
    if (n > 1 && (mc_streq(w[0], "in") || mc_streq(w[0], "on"))) {
        w++;
        n--;
    }
    if (n == 1) {
        int iso = strlen(w[0]) == 10 && w[0][4] == '-' && w[0][7] == '-' && isdigit((unsigned char)w[0][9]);
        int asks_when = mc_words_find(question, "when", question) || mc_words_find(question, "year", question);
        return iso || (is_year(w[0]) && asks_when);
    }
    if (n == 2) {
        return is_month(w[0]) && is_year(w[1]);
    }
    return n == 3 && is_year(w[2]) && ((is_day(w[0]) && is_month(w[1])) || (is_month(w[0]) && is_day(w[1])));
}

/* "8pm", "8:30 pm", "20:00", "noon" */
static int is_time(const char *const *w, size_t n)
{
    static const char *const halves[] = {"am", "pm", "a.m", "p.m"};
    if (n == 1 && (mc_streq(w[0], "noon") || mc_streq(w[0], "midnight"))) {
        return 1;
    }
    if (n < 1 || n > 2) {
        return 0;
    }
    size_t hour = strspn(w[0], "0123456789");
    if (hour < 1 || hour > 2) {
        return 0;
    }
    const char *rest = w[0] + hour;
    int minutes = rest[0] == ':' && isdigit((unsigned char)rest[1]) && isdigit((unsigned char)rest[2]);
    rest += minutes ? 3 : 0;
    if (n == 2) {
        return *rest == '\0' && is_among(w[1], halves, MC_COUNT(halves));
    }
    return (minutes && *rest == '\0') || is_among(rest, halves, MC_COUNT(halves));
}

/* "3", "three", "$1,200", "2.5", "15%" */
static int is_number(const char *const *w, size_t n, const char *folded)
{
    if (n == 1 && is_among(w[0], counts, MC_COUNT(counts))) {
        return 1;
    }
    const char *p = folded + (*folded == '$');
    size_t length = strspn(p, "0123456789,.");
    return isdigit((unsigned char)*p) && (p[length] == '\0' || mc_streq(p + length, "%"));
}

/* One to four words that all begin with a capital or a digit, small joining words aside: "Charlotte's Web", "Bank of
 * Ireland". Lists, sentences and descriptions are for a judge. */
static int is_name(const char *answer)
{
    static const char *const joining[] = {"of", "the", "and", "de", "la", "du", "von", "van", "in", "on", "to", "&"};
    if (strpbrk(answer, ",;:()[]/\n") || strstr(answer, ". ")) {
        return 0;
    }
    MC_AUTOFREE char *copy = mc_strdup(answer);
    size_t named = 0;
    size_t count = 0;
    char *rest = copy;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        word += *word == '"' || *word == '\'';
        count++;
        if (isupper((unsigned char)*word)) {
            named++;
        } else if (!isdigit((unsigned char)*word) && !is_among(word, joining, MC_COUNT(joining))) {
            return 0;
        }
    }
    /* One capitalised word may be no more than the start of a sentence ("Reading"), or a name ("Sweden"): it is taken
     * as a name unless it has the ending of an activity. */
    size_t length = strlen(answer);
    int activity = count == 1 && length > 4 && mc_streq(answer + length - 3, "ing");
    return named >= 1 && count <= 4 && !activity;
}

const char *mc_import_match(const char *question, const char *answer)
{
    MC_AUTOFREE char *folded = mc_words_fold(answer);
    MC_AUTOFREE char *asked = mc_words_fold(question);
    if (mc_streq(folded, "yes") || mc_streq(folded, "no")) {
        return "yesno";
    }
    MC_AUTOFREE char *copy = mc_strdup(folded);
    const char *words[WORDS];
    size_t count = split(copy, words);
    if (count >= 1 && count <= WORDS) {
        if (is_date(words, count, asked)) {
            return "date";
        }
        if (is_time(words, count)) {
            return "time";
        }
        if (is_number(words, count, folded)) {
            return "number";
        }
    }
    return is_name(answer) ? "entity" : "text";
}

int mc_scan_number(const char **text, int longest, int *out)
{
    int digits = 0;
    int value = 0;
    for (; digits < longest && isdigit((unsigned char)(*text)[digits]); digits++) {
        value = value * 10 + ((*text)[digits] - '0');
    }
    if (digits == 0) {
        return 0;
    }
    *out = value;
    *text += digits;
    *text += strspn(*text, " ");
    return 1;
}

int mc_scan_letters(const char **text, const char *letters)
{
    size_t length = strlen(letters);
    if (strncasecmp(*text, letters, length) != 0) {
        return 0;
    }
    *text += length;
    *text += strspn(*text, " ");
    return 1;
}

int mc_scan_instant(const struct mc_civil *civil, int64_t *ms)
{
    if (civil->year < 1900 || civil->month < 1 || civil->month > 12 || civil->day < 1 ||
        civil->day > mc_days_in_month(civil->year, civil->month) || civil->hour > 23 || civil->minute > 59) {
        return 0;
    }
    *ms = mc_time_from_civil(civil, 0).ms;
    return 1;
}

static const char *why_not(const struct mc_import_question *question)
{
    if (!question->text[strspn(question->text, " \t\r\n")]) {
        return "the question is empty";
    }
    if (!question->answer) {
        return question->trap && strlen(question->trap) > MC_IMPORT_VALUE ? "the trap is longer than 2000 bytes" : NULL;
    }
    MC_AUTOFREE char *folded = mc_words_fold(question->answer);
    if (!folded[0]) {
        return "the answer is empty";
    }
    if (strlen(question->answer) > MC_IMPORT_VALUE) {
        return "the answer is longer than 2000 bytes";
    }
    int yesno = mc_streq(mc_import_match(question->text, question->answer), "yesno");
    if (!yesno && mc_question_gives_away(question->text, question->answer)) {
        return "the question contains its own answer";
    }
    return NULL;
}

/* The answer without white space around it. */
static json_t *trimmed(const char *text)
{
    const char *start = text + strspn(text, " \t\r\n");
    size_t length = strlen(start);
    while (length > 0 && isspace((unsigned char)start[length - 1])) {
        length--;
    }
    return json_stringn(start, length);
}

static json_t *make_slot(const struct mc_import_question *question)
{
    json_t *slot = json_object();
    json_object_set_new(slot, "id", json_string("answer"));
    json_object_set_new(slot, "kind", json_string(question->answer ? "current" : "abstain"));
    const char *match = question->answer ? mc_import_match(question->text, question->answer) : "text";
    json_object_set_new(slot, "match", json_string(match));
    if (question->answer) {
        json_object_set_new(slot, "expected", trimmed(question->answer));
    }
    if (question->trap) {
        MC_AUTOFREE char *trap = mc_words_fold(question->trap);
        MC_AUTOFREE char *right = mc_words_fold(question->answer ? question->answer : "");
        if (trap[0] && !mc_streq(trap, right)) {
            json_object_set_new(slot, "forbidden", json_pack("[o]", trimmed(question->trap)));
        }
    }
    if (question->evidence && json_array_size(question->evidence)) {
        json_object_set(slot, "supported_by", question->evidence);
    }
    return slot;
}

void mc_import_question(struct mc_import_life *life, const struct mc_import_question *question)
{
    struct mc_import *import = life->import;
    const char *reason = why_not(question);
    import->questions++;
    if (reason) {
        mc_import_leave(import, "question", question->where, question->text, reason);
        return;
    }
    MC_AUTOJSON json_t *line = json_object();
    json_object_set_new(line, "id", json_string(question->id));
    json_object_set_new(line, "at", json_string(mc_time_format(mc_tz_at(life->zone, question->at)).text));
    json_object_set_new(line, "session", json_string(question->id));
    json_object_set_new(line, "question", json_string(question->text));
    json_object_set_new(line, "deadline_s", json_integer(MC_IMPORT_DEADLINE_S));
    mc_draft_line(&life->draft.checkpoints, line);
    json_t *entry = json_object();
    json_object_set_new(entry, "mode", json_string(question->answer ? "fact" : "unanswerable"));
    json_object_set_new(entry, "slots", json_pack("[o]", make_slot(question)));
    json_object_set_new(life->rubric, question->id, entry);
    life->asked = question->at > life->asked ? question->at : life->asked;
    life->questions++;
    import->carried++;
}
