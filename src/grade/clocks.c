#include "grade/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DAY = 1440, NOON = 720 };

enum half { HALF_UNKNOWN, HALF_AM, HALF_PM, HALF_24 };

static int is(const struct mc_words *w, size_t i, const char *norm)
{
    return mc_word_is(w, i, norm);
}

static int in(const struct mc_words *w, size_t i, const char *list)
{
    return mc_word_in(w, i, list);
}

static int is_glued(const struct mc_words *w, size_t i)
{
    return i < w->count && w->items[i].glued;
}

static int is_digits(const struct mc_words *w, size_t i, size_t min, size_t max)
{
    if (i >= w->count || w->items[i].kind != MC_WORD_NUMBER) {
        return 0;
    }
    const char *norm = w->items[i].norm;
    size_t length = strlen(norm);
    return length >= min && length <= max && norm[strspn(norm, "0123456789")] == '\0' &&
           w->items[i].end - w->items[i].start == length;
}

static int hour_word(const char *norm)
{
    static const char *const names[] = {"one",   "two",   "three", "four", "five",   "six",
                                        "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
    for (int i = 0; i < (int)MC_COUNT(names); i++) {
        if (strcmp(names[i], norm) == 0) {
            return i + 1;
        }
    }
    return 0;
}

static int minute_word(const struct mc_words *w, size_t i, size_t *length)
{
    static const struct {
        const char *name;
        int minutes;
    } names[] = {{"five", 5},    {"ten", 10},   {"fifteen", 15}, {"twenty", 20},
                 {"thirty", 30}, {"forty", 40}, {"fifty", 50}};
    for (size_t k = 0; k < MC_COUNT(names); k++) {
        if (!is(w, i, names[k].name)) {
            continue;
        }
        *length = 1;
        size_t next = i + 1 + (is(w, i + 1, "-") ? 1 : 0);
        if (names[k].minutes >= 20 && is(w, next, "five")) {
            *length = next + 1 - i;
            return names[k].minutes + 5;
        }
        return names[k].minutes;
    }
    if (in(w, i, " oh o ") && hour_word(mc_word_at(w, i + 1)) > 0 && hour_word(mc_word_at(w, i + 1)) < 10) {
        *length = 2;
        return hour_word(mc_word_at(w, i + 1));
    }
    return -1;
}

/* The bare reading before halves of the day: hour, minute, how sure it is that a time is meant. */
struct face {
    int hour;
    int minute;
    enum half half;
    int sure;
};

static int is_value_edge(const struct mc_words *w, size_t i)
{
    return !mc_word_joined_before(w, i) && !(i > 0 && is_glued(w, i) && in(w, i - 1, " $ # £ € : / ")) &&
           !(i > 0 && in(w, i - 1,
                         " $ # £ € unit apt apartment room suite gate bus route flight line number page chapter "
                         "track table booth "));
}

/* "8", "20:00", "7.30", "19h30", "1930 hours", "eight", "seven thirty". */
static size_t read_face(const struct mc_words *w, size_t i, struct face *f)
{
    *f = (struct face){.half = HALF_UNKNOWN};
    if (is_digits(w, i, 1, 2)) {
        f->hour = mc_norm_number(w->items[i].norm);
        if (f->hour > 24) {
            return 0;
        }
        int leading_zero = w->items[i].norm[0] == '0' && strlen(w->items[i].norm) == 2;
        if (in(w, i + 1, " : h ") && is_glued(w, i + 1) && is_digits(w, i + 2, 2, 2) && is_glued(w, i + 2)) {
            f->minute = mc_norm_number(w->items[i + 2].norm);
            f->sure = 1;
            f->half = f->hour > 12 || leading_zero || is(w, i + 1, "h") ? HALF_24 : HALF_UNKNOWN;
            size_t end = i + 3;
            if (is(w, end, ":") && is_glued(w, end) && is_digits(w, end + 1, 2, 2)) {
                end += 2; /* seconds */
            }
            return f->minute < 60 ? end - i : 0;
        }
        if (is(w, i + 1, "h") && is_glued(w, i + 1)) {
            f->sure = 1;
            f->half = HALF_24;
            return 2;
        }
        f->half = f->hour > 12 || f->hour == 0 ? HALF_24 : HALF_UNKNOWN;
        return 1;
    }
    if (is_digits(w, i, 4, 4) && in(w, i + 1, " hours hrs hour h ")) {
        int value = mc_norm_number(w->items[i].norm);
        f->hour = value / 100;
        f->minute = value % 100;
        f->half = HALF_24;
        f->sure = 1;
        return f->hour < 24 && f->minute < 60 ? 2 : 0;
    }
    if (i < w->count && w->items[i].kind == MC_WORD_NUMBER) {
        /* "7.30pm" */
        const char *norm = w->items[i].norm;
        const char *dot = strchr(norm, '.');
        if (dot && strlen(dot) == 3 && dot - norm <= 2 && in(w, i + 1, " am pm ")) {
            f->hour = mc_norm_number(norm);
            f->minute = mc_norm_number(dot + 1);
            return f->hour <= 12 && f->minute < 60 ? 1 : 0;
        }
        return 0;
    }
    f->hour = hour_word(mc_word_at(w, i));
    if (!f->hour) {
        return 0;
    }
    size_t length;
    size_t next = i + 1 + (is(w, i + 1, "-") && is_glued(w, i + 1) ? 1 : 0);
    int minute = minute_word(w, next, &length);
    if (minute >= 0 && next + length - i <= 5) {
        f->minute = minute;
        f->sure = 1;
        return next + length - i;
    }
    return 1;
}

/* "half past seven", "quarter to eight", "ten past 6", "20 minutes to nine". */
static size_t read_spoken(const struct mc_words *w, size_t i, struct face *f)
{
    size_t at = i + (is(w, i, "a") ? 1 : 0);
    int minutes = 0;
    size_t length = 1;
    if (is(w, at, "half")) {
        minutes = 30;
    } else if (is(w, at, "quarter")) {
        minutes = 15;
    } else if (is_digits(w, at, 1, 2) && at == i) {
        minutes = mc_norm_number(w->items[at].norm);
    } else {
        minutes = minute_word(w, at, &length);
    }
    if (minutes < 1 || minutes > 59 || !is_value_edge(w, at)) {
        return 0;
    }
    at += length;
    int named = minutes == 30 || minutes == 15 || hour_word(mc_word_at(w, i)) || minute_word(w, i, &length) > 0;
    int unit = in(w, at, " minutes mins minute ");
    at += unit ? 1 : 0;
    if (!in(w, at, " past to after before till of ") || (!named && !unit) ||
        (in(w, at, " before after of till ") && minutes != 15 && minutes != 30)) {
        return 0;
    }
    int before = in(w, at, " to before till of ");
    struct face hour;
    size_t taken = read_face(w, at + 1, &hour);
    if (taken == 0 || hour.minute != 0 || hour.hour < 1 || hour.hour > 12) {
        return 0;
    }
    *f = hour;
    f->sure = 1;
    f->minute = minutes;
    if (before) {
        f->minute = 60 - minutes;
        f->hour = hour.hour == 1 ? 12 : hour.hour - 1;
    }
    return at + 1 + taken - i;
}

/* "pm", "p", "in the evening", "at night", "o'clock", "sharp", "ish": what may follow a face. */
static size_t read_after(const struct mc_words *w, size_t i, struct face *f)
{
    size_t at = i;
    for (;;) {
        if (in(w, at, " o'clock oclock ")) {
            f->sure = 1;
            at++;
        } else if (in(w, at, " ish sharp ") || (is(w, at, "-") && is(w, at + 1, "ish"))) {
            f->sure = 1;
            at += is(w, at, "-") ? 2 : 1;
        } else {
            break;
        }
    }
    if (in(w, at, " am pm ") || (in(w, at, " a p ") && is_glued(w, at) && at == i)) {
        if (f->half == HALF_UNKNOWN && f->hour >= 1 && f->hour <= 12) {
            f->half = is(w, at, "am") || is(w, at, "a") ? HALF_AM : HALF_PM;
        }
        f->sure = 1;
        return at + 1 + (in(w, at + 1, " ish ") ? 1 : 0) - i;
    }
    static const struct {
        const char *words[4];
        enum half half;
    } phrases[] = {{{"in", "the", "morning"}, HALF_AM},
                   {{"in", "the", "afternoon"}, HALF_PM},
                   {{"in", "the", "evening"}, HALF_PM},
                   {{"at", "night"}, HALF_PM},
                   {{"tonight"}, HALF_PM},
                   {{"this", "evening"}, HALF_PM},
                   {{"this", "afternoon"}, HALF_PM},
                   {{"this", "morning"}, HALF_AM},
                   {{"tomorrow", "morning"}, HALF_AM},
                   {{"tomorrow", "night"}, HALF_PM},
                   {{"tomorrow", "evening"}, HALF_PM},
                   {{"tomorrow", "afternoon"}, HALF_PM}};
    for (size_t k = 0; k < MC_COUNT(phrases); k++) {
        size_t n = 0;
        while (n < 4 && phrases[k].words[n] && is(w, at + n, phrases[k].words[n])) {
            n++;
        }
        if (n == 4 || phrases[k].words[n] || n == 0) {
            continue;
        }
        if (f->half == HALF_UNKNOWN) {
            f->half = phrases[k].half;
            /* "2 at night" is after midnight. */
            if (is(w, at + 1, "night") && f->hour < 5) {
                f->half = HALF_AM;
            }
        }
        f->sure = 1;
        /* "tonight" and "tomorrow" are also dates: they are read but not taken. */
        return is(w, at, "in") || is(w, at, "at") ? at + n - i : at - i;
    }
    return at - i;
}

/* "Friday night at 8", "tonight at 8": a half of the day just before. */
static enum half half_before(const struct mc_words *w, size_t i)
{
    for (size_t k = 1; k <= 4 && k <= i; k++) {
        size_t at = i - k;
        if (w->items[at].sentence != w->items[i].sentence || in(w, at, " , ; not ")) {
            break;
        }
        if (in(w, at, " tonight evening night afternoon ")) {
            return HALF_PM;
        }
        if (is(w, at, "morning")) {
            return HALF_AM;
        }
    }
    return HALF_UNKNOWN;
}

/* A bare "8" is a time of day only in the places where people put one. */
static int bare_context(const struct mc_words *w, size_t i, size_t end)
{
    int alone = 1;
    for (size_t k = 0; k < w->count && alone; k++) {
        alone = (k >= i && k < end) || w->items[k].kind == MC_WORD_MARK || in(w, k, " at around about by ");
    }
    if (alone) {
        return 1;
    }
    int before = i == 0 || in(w, i - 1,
                              " at by around about from until till past before after is 's be now not ~ @ say to , "
                              "tonight tomorrow saturday sunday monday tuesday wednesday thursday friday -> like was ( "
                              "between and or than of ");
    if (i > 0 && in(w, i - 1, " for ")) {
        before =
            i > 1 &&
            in(w, i - 2, " set scheduled planned slated on moved rescheduled start starts aiming shooting it 's time ");
    }
    int after =
        end >= w->count || w->items[end].kind == MC_WORD_MARK ||
        in(w, end,
           " tonight tomorrow on in for with at and but instead now sharp or to today this because as if rather until "
           "till then so when not saturday sunday monday tuesday wednesday thursday friday though since is was by "
           "works from anymore i it 's we ");
    if (end < w->count && in(w, end, " % / : $ ")) {
        return 0;
    }
    return before && after &&
           (i == 0 || in(w, i - 1, " at by around about from until till ~ @ past before after ") ||
            w->items[i].kind == MC_WORD_NUMBER || in(w, i - 1, " to is 's not now was for "));
}

static void set_choices(struct mc_clock *out, const struct face *f)
{
    int hour = f->hour % 24;
    int minutes = hour * 60 + f->minute;
    out->choices = 1;
    if (f->half == HALF_AM || f->half == HALF_PM) {
        minutes = (f->hour % 12) * 60 + f->minute + (f->half == HALF_PM ? NOON : 0);
    } else if (f->half == HALF_UNKNOWN) {
        minutes = (f->hour % 12) * 60 + f->minute;
        out->choices = 2;
        out->choice[1] = minutes + NOON;
    }
    out->choice[0] = minutes;
}

/* "ET", "Pacific time", "UTC": moves the reading into the life's own zone. */
static size_t read_zone(const struct mc_words *w, size_t i, const struct mc_calendar *c, struct mc_clock *out)
{
    static const struct {
        const char *names;
        const char *zone; /* its rules decide between standard and daylight time */
        int offset;
        int fixed;
    } zones[] = {{" et eastern ", "America/New_York", 0, 0},
                 {" ct central ", "America/Chicago", 0, 0},
                 {" mt mountain ", "America/Denver", 0, 0},
                 {" pt pacific ", "America/Los_Angeles", 0, 0},
                 {" est ", "", -300, 1},
                 {" edt ", "", -240, 1},
                 {" cst ", "", -360, 1},
                 {" cdt ", "", -300, 1},
                 {" mst ", "", -420, 1},
                 {" mdt ", "", -360, 1},
                 {" pst ", "", -480, 1},
                 {" pdt ", "", -420, 1},
                 {" utc gmt z ", "", 0, 1},
                 {" bst ", "", 60, 1},
                 {" cet ", "", 60, 1},
                 {" cest ", "", 120, 1},
                 {" ist ", "", 330, 1},
                 {" jst ", "", 540, 1}};
    static const int summer[] = {-240, -300, -360, -420};
    for (size_t k = 0; k < MC_COUNT(zones); k++) {
        if (!in(w, i, zones[k].names)) {
            continue;
        }
        int offset = zones[k].offset;
        if (!zones[k].fixed) {
            /* North America's zones change together: where the life's own is one of them, the distance is fixed. */
            int is_american = mc_starts_with(mc_tz_name(c->zone), "America/");
            int ahead = is_american ? c->zone_offset : summer[k];
            offset = summer[k];
            /* The life's zone in winter is an hour behind its summer. */
            int january = mc_tz_offset(c->zone, 1768478400000);
            if (is_american && ahead == january && mc_tz_offset(c->zone, 1784116800000) != january) {
                offset -= 60;
            }
        }
        int shift = c->zone_offset - offset;
        for (int n = 0; n < out->choices; n++) {
            out->choice[n] = ((out->choice[n] + shift) % DAY + DAY) % DAY;
        }
        return 1 + (is(w, i + 1, "time") ? 1U : 0U);
    }
    return 0;
}

/* "2026-08-08T20:00:00-04:00", from the hour on: words taken, 0 where it is none. */
static size_t read_iso(const struct mc_words *w, size_t i, const struct mc_calendar *c, struct mc_clock *out)
{
    struct face f;
    if (i < 2 || !is(w, i - 1, "t") || !is_glued(w, i) || !is_glued(w, i - 1) ||
        w->items[i - 2].kind != MC_WORD_NUMBER) {
        return 0;
    }
    size_t length = read_face(w, i, &f);
    if (length < 3 || f.hour > 23) {
        return 0;
    }
    size_t at = i + length;
    int offset = c->zone_offset;
    if (is(w, at, "z") && is_glued(w, at)) {
        offset = 0;
        at++;
    } else if (in(w, at, " + - ") && is_digits(w, at + 1, 2, 2) && is(w, at + 2, ":") && is_digits(w, at + 3, 2, 2)) {
        offset = (mc_norm_number(w->items[at + 1].norm) * 60 + mc_norm_number(w->items[at + 3].norm)) *
                 (is(w, at, "-") ? -1 : 1);
        at += 4;
    }
    int minutes = ((f.hour * 60 + f.minute + c->zone_offset - offset) % DAY + DAY) % DAY;
    *out = (struct mc_clock){.choice = {minutes, minutes}, .choices = 1, .until = -1};
    return at - i;
}

static int is_bound(const struct mc_words *w, size_t i)
{
    if (i == 0) {
        return 0;
    }
    if (in(w, i - 1, " after before past than ")) {
        return !(i > 1 && in(w, i - 2, " 's ") && is(w, i - 1, "past"));
    }
    if (in(w, i - 1, " until till ")) {
        /* "not until 8", "doesn't start until 8": it does start at 8. */
        for (size_t k = 2; k <= 5 && k <= i; k++) {
            if (in(w, i - k, " not n't ")) {
                return 0;
            }
        }
        return 1;
    }
    return 0;
}

static size_t read_named(const struct mc_words *w, size_t i, struct mc_clock *out)
{
    size_t at = i + (is(w, i, "12") ? 1 : 0);
    if (in(w, at, " noon midday noontime ")) {
        *out = (struct mc_clock){.choice = {NOON, NOON}, .choices = 1, .until = -1};
        return at + 1 - i;
    }
    if (is(w, at, "midnight")) {
        *out = (struct mc_clock){.choice = {0, 0}, .choices = 1, .until = -1};
        return at + 1 - i;
    }
    return 0;
}

/* One time without a range. */
static size_t read_one(const struct mc_words *w, size_t i, const struct mc_calendar *c, int in_range,
                       struct mc_clock *out, struct face *f)
{
    size_t length = read_named(w, i, out);
    if (length > 0) {
        *f = (struct face){.sure = 1, .half = HALF_24};
        return length;
    }
    length = read_spoken(w, i, f);
    if (length == 0) {
        length = in_range || is_value_edge(w, i) ? read_face(w, i, f) : 0;
    }
    if (length == 0) {
        return 0;
    }
    if (f->hour > 12 && !f->sure && in(w, i + length, " am pm ")) {
        return 0; /* "18pm" */
    }
    length += read_after(w, i + length, f);
    if (f->half == HALF_UNKNOWN) {
        f->half = half_before(w, i);
    }
    if (f->hour == 24 && f->minute > 0) {
        return 0;
    }
    *out = (struct mc_clock){.until = -1};
    set_choices(out, f);
    size_t zone = f->sure ? read_zone(w, i + length, c, out) : 0;
    return length + zone;
}

size_t mc_clock_read(const struct mc_words *words, size_t at, const struct mc_calendar *calendar, struct mc_clock *out)
{
    if (!(words->items[at].starts & MC_STARTS_CLOCK)) {
        return 0;
    }
    struct face f;
    size_t length = read_iso(words, at, calendar, out);
    if (length > 0) {
        return length;
    }
    length = read_one(words, at, calendar, 0, out, &f);
    if (length == 0) {
        return 0;
    }
    size_t end = at + length;
    struct face g;
    struct mc_clock until;
    size_t more = 0;
    if (in(words, end, " - to until till through -- ") && !(is(words, end, "--") && !is_glued(words, end))) {
        more = read_one(words, end + 1, calendar, 1, &until, &g);
    } else if (is(words, end, "and") && at > 0 && is(words, at - 1, "between")) {
        more = read_one(words, end + 1, calendar, 0, &until, &g);
        f.sure = 1;
    }
    int changed =
        is(words, end, "to") && at > 0 && (is(words, at - 1, "from") ? mc_change_before(words, at - 1) : !f.sure);
    if (more > 0 && (f.sure || g.sure) && !changed && !mc_word_joined_after(words, end + more)) {
        /* "7-9pm": the half of the day at the end goes for both, unless that turns the range round. */
        if (f.half == HALF_UNKNOWN && (g.half == HALF_AM || g.half == HALF_PM)) {
            f.half = g.half;
            set_choices(out, &f);
            if (out->choice[0] > until.choice[0]) {
                f.half = g.half == HALF_PM ? HALF_AM : HALF_PM;
                set_choices(out, &f);
            }
        }
        out->until = until.choice[until.choices - 1];
        out->bound = at > 0 && in(words, at - 1, " between ");
        return length + 1 + more;
    }
    if (mc_word_joined_after(words, end - 1) || (!f.sure && !bare_context(words, at, end))) {
        return 0;
    }
    out->bound |= is_bound(words, at);
    return length;
}

int mc_clock_equal(const struct mc_clock *a, const struct mc_clock *b)
{
    if (a->bound || b->bound || (a->until >= 0 && b->until >= 0 && a->until != b->until)) {
        return 0;
    }
    for (int i = 0; i < a->choices; i++) {
        for (int k = 0; k < b->choices; k++) {
            if (a->choice[i] == b->choice[k]) {
                return 1;
            }
        }
    }
    return 0;
}

int mc_clock_other_occurrence(const struct mc_clock *a, const struct mc_clock *b)
{
    return a->choices == 1 && b->choices == 1 && abs(a->choice[0] - b->choice[0]) == NOON;
}
