/* Yes and no, and states such as "called off". */
#include "grade/values.h"

#include <string.h>

#include "base/mem.h"
#include "grade/said.h"

/* Only words like these may stand between a clause's start and its yes or no. */
static int is_lead(const struct mc_words *words, size_t i)
{
    return words->items[i].kind == MC_WORD_MARK ||
           mc_word_in(
               words, i,
               " likely probably most very well oh um so i i'd 'd think believe would say guess the answer is it 's "
               "presumably possibly maybe perhaps definitely absolutely certainly honestly short actually hmm ok "
               "okay a that and but to my knowledge unfortunately sadly apparently ");
}

static int is_polar_place(const struct mc_words *words, size_t at)
{
    for (size_t i = mc_clause_first(words, at); i < at; i++) {
        if (!is_lead(words, i)) {
            return 0;
        }
    }
    return 1;
}

static int ends_or_mark(const struct mc_words *words, size_t i)
{
    return i >= words->count || words->items[i].kind == MC_WORD_MARK ||
           words->items[i].sentence != words->items[i - 1].sentence;
}

/* "He did.", "She isn't.": the whole sentence is a pronoun and a verb. */
static size_t read_short(const struct mc_words *words, size_t at, int *out)
{
    if (mc_sentence_first(words, at) != at || !mc_word_in(words, at, " he she it they there we ") ||
        !mc_word_in(words, at + 1, " did does do is are was were has have had will can isnt didnt doesnt wo ca ")) {
        return 0;
    }
    size_t end = at + 2;
    int denied = mc_word_in(words, at + 1, " isnt didnt doesnt ");
    if (mc_word_in(words, end, " n't not ")) {
        denied = 1;
        end++;
    }
    if (!ends_or_mark(words, end)) {
        return 0;
    }
    *out = !denied;
    return end - at;
}

size_t mc_yesno_read(const struct mc_words *words, size_t at, int *out)
{
    size_t length = read_short(words, at, out);
    if (length > 0) {
        return length;
    }
    if (mc_word_joined_before(words, at) || mc_word_joined_after(words, at)) {
        return 0;
    }
    int strong = mc_word_in(words, at, " yes yeah yep yup yea affirmative ");
    int adverb = mc_word_in(words, at, " correct indeed definitely absolutely certainly ");
    if ((strong && is_polar_place(words, at)) || (adverb && is_polar_place(words, at) && ends_or_mark(words, at + 1))) {
        *out = 1;
        return 1;
    }
    if (mc_word_in(words, at, " no nope nah ") && is_polar_place(words, at)) {
        if (mc_word_is(words, at, "no") && !ends_or_mark(words, at + 1) &&
            !mc_word_in(words, at + 1, " it he she they we i you that this there and but because since they're not ")) {
            return 0; /* "no idea", "no longer", "no one" */
        }
        *out = 0;
        return 1;
    }
    if (mc_word_is(words, at, "not") && is_polar_place(words, at) &&
        (ends_or_mark(words, at + 1) || mc_word_in(words, at + 1, " yet anymore really likely as so "))) {
        *out = 0;
        return ends_or_mark(words, at + 1) ? 1 : 2;
    }
    return 0;
}

int mc_change_before(const struct mc_words *words, size_t at)
{
    for (size_t k = 1; k <= 5 && k <= at; k++) {
        if (mc_word_in(words, at - k,
                       " moved moving move changed change switched shifted rescheduled rebooked pushed bumped updated "
                       "postponed delayed went goes corrected ")) {
            return 1;
        }
    }
    return 0;
}

struct state {
    int group;
    int ends; /* only at the end of a clause: "it's on." but not "it's on Saturday" */
    const char *words;
};

enum {
    CANCELLED,
    ON,
    POSTPONED,
    PENDING,
    DONE,
    PAID,
    UNPAID,
    OPEN,
    CLOSED,
    ACCEPTED,
    DECLINED,
    BOOKED,
    ARRIVED,
    UNDERWAY,
    SICK,
    WELL,
    FREE,
    BUSY,
    WORKING,
    BROKEN,
};

