/* What is known of single words: what can start with them, and how else they are written. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "grade/words.h"

/* A date, a time of day or an amount can start with these; most words start none, and are passed over at once. */
struct entry {
    const char *norm;
    unsigned starts;
};

/* In the order of strcmp(). */
static const struct entry entries[] = {
    {"$", MC_STARTS_AMOUNT},
    {"a", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"about", MC_STARTS_DATE},
    {"almost", MC_STARTS_DATE},
    {"an", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"apr", MC_STARTS_DATE},
    {"april", MC_STARTS_DATE},
    {"around", MC_STARTS_DATE},
    {"aug", MC_STARTS_DATE},
    {"august", MC_STARTS_DATE},
    {"autumn", MC_STARTS_DATE},
    {"beginning", MC_STARTS_DATE},
    {"between", MC_STARTS_DATE},
    {"both", MC_STARTS_AMOUNT},
    {"coming", MC_STARTS_DATE},
    {"day", MC_STARTS_DATE},
    {"dec", MC_STARTS_DATE},
    {"december", MC_STARTS_DATE},
    {"early", MC_STARTS_DATE},
    {"eight", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"eighteen", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"eighteenth", MC_STARTS_DATE},
    {"eighth", MC_STARTS_DATE},
    {"eighty", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"eleven", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"eleventh", MC_STARTS_DATE},
    {"end", MC_STARTS_DATE},
    {"exactly", MC_STARTS_DATE},
    {"fall", MC_STARTS_DATE},
    {"feb", MC_STARTS_DATE},
    {"february", MC_STARTS_DATE},
    {"few", MC_STARTS_DATE},
    {"fifteen", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"fifteenth", MC_STARTS_DATE},
    {"fifth", MC_STARTS_DATE},
    {"fifty", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"final", MC_STARTS_DATE},
    {"first", MC_STARTS_DATE},
    {"five", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"following", MC_STARTS_DATE},
    {"forty", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"four", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"fourteen", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"fourteenth", MC_STARTS_DATE},
    {"fourth", MC_STARTS_DATE},
    {"fourty", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"fri", MC_STARTS_DATE},
    {"friday", MC_STARTS_DATE},
    {"fridays", MC_STARTS_DATE},
    {"from", MC_STARTS_DATE},
    {"half", MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"in", MC_STARTS_DATE},
    {"jan", MC_STARTS_DATE},
    {"january", MC_STARTS_DATE},
    {"jul", MC_STARTS_DATE},
    {"july", MC_STARTS_DATE},
    {"jun", MC_STARTS_DATE},
    {"june", MC_STARTS_DATE},
    {"just", MC_STARTS_DATE},
    {"last", MC_STARTS_DATE},
    {"late", MC_STARTS_DATE},
    {"mar", MC_STARTS_DATE},
    {"march", MC_STARTS_DATE},
    {"may", MC_STARTS_DATE},
    {"mid", MC_STARTS_DATE},
    {"midday", MC_STARTS_CLOCK},
    {"middle", MC_STARTS_DATE},
    {"midnight", MC_STARTS_CLOCK},
    {"mon", MC_STARTS_DATE},
    {"monday", MC_STARTS_DATE},
    {"mondays", MC_STARTS_DATE},
    {"month", MC_STARTS_DATE},
    {"nearly", MC_STARTS_DATE},
    {"next", MC_STARTS_DATE},
    {"nine", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"nineteen", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"nineteenth", MC_STARTS_DATE},
    {"ninety", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"ninth", MC_STARTS_DATE},
    {"none", MC_STARTS_AMOUNT},
    {"noon", MC_STARTS_CLOCK},
    {"noontime", MC_STARTS_CLOCK},
    {"nov", MC_STARTS_DATE},
    {"november", MC_STARTS_DATE},
    {"o", MC_STARTS_CLOCK},
    {"oct", MC_STARTS_DATE},
    {"october", MC_STARTS_DATE},
    {"oh", MC_STARTS_CLOCK},
    {"on", MC_STARTS_DATE},
    {"once", MC_STARTS_AMOUNT},
    {"one", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"past", MC_STARTS_DATE},
    {"previous", MC_STARTS_DATE},
    {"quarter", MC_STARTS_CLOCK},
    {"roughly", MC_STARTS_DATE},
    {"sat", MC_STARTS_DATE},
    {"saturday", MC_STARTS_DATE},
    {"saturdays", MC_STARTS_DATE},
    {"second", MC_STARTS_DATE},
    {"sep", MC_STARTS_DATE},
    {"sept", MC_STARTS_DATE},
    {"september", MC_STARTS_DATE},
    {"seven", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"seventeen", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"seventeenth", MC_STARTS_DATE},
    {"seventh", MC_STARTS_DATE},
    {"seventy", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"several", MC_STARTS_DATE},
    {"six", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"sixteen", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"sixteenth", MC_STARTS_DATE},
    {"sixth", MC_STARTS_DATE},
    {"sixty", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"spring", MC_STARTS_DATE},
    {"start", MC_STARTS_DATE},
    {"summer", MC_STARTS_DATE},
    {"sun", MC_STARTS_DATE},
    {"sunday", MC_STARTS_DATE},
    {"sundays", MC_STARTS_DATE},
    {"ten", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"tenth", MC_STARTS_DATE},
    {"the", MC_STARTS_DATE},
    {"third", MC_STARTS_DATE},
    {"thirteen", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"thirteenth", MC_STARTS_DATE},
    {"thirtieth", MC_STARTS_DATE},
    {"thirty", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"this", MC_STARTS_DATE},
    {"three", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"thrice", MC_STARTS_AMOUNT},
    {"thu", MC_STARTS_DATE},
    {"thur", MC_STARTS_DATE},
    {"thurs", MC_STARTS_DATE},
    {"thursday", MC_STARTS_DATE},
    {"thursdays", MC_STARTS_DATE},
    {"tmr", MC_STARTS_DATE},
    {"tmrw", MC_STARTS_DATE},
    {"today", MC_STARTS_DATE},
    {"tomorow", MC_STARTS_DATE},
    {"tomorrow", MC_STARTS_DATE},
    {"tonight", MC_STARTS_DATE},
    {"tue", MC_STARTS_DATE},
    {"tues", MC_STARTS_DATE},
    {"tuesday", MC_STARTS_DATE},
    {"tuesdays", MC_STARTS_DATE},
    {"twelfth", MC_STARTS_DATE},
    {"twelve", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"twentieth", MC_STARTS_DATE},
    {"twenty", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"twice", MC_STARTS_AMOUNT},
    {"two", MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT},
    {"upcoming", MC_STARTS_DATE},
    {"wed", MC_STARTS_DATE},
    {"wednesday", MC_STARTS_DATE},
    {"wednesdays", MC_STARTS_DATE},
    {"week", MC_STARTS_DATE},
    {"weekend", MC_STARTS_DATE},
    {"winter", MC_STARTS_DATE},
    {"year", MC_STARTS_DATE},
    {"yesterday", MC_STARTS_DATE},
    {"zero", MC_STARTS_DATE | MC_STARTS_AMOUNT},
    {"£", MC_STARTS_AMOUNT},
    {"€", MC_STARTS_AMOUNT},
};