static const struct state states[] = {
    {CANCELLED, 0, "cancelled"},
    {CANCELLED, 0, "canceled"},
    {CANCELLED, 0, "called off"},
    {CANCELLED, 0, "scrapped"},
    {CANCELLED, 0, "not happening"},
    {CANCELLED, 0, "n't happening"},
    {CANCELLED, 0, "no longer happening"},
    {CANCELLED, 0, "fell through"},
    {CANCELLED, 0, "not going ahead"},
    {CANCELLED, 0, "n't going ahead"},
    {CANCELLED, 1, "is off"},
    {CANCELLED, 1, "'s off"},
    {CANCELLED, 1, "off"},
    {ON, 0, "confirmed"},
    {ON, 0, "going ahead"},
    {ON, 0, "still on"},
    {ON, 0, "back on"},
    {ON, 1, "is on"},
    {ON, 1, "'s on"},
    {ON, 0, "happening"},
    {ON, 0, "good to go"},
    {ON, 0, "all set"},
    {POSTPONED, 0, "postponed"},
    {POSTPONED, 0, "pushed back"},
    {POSTPONED, 0, "rescheduled"},
    {POSTPONED, 0, "deferred"},
    {POSTPONED, 0, "put off"},
    {POSTPONED, 0, "delayed"},
    {PENDING, 0, "pending"},
    {PENDING, 0, "undecided"},
    {PENDING, 0, "up in the air"},
    {PENDING, 0, "outstanding"},
    {PENDING, 0, "awaiting"},
    {PENDING, 0, "waiting"},
    {PENDING, 0, "tentative"},
    {PENDING, 0, "tbd"},
    {PENDING, 0, "to be determined"},
    {PENDING, 0, "on hold"},
    {PENDING, 0, "in progress"},
    {PENDING, 0, "unconfirmed"},
    {PENDING, 0, "not confirmed"},
    {PENDING, 0, "n't confirmed"},
    {PENDING, 0, "not yet confirmed"},
    {PENDING, 0, "not decided"},
    {PENDING, 0, "n't been decided"},
    {DONE, 0, "done"},
    {DONE, 0, "completed"},
    {DONE, 0, "complete"},
    {DONE, 0, "finished"},
    {DONE, 0, "sorted"},
    {DONE, 0, "taken care of"},
    {DONE, 0, "resolved"},
    {DONE, 0, "fixed"},
    {PAID, 0, "paid"},
    {PAID, 0, "paid off"},
    {PAID, 0, "settled"},
    {UNPAID, 0, "unpaid"},
    {UNPAID, 0, "overdue"},
    {UNPAID, 0, "still owed"},
    {UNPAID, 0, "still owes"},
    {OPEN, 0, "open"},
    {OPEN, 0, "reopened"},
    {CLOSED, 0, "closed"},
    {CLOSED, 0, "shut"},
    {CLOSED, 0, "shut down"},
    {ACCEPTED, 0, "approved"},
    {ACCEPTED, 0, "accepted"},
    {ACCEPTED, 0, "granted"},
    {DECLINED, 0, "declined"},
    {DECLINED, 0, "rejected"},
    {DECLINED, 0, "turned down"},
    {DECLINED, 0, "denied"},
    {DECLINED, 0, "refused"},
    {BOOKED, 0, "booked"},
    {BOOKED, 0, "reserved"},
    {ARRIVED, 0, "delivered"},
    {ARRIVED, 0, "arrived"},
    {UNDERWAY, 0, "shipped"},
    {UNDERWAY, 0, "in transit"},
    {UNDERWAY, 0, "on the way"},
    {UNDERWAY, 0, "on its way"},
    {UNDERWAY, 0, "out for delivery"},
    {SICK, 0, "sick"},
    {SICK, 0, "ill"},
    {SICK, 0, "unwell"},
    {WELL, 0, "recovered"},
    {WELL, 0, "healthy"},
    {WELL, 0, "feeling better"},
    {FREE, 0, "available"},
    {BUSY, 0, "unavailable"},
    {BUSY, 0, "busy"},
    {WORKING, 0, "working"},
    {WORKING, 0, "running"},
    {BROKEN, 0, "broken"},
    {BROKEN, 0, "out of order"},
    {BROKEN, 0, "out of service"},
};

static size_t state_length(const struct mc_words *words, size_t at, const char *text)
{
    size_t i = at;
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, " ");
        const char *norm = mc_word_at(words, i);
        if (strncmp(norm, p, length) != 0 || norm[length] != '\0') {
            return 0;
        }
        i++;
        p += length + (p[length] == ' ');
    }
    return i - at;
}

size_t mc_status_read(const struct mc_words *words, size_t at, int *out)
{
    size_t best = 0;
    if (mc_word_joined_before(words, at) && mc_word_at(words, at)[0] != '\'' && !mc_word_is(words, at, "n't")) {
        return 0;
    }
    for (size_t i = 0; i < MC_COUNT(states); i++) {
        size_t length = state_length(words, at, states[i].words);
        if (length <= best || mc_word_joined_after(words, at + length - 1)) {
            continue;
        }
        if (states[i].ends && !ends_or_mark(words, at + length)) {
            continue;
        }
        best = length;
        *out = states[i].group;
    }
    return best;
}

int mc_status_opposite(int a, int b)
{
    static const int pairs[][2] = {
        {CANCELLED, ON},     {CANCELLED, POSTPONED}, {CANCELLED, DONE}, {ON, POSTPONED},      {ON, PENDING},
        {PENDING, DONE},     {PAID, UNPAID},         {OPEN, CLOSED},    {ACCEPTED, DECLINED}, {PENDING, ACCEPTED},
        {PENDING, DECLINED}, {ARRIVED, UNDERWAY},    {SICK, WELL},      {FREE, BUSY},         {WORKING, BROKEN},
        {PENDING, PAID},     {CANCELLED, PENDING}};
    for (size_t i = 0; i < MC_COUNT(pairs); i++) {
        if ((pairs[i][0] == a && pairs[i][1] == b) || (pairs[i][0] == b && pairs[i][1] == a)) {
            return 1;
        }
    }
    return 0;
}

int mc_status_complement(int a, int b)
{
    static const int pairs[][2] = {{PAID, UNPAID}, {OPEN, CLOSED}, {FREE, BUSY}, {WORKING, BROKEN}};
    for (size_t i = 0; i < MC_COUNT(pairs); i++) {
        if ((pairs[i][0] == a && pairs[i][1] == b) || (pairs[i][0] == b && pairs[i][1] == a)) {
            return 1;
        }
    }
    return 0;
}