static int by_norm(const void *key, const void *entry)
{
    return strcmp(key, ((const struct entry *)entry)->norm);
}

unsigned char mc_word_starts(enum mc_word_kind kind, const char *norm)
{
    if (kind == MC_WORD_NUMBER) {
        return MC_STARTS_DATE | MC_STARTS_CLOCK | MC_STARTS_AMOUNT;
    }
    const struct entry *entry = bsearch(norm, entries, MC_COUNT(entries), sizeof entries[0], by_norm);
    return entry ? (unsigned char)entry->starts : 0;
}

struct spelling {
    const char *norm;
    const char *canon;
};

/* In the order of strcmp(). */
static const struct spelling spellings[] = {
    {"and", "&"},         {"apartment", "apt"}, {"av", "ave"},    {"avenue", "ave"}, {"boulevard", "blvd"},
    {"centre", "center"}, {"colour", "color"},  {"court", "ct"},  {"doctor", "dr"},  {"drive", "dr"},
    {"eight", "8"},       {"eleven", "11"},     {"five", "5"},    {"four", "4"},     {"grey", "gray"},
    {"lane", "ln"},       {"mister", "mr"},     {"mount", "mt"},  {"nine", "9"},     {"okay", "ok"},
    {"one", "1"},         {"place", "pl"},      {"road", "rd"},   {"saint", "st"},   {"seven", "7"},
    {"six", "6"},         {"square", "sq"},     {"street", "st"}, {"ten", "10"},     {"theatre", "theater"},
    {"three", "3"},       {"twelve", "12"},     {"two", "2"},     {"versus", "vs"},
};

static int by_spelling(const void *key, const void *spelling)
{
    return strcmp(key, ((const struct spelling *)spelling)->norm);
}

const char *mc_word_canon(const char *norm)
{
    const struct spelling *found = bsearch(norm, spellings, MC_COUNT(spellings), sizeof spellings[0], by_spelling);
    return found ? found->canon : norm;
}
