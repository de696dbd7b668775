/* The table of cues. Longest match wins at each word; "@be", "@not" and the like stand for any word of a list. */
#include "grade/said.h"

#include <string.h>

#include "base/mem.h"

struct row {
    const char *pattern;
    enum mc_cue_kind kind;
};

static const struct {
    char letter;
    const char *list;
} classes[] = {
    {'B', " is are was were be been being 's 're 'm isnt arent wasnt "},
    {'P', " is are 's 're am 'm "},
    {'W', " was were wasnt "},
    {'N', " not n't never "},
    {'D', " do does did dont doesnt didnt "},
    {'H', " has have had 've 's "},
    {'I', " i we "},
    {'T', " it that this they he she there "},
    {'O', " plan time date day place venue location address spot one schedule idea arrangement version price message email text "
          "note post amount rent cost "},
    {'S', " sure certain positive clear confident "},
    {'C', " change move update switch swap rescheduling relocation "},
};

static const struct row rows[] = {
    /* Look like negations or pasts and are none. */
    {"@D n't forget", MC_CUE_PLAIN},
    {"do not forget", MC_CUE_PLAIN},
    {"never forget", MC_CUE_PLAIN},
    {"@N only", MC_CUE_PLAIN},
    {"@N just", MC_CUE_PLAIN},
    {"@N until", MC_CUE_PLAIN},
    {"@N start until", MC_CUE_PLAIN},
    {"@N begin until", MC_CUE_PLAIN},
    {"@N open until", MC_CUE_PLAIN},
    {"@N be late", MC_CUE_PLAIN},
    {"@N bring", MC_CUE_PLAIN},
    {"@N miss", MC_CUE_PLAIN},
    {"@N worry", MC_CUE_PLAIN},
    {"@N need", MC_CUE_PLAIN},
    {"@N hesitate", MC_CUE_PLAIN},
    {"@N come", MC_CUE_PLAIN},
    {"@N make it", MC_CUE_PLAIN},
    {"@N attend", MC_CUE_PLAIN},
    {"@N wait", MC_CUE_PLAIN},
    {"@N surprisingly", MC_CUE_PLAIN},
    {"if not", MC_CUE_PLAIN},
    {"why not", MC_CUE_PLAIN},
    {"no doubt", MC_CUE_PLAIN},
    {"no problem", MC_CUE_PLAIN},
    {"no worries", MC_CUE_PLAIN},
    {"without a doubt", MC_CUE_PLAIN},
    {"without doubt", MC_CUE_PLAIN},
    {"@N mistaken", MC_CUE_PLAIN},
    {"@N far from", MC_CUE_PLAIN},
    {"@N changed", MC_CUE_PLAIN},
    {"@N change", MC_CUE_PLAIN},
    {"@N been changed", MC_CUE_PLAIN},
    {"as well as", MC_CUE_PLAIN},
    /* Negation, forward. */
    {"@N", MC_CUE_NEGATION},
    {"cannot", MC_CUE_NEGATION},
    {"dont", MC_CUE_NEGATION},
    {"doesnt", MC_CUE_NEGATION},
    {"didnt", MC_CUE_NEGATION},
    {"isnt", MC_CUE_NEGATION},
    {"wasnt", MC_CUE_NEGATION},
    {"arent", MC_CUE_NEGATION},
    {"wont", MC_CUE_NEGATION},
    {"neither", MC_CUE_NEGATION},
    {"nor", MC_CUE_NEGATION},
    {"without", MC_CUE_NEGATION},
    {"rather than", MC_CUE_NEGATION},
    {"anywhere but", MC_CUE_NEGATION},
    {"anyone but", MC_CUE_NEGATION},
    {"anything but", MC_CUE_NEGATION},
    {"nothing but", MC_CUE_PLAIN},
    {"yet to", MC_CUE_NEGATION},
    {"excluding", MC_CUE_NEGATION},
    {"as opposed to", MC_CUE_NEGATION},
    {"other than", MC_CUE_NEGATION},
    {"except", MC_CUE_NEGATION},
    {"except for", MC_CUE_NEGATION},
    {"ruled out", MC_CUE_NEGATION},
    {"nothing to do with", MC_CUE_NEGATION},
    {"far from", MC_CUE_NEGATION},
    {"ignore", MC_CUE_NEGATION},
    {"forget about", MC_CUE_NEGATION},
    {"@D n't think", MC_CUE_NEGATION_OF_CLAUSE},
    {"@D not think", MC_CUE_NEGATION_OF_CLAUSE},
    {"@D n't believe", MC_CUE_NEGATION_OF_CLAUSE},
    {"@D not believe", MC_CUE_NEGATION_OF_CLAUSE},
    {"@N true that", MC_CUE_NEGATION_OF_CLAUSE},
    {"@N the case that", MC_CUE_NEGATION_OF_CLAUSE},
    {"doubt", MC_CUE_NEGATION_OF_CLAUSE},
    {"no way", MC_CUE_NEGATION_OF_CLAUSE},
    {"wrong to say", MC_CUE_NEGATION_OF_CLAUSE},
    {"false that", MC_CUE_NEGATION_OF_CLAUSE},
    /* Negation of what stands before. */
    {"@B @N happening", MC_CUE_NEGATION_BACK},
    {"@B @N on", MC_CUE_NEGATION_BACK},
    {"@B @N available", MC_CUE_NEGATION_BACK},
    {"@B @N possible", MC_CUE_NEGATION_BACK},
    {"@B @N it", MC_CUE_NEGATION_BACK},
    {"@B @N the", MC_CUE_NEGATION_BACK},
    {"@B @N an option", MC_CUE_NEGATION_BACK},
    {"@B @N right", MC_CUE_NEGATION_BACK},
    {"@B @N correct", MC_CUE_NEGATION_BACK},
    {"@B @N true", MC_CUE_NEGATION_BACK},
    {"@B @N valid", MC_CUE_NEGATION_BACK},
    {"@B @N hosting", MC_CUE_NEGATION_BACK},
    {"@B @N going", MC_CUE_NEGATION_BACK},
    {"@B @N doing", MC_CUE_NEGATION_BACK},
    {"@B @N bringing", MC_CUE_NEGATION_BACK},
    {"@B @N where", MC_CUE_NEGATION_BACK},
    {"@B @N when", MC_CUE_NEGATION_BACK},
    {"@B @N who", MC_CUE_NEGATION_BACK},
    {"@B @N coming", MC_CUE_NEGATION_BACK},
    {"@B @N able", MC_CUE_NEGATION_BACK},
    {"@D @N work", MC_CUE_NEGATION_BACK},
    {"did @N happen", MC_CUE_NEGATION_BACK},
    {"wo n't work", MC_CUE_NEGATION_BACK},
    {"will not work", MC_CUE_NEGATION_BACK},
    {"ca n't host", MC_CUE_NEGATION_BACK},
    {"ca n't do it", MC_CUE_NEGATION_BACK},
    {"no longer works", MC_CUE_NEGATION_BACK},
    {"no longer hosting", MC_CUE_NEGATION_BACK},
    {"@B no longer", MC_CUE_NEGATION_BACK},
    {"fell through", MC_CUE_NEGATION_BACK},
    {"@B off", MC_CUE_NEGATION_BACK},
    {"@B out", MC_CUE_NEGATION_BACK},
    {"@B off the table", MC_CUE_NEGATION_BACK},
    {"@B ruled out", MC_CUE_NEGATION_BACK},
    {"@B wrong", MC_CUE_NEGATION_BACK},
    {"@B incorrect", MC_CUE_NEGATION_BACK},
    {"@B false", MC_CUE_NEGATION_BACK},
    {"@B cancelled", MC_CUE_NEGATION_BACK},
    {"@B canceled", MC_CUE_NEGATION_BACK},
    {"@B called off", MC_CUE_NEGATION_BACK},
    {"got cancelled", MC_CUE_NEGATION_BACK},
    {"got canceled", MC_CUE_NEGATION_BACK},
    {"@B sold out", MC_CUE_NEGATION_BACK},
    {"@B being", MC_CUE_NEGATION_BACK},
    {"@B being used", MC_CUE_PLAIN},
    {"@B being held", MC_CUE_PLAIN},
    {"@B being hosted", MC_CUE_PLAIN},
    {"@B closed", MC_CUE_NEGATION_BACK},
    {"@B fully booked", MC_CUE_NEGATION_BACK},
    {"backed out", MC_CUE_NEGATION_BACK},
    {"dropped out", MC_CUE_NEGATION_BACK},
    {"bailed", MC_CUE_NEGATION_BACK},
    /* History. */
    {"used to", MC_CUE_PAST},
    {"no longer", MC_CUE_PAST},
    {"instead of", MC_CUE_PAST},
    {"in place of", MC_CUE_PAST},
    {"replaces", MC_CUE_PAST},
    {"replacing", MC_CUE_PAST},
    {"replaced", MC_CUE_CHANGE},
    {"swapped", MC_CUE_CHANGE},
    {"swap", MC_CUE_CHANGE},
    {"traded", MC_CUE_CHANGE},
    {"exchanged", MC_CUE_CHANGE},
    {"went", MC_CUE_CHANGE},
    {"goes", MC_CUE_CHANGE},
    {"go", MC_CUE_CHANGE},
    {"rose", MC_CUE_CHANGE},
    {"fell", MC_CUE_CHANGE},
    {"grew", MC_CUE_CHANGE},
    {"away from", MC_CUE_PAST},
    {"@W supposed to", MC_CUE_PAST},
    {"@W going to", MC_CUE_PAST},
    {"@W meant to", MC_CUE_PAST},
    {"@W planned", MC_CUE_PAST},
    {"@W scheduled", MC_CUE_PAST},
    {"@W set for", MC_CUE_PAST},
    {"@W to be", MC_CUE_PAST},
    {"had been", MC_CUE_PAST},
    {"had said", MC_CUE_PAST},
    {"had planned", MC_CUE_PAST},
    {"old @O", MC_CUE_PAST},
    {"up from", MC_CUE_PAST},
    {"down from", MC_CUE_PAST},
    {"first message", MC_CUE_PAST},
    {"first email", MC_CUE_PAST},
    {"first text", MC_CUE_PAST},
    {"first note", MC_CUE_PAST},
    {"first post", MC_CUE_PAST},
    {"@W to fly", MC_CUE_PAST},
    {"@B where it used to", MC_CUE_PAST_BACK},
    {"@B when it used to", MC_CUE_PAST_BACK},
    {"@B where it was", MC_CUE_PAST_BACK},
    {"@B when it was", MC_CUE_PAST_BACK},
    {"usually", MC_CUE_HABIT},
    {"normally", MC_CUE_HABIT},
    {"typically", MC_CUE_HABIT},
    {"generally", MC_CUE_HABIT},
    {"ordinarily", MC_CUE_HABIT},
    {"as usual", MC_CUE_HABIT},
    {"most weeks", MC_CUE_HABIT},
    {"original @O", MC_CUE_PAST},
    {"previous @O", MC_CUE_PAST},
    {"former @O", MC_CUE_PAST},
    {"earlier @O", MC_CUE_PAST},
    {"initial @O", MC_CUE_PAST},
    {"outdated", MC_CUE_PAST_EITHER},
    {"originally", MC_CUE_PAST_EITHER},
    {"previously", MC_CUE_PAST_EITHER},
    {"formerly", MC_CUE_PAST_EITHER},
    {"initially", MC_CUE_PAST_EITHER},
    {"at first", MC_CUE_PAST_EITHER},
    {"in the past", MC_CUE_PAST_EITHER},
    {"back then", MC_CUE_PAST_EITHER},
    {"at one point", MC_CUE_PAST_EITHER},
    {"anymore", MC_CUE_PAST_BACK},
    {"any more", MC_CUE_PAST_BACK},
    {"any longer", MC_CUE_PAST_BACK},
    {"before it @B", MC_CUE_PAST_BACK},
    {"before it", MC_CUE_PAST_BACK},
    {"before they", MC_CUE_PAST_BACK},
    {"before that", MC_CUE_PAST_BACK},
    {"before the @C", MC_CUE_PAST_BACK},
    {"before being", MC_CUE_PAST_BACK},
    {"until it", MC_CUE_PAST_BACK},
    {"until they", MC_CUE_PAST_BACK},
    {"until the @C", MC_CUE_PAST_BACK},
    {"@W the original", MC_CUE_PAST_BACK},
    {"@W the old", MC_CUE_PAST_BACK},
    {"@W the plan", MC_CUE_PAST_BACK},
    {"@W the first", MC_CUE_PAST_BACK},
    {"@B the old", MC_CUE_PAST_BACK},
    {"@B the original", MC_CUE_PAST_BACK},
    {"@B the previous", MC_CUE_PAST_BACK},
    {"@B outdated", MC_CUE_PAST_BACK},
    {"@B replaced", MC_CUE_PAST_BACK},
    {"got replaced", MC_CUE_PAST_BACK},
    {"@B superseded", MC_CUE_PAST_BACK},
    {"earlier", MC_CUE_PAST_EITHER},
    {"@W", MC_CUE_WAS},
    {"had", MC_CUE_WAS},
    /* The new state. */
    {"now", MC_CUE_NOW_EITHER},
    {"currently", MC_CUE_NOW_EITHER},
    {"as of now", MC_CUE_NOW_EITHER},
    {"at the moment", MC_CUE_NOW_EITHER},
    {"still", MC_CUE_NOW_EITHER},
    {"@P", MC_CUE_IS},
    {"will be", MC_CUE_IS},
    {"'ll be", MC_CUE_IS},
    {"new @O", MC_CUE_NOW},
    {"latest", MC_CUE_NOW},
    {"newest", MC_CUE_NOW},
    {"most recent", MC_CUE_NOW},
    {"updated @O", MC_CUE_NOW},
    {"rescheduled for", MC_CUE_NOW},
    {"@B replaced by", MC_CUE_PAST_BACK},
    {"@B replaced with", MC_CUE_PAST_BACK},
    {"got replaced by", MC_CUE_PAST_BACK},
    {"got replaced with", MC_CUE_PAST_BACK},
    {"moved", MC_CUE_CHANGE},
    {"moving", MC_CUE_CHANGE},
    {"move", MC_CUE_CHANGE},
    {"moves", MC_CUE_CHANGE},
    {"changed", MC_CUE_CHANGE},
    {"changes", MC_CUE_CHANGE},
    {"changing", MC_CUE_CHANGE},
    {"change", MC_CUE_CHANGE},
    {"switched", MC_CUE_CHANGE},
    {"switching", MC_CUE_CHANGE},
    {"shifted", MC_CUE_CHANGE},
    {"rescheduled", MC_CUE_CHANGE},
    {"rebooked", MC_CUE_CHANGE},
    {"corrected", MC_CUE_CHANGE},
    {"relocated", MC_CUE_CHANGE},
    {"pushed", MC_CUE_CHANGE},
    {"bumped", MC_CUE_CHANGE},
    {"updated", MC_CUE_CHANGE},
    {"postponed", MC_CUE_CHANGE},
    {"delayed", MC_CUE_CHANGE},
    {"raised", MC_CUE_CHANGE},
    {"lowered", MC_CUE_CHANGE},
    {"increased", MC_CUE_CHANGE},
    {"dropped", MC_CUE_CHANGE},
    /* Belief, wish, proposal. */
    {"thought", MC_CUE_BELIEF},
    {"thinks", MC_CUE_BELIEF},
    {"believed", MC_CUE_BELIEF},
    {"believes", MC_CUE_BELIEF},
    {"assumed", MC_CUE_BELIEF},
    {"assumes", MC_CUE_BELIEF},
    {"guessed", MC_CUE_BELIEF},
    {"figured", MC_CUE_BELIEF},
    {"hoped", MC_CUE_BELIEF},
    {"hopes", MC_CUE_BELIEF},
    {"wished", MC_CUE_BELIEF},
    {"wanted", MC_CUE_BELIEF},
    {"wants", MC_CUE_BELIEF},
    {"preferred", MC_CUE_BELIEF},
    {"suggested", MC_CUE_BELIEF},
    {"suggests", MC_CUE_BELIEF},
    {"proposed", MC_CUE_BELIEF},
    {"offered", MC_CUE_BELIEF},
    {"asked", MC_CUE_BELIEF},
    {"asked about", MC_CUE_BELIEF},
    {"wondered", MC_CUE_BELIEF},
    {"expected", MC_CUE_BELIEF},
    {"expects", MC_CUE_BELIEF},
    {"misremembered", MC_CUE_BELIEF},
    {"mistakenly", MC_CUE_BELIEF},
    {"under the impression", MC_CUE_BELIEF},
    {"rumor", MC_CUE_BELIEF},
    {"rumour", MC_CUE_BELIEF},
    {"joked", MC_CUE_BELIEF},
    {"talk of", MC_CUE_BELIEF},
    {"talk about", MC_CUE_BELIEF},
    {"talked about", MC_CUE_BELIEF},
    {"talking about", MC_CUE_BELIEF},
    {"considered", MC_CUE_BELIEF},
    {"considering", MC_CUE_BELIEF},
    {"discussed", MC_CUE_BELIEF},
    {"floated", MC_CUE_BELIEF},
    {"thinking of", MC_CUE_BELIEF},
    {"thinking about", MC_CUE_BELIEF},
    {"leaning toward", MC_CUE_BELIEF},
    {"leaning towards", MC_CUE_BELIEF},
    {"debated", MC_CUE_BELIEF},
    {"pitched", MC_CUE_BELIEF},
    {"rumors", MC_CUE_BELIEF},
    {"rumours", MC_CUE_BELIEF},
    {"asking about", MC_CUE_BELIEF},
    {"recommended", MC_CUE_BELIEF},
    {"voted for", MC_CUE_BELIEF},
    {"dreamed", MC_CUE_BELIEF},
    {"pretended", MC_CUE_BELIEF},
    {"claimed", MC_CUE_BELIEF},
    {"claims", MC_CUE_BELIEF},
    {"said", MC_CUE_REPORT},
    {"says", MC_CUE_REPORT},
    {"told", MC_CUE_REPORT},
    {"mentioned", MC_CUE_REPORT},
    {"wrote", MC_CUE_REPORT},
    {"texted", MC_CUE_REPORT},
    {"emailed", MC_CUE_REPORT},
    {"messaged", MC_CUE_REPORT},
    {"reported", MC_CUE_REPORT},
    {"according to", MC_CUE_REPORT},
    {"heard", MC_CUE_REPORT},
    /* Hedges. */
    {"maybe", MC_CUE_HEDGE},
    {"perhaps", MC_CUE_HEDGE},
    {"possibly", MC_CUE_HEDGE},
    {"might", MC_CUE_HEDGE},
    {"may be", MC_CUE_HEDGE},
    {"may have", MC_CUE_HEDGE},
    {"may or may not", MC_CUE_HEDGE},
    {"could be", MC_CUE_HEDGE},
    {"could have", MC_CUE_HEDGE},
    {"could", MC_CUE_HEDGE},
    {"either", MC_CUE_HEDGE},
    {"whether", MC_CUE_HEDGE},
    {"@N @S", MC_CUE_HEDGE},
    {"@N entirely @S", MC_CUE_HEDGE},
    {"@N completely @S", MC_CUE_HEDGE},
    {"@N totally @S", MC_CUE_HEDGE},
    {"@N 100", MC_CUE_HEDGE},
    {"@N confirmed", MC_CUE_HEDGE},
    {"unsure", MC_CUE_HEDGE},
    {"uncertain", MC_CUE_HEDGE},
    {"unclear", MC_CUE_HEDGE},
    {"unconfirmed", MC_CUE_HEDGE},
    {"wild guess", MC_CUE_HEDGE},
    {"had to guess", MC_CUE_HEDGE},
    {"just guessing", MC_CUE_HEDGE},
    {"@N remember", MC_CUE_HEDGE},
    {"@N recall", MC_CUE_HEDGE},
    {"@D n't know if", MC_CUE_HEDGE},
    {"not know if", MC_CUE_HEDGE},
    {"@I think", MC_CUE_LIKELY},
    {"@I believe", MC_CUE_LIKELY},
    {"@I guess", MC_CUE_LIKELY},
    {"probably", MC_CUE_LIKELY},
    {"likely", MC_CUE_LIKELY},
    {"seems", MC_CUE_LIKELY},
    {"looks like", MC_CUE_LIKELY},
    {"apparently", MC_CUE_LIKELY},
    {"presumably", MC_CUE_LIKELY},
    {"should be", MC_CUE_LIKELY},
    {"@P expected", MC_CUE_LIKELY},
    {"@P supposed", MC_CUE_LIKELY},
    {"tentatively", MC_CUE_LIKELY},
    /* Conditions. */
    {"if", MC_CUE_CONDITION},
    {"unless", MC_CUE_CONDITION},
    {"in case", MC_CUE_CONDITION},
    {"assuming", MC_CUE_CONDITION},
    {"provided that", MC_CUE_CONDITION},
    {"would be", MC_CUE_CONDITION},
    {"would have been", MC_CUE_CONDITION},
    {"would", MC_CUE_CONDITION},
    {"'d be", MC_CUE_CONDITION},
    {"backup", MC_CUE_CONDITION},
    {"fallback", MC_CUE_CONDITION},
    {"rain date", MC_CUE_CONDITION},
    {"plan b", MC_CUE_CONDITION},
    {"otherwise", MC_CUE_CONDITION},
    {"alternative", MC_CUE_CONDITION},
    /* The speaker takes back what was said before. */
    {"actually", MC_CUE_CORRECTION},
    {"correction", MC_CUE_CORRECTION},
    {"scratch that", MC_CUE_CORRECTION},
    {"wait", MC_CUE_CORRECTION},
    {"i misspoke", MC_CUE_CORRECTION},
    {"i meant", MC_CUE_CORRECTION},
    {"my mistake", MC_CUE_CORRECTION},
};

/* Abstentions: the speaker does not know. */
static const struct row abstentions[] = {
    {"@I @D n't know", MC_CUE_ABSTENTION},
    {"@I do not know", MC_CUE_ABSTENTION},
    {"@I dont know", MC_CUE_ABSTENTION},
    {"do n't know", MC_CUE_ABSTENTION},
    {"idk", MC_CUE_ABSTENTION},
    {"i 'm not sure", MC_CUE_ABSTENTION},
    {"i am not sure", MC_CUE_ABSTENTION},
    {"not sure", MC_CUE_ABSTENTION},
    {"i 'm unsure", MC_CUE_ABSTENTION},
    {"no idea", MC_CUE_ABSTENTION},
    {"no clue", MC_CUE_ABSTENTION},
    {"no information", MC_CUE_ABSTENTION},
    {"no info", MC_CUE_ABSTENTION},
    {"no details", MC_CUE_ABSTENTION},
    {"no record", MC_CUE_ABSTENTION},
    {"no records", MC_CUE_ABSTENTION},
    {"no mention", MC_CUE_ABSTENTION},
    {"no evidence", MC_CUE_ABSTENTION},
    {"no memory of", MC_CUE_ABSTENTION},
    {"no answer", MC_CUE_ABSTENTION},
    {"no way to know", MC_CUE_ABSTENTION},
    {"no way to tell", MC_CUE_ABSTENTION},
    {"no way of knowing", MC_CUE_ABSTENTION},
    {"@N have any", MC_CUE_ABSTENTION},
    {"@N have enough", MC_CUE_ABSTENTION},
    {"@N have that", MC_CUE_ABSTENTION},
    {"@N have the", MC_CUE_ABSTENTION},
    {"@N have a", MC_CUE_ABSTENTION},
    {"@N have an", MC_CUE_ABSTENTION},
    {"@N have one", MC_CUE_ABSTENTION},
    {"@N have information", MC_CUE_ABSTENTION},
    {"@N have details", MC_CUE_ABSTENTION},
    {"@N have access", MC_CUE_ABSTENTION},
    {"@N find", MC_CUE_ABSTENTION},
    {"@N found", MC_CUE_ABSTENTION},
    {"@N see any", MC_CUE_ABSTENTION},
    {"@N see anything", MC_CUE_ABSTENTION},
    {"@N see a", MC_CUE_ABSTENTION},
    {"@N tell", MC_CUE_ABSTENTION},
    {"@N say", MC_CUE_ABSTENTION},
    {"@N determine", MC_CUE_ABSTENTION},
    {"@N know", MC_CUE_ABSTENTION},
    {"cannot determine", MC_CUE_ABSTENTION},
    {"cannot find", MC_CUE_ABSTENTION},
    {"cannot tell", MC_CUE_ABSTENTION},
    {"cannot say", MC_CUE_ABSTENTION},
    {"cannot be determined", MC_CUE_ABSTENTION},
    {"@N be determined", MC_CUE_ABSTENTION},
    {"@N mentioned", MC_CUE_ABSTENTION},
    {"@N been mentioned", MC_CUE_ABSTENTION},
    {"@N mention", MC_CUE_ABSTENTION},
    {"@N specified", MC_CUE_ABSTENTION},
    {"@N specify", MC_CUE_ABSTENTION},
    {"@N stated", MC_CUE_ABSTENTION},
    {"@N provided", MC_CUE_ABSTENTION},
    {"@N available", MC_CUE_ABSTENTION},
    {"@N enough information", MC_CUE_ABSTENTION},
    {"@N enough info", MC_CUE_ABSTENTION},
    {"@N enough evidence", MC_CUE_ABSTENTION},
    {"@N been decided", MC_CUE_ABSTENTION},
    {"@N been announced", MC_CUE_ABSTENTION},
    {"@N been said", MC_CUE_ABSTENTION},
    {"@N been set", MC_CUE_ABSTENTION},
    {"@N been shared", MC_CUE_ABSTENTION},
    {"@N been told", MC_CUE_ABSTENTION},
    {"@N decided yet", MC_CUE_ABSTENTION},
    {"@N said", MC_CUE_ABSTENTION},
    {"no one has said", MC_CUE_ABSTENTION},
    {"nobody has said", MC_CUE_ABSTENTION},
    {"nobody said", MC_CUE_ABSTENTION},
    {"no one said", MC_CUE_ABSTENTION},
    {"nobody mentioned", MC_CUE_ABSTENTION},
    {"nobody mentions", MC_CUE_ABSTENTION},
    {"nobody says", MC_CUE_ABSTENTION},
    {"nobody tells", MC_CUE_ABSTENTION},
    {"no one mentions", MC_CUE_ABSTENTION},
    {"no one says", MC_CUE_ABSTENTION},
    {"no one tells", MC_CUE_ABSTENTION},
    {"nothing mentions", MC_CUE_ABSTENTION},
    {"nothing says", MC_CUE_ABSTENTION},
    {"nothing tells", MC_CUE_ABSTENTION},
    {"no one mentioned", MC_CUE_ABSTENTION},
    {"nothing mentioned", MC_CUE_ABSTENTION},
    {"nothing mentioning", MC_CUE_ABSTENTION},
    {"need more context", MC_CUE_ABSTENTION},
    {"need more information", MC_CUE_ABSTENTION},
    {"need more info", MC_CUE_ABSTENTION},
    {"need more details", MC_CUE_ABSTENTION},
    {"not in memory", MC_CUE_ABSTENTION},
    {"no trace of", MC_CUE_ABSTENTION},
    {"no notes", MC_CUE_ABSTENTION},
    {"no messages", MC_CUE_ABSTENTION},
    {"nothing about", MC_CUE_ABSTENTION},
    {"nothing in", MC_CUE_ABSTENTION},
    {"nothing on", MC_CUE_ABSTENTION},
    {"nothing that", MC_CUE_ABSTENTION},
    {"found nothing", MC_CUE_ABSTENTION},
    {"have nothing", MC_CUE_ABSTENTION},
    {"unable to", MC_CUE_ABSTENTION},
    {"unknown", MC_CUE_ABSTENTION},
    {"undetermined", MC_CUE_ABSTENTION},
    {"insufficient", MC_CUE_ABSTENTION},
    {"@N remember", MC_CUE_ABSTENTION},
    {"@N recall", MC_CUE_ABSTENTION},
    {"n / a", MC_CUE_ABSTENTION},
    {"unclear", MC_CUE_ABSTENTION},
    {"my guess", MC_CUE_GUESS},
    {"i 'd guess", MC_CUE_GUESS},
    {"i would guess", MC_CUE_GUESS},
    {"i 'd say", MC_CUE_GUESS},
    {"i would say", MC_CUE_GUESS},
    {"i 'd assume", MC_CUE_GUESS},
    {"i assume", MC_CUE_GUESS},
    {"i think", MC_CUE_GUESS},
    {"i believe", MC_CUE_GUESS},
    {"probably", MC_CUE_GUESS},
    {"most likely", MC_CUE_GUESS},
    {"likely", MC_CUE_GUESS},
    {"presumably", MC_CUE_GUESS},
    {"best guess", MC_CUE_GUESS},
    {"had to guess", MC_CUE_GUESS},
    {"maybe", MC_CUE_GUESS},
    {"perhaps", MC_CUE_GUESS},
    {"possibly", MC_CUE_GUESS},
    {"might be", MC_CUE_GUESS},
    {"could be", MC_CUE_GUESS},
};

/* A bit for each class that the word is in. */
static unsigned classes_of(const char *norm)
{
    unsigned mask = 0;
    for (size_t i = 0; i < MC_COUNT(classes); i++) {
        mask |= mc_norm_in(norm, classes[i].list) ? 1U << i : 0;
    }
    return mask;
}

static int fits(const char *part, size_t length, const char *norm, unsigned mask)
{
    if (part[0] != '@') {
        return strncmp(part, norm, length) == 0 && norm[length] == '\0';
    }
    for (size_t i = 0; i < MC_COUNT(classes); i++) {
        if (classes[i].letter == part[1]) {
            return (mask & (1U << i)) != 0;
        }
    }
    return 0;
}

/* Number of words that the pattern takes from word `at`, 0 where it does not fit. */
static size_t pattern_length(const struct mc_words *words, const unsigned *masks, size_t at, const char *pattern)
{
    size_t count = 0;
    for (const char *p = pattern; *p;) {
        size_t length = strcspn(p, " ");
        size_t i = at + count;
        if (i >= words->count || !fits(p, length, words->items[i].norm, masks[i])) {
            return 0;
        }
        if (count > 0 && words->items[i].sentence != words->items[at].sentence) {
            return 0;
        }
        count++;
        p += length + (p[length] == ' ');
    }
    return count;
}

/* Rows of a table by the first byte of their pattern, chained: most words begin few patterns. */
struct index {
    const struct row *table;
    short head[256]; /* row + 1, 0 for none */
    short next[MC_COUNT(rows) + MC_COUNT(abstentions)];
};

static void fill_index(struct index *index, const struct row *table, size_t count)
{
    memset(index->head, 0, sizeof index->head);
    index->table = table;
    for (size_t i = 0; i < count; i++) {
        unsigned char first = (unsigned char)table[i].pattern[0];
        index->next[i] = index->head[first];
        index->head[first] = (short)(i + 1);
    }
}

static size_t longest(const struct mc_words *words, const unsigned *masks, size_t at, const struct index *index,
                      enum mc_cue_kind *kind)
{
    const unsigned char firsts[] = {(unsigned char)words->items[at].norm[0], '@'};
    size_t best = 0;
    for (size_t f = 0; f < (masks[at] ? 2U : 1U); f++) {
        for (short row = index->head[firsts[f]]; row > 0; row = index->next[row - 1]) {
            size_t length = pattern_length(words, masks, at, index->table[row - 1].pattern);
            if (length > best) {
                best = length;
                *kind = index->table[row - 1].kind;
            }
        }
    }
    return best;
}

static void add_cue(struct mc_said *said, size_t first, size_t length, enum mc_cue_kind kind)
{
    said->cues = mc_grow(said->cues, said->cue_count, &said->cue_capacity, sizeof *said->cues);
    said->cues[said->cue_count++] = (struct mc_cue){first, first + length - 1, kind};
}

void mc_cues_find(struct mc_said *said)
{
    const struct mc_words *words = &said->words;
    MC_AUTOFREE unsigned *masks = mc_alloc(words->count + 1, sizeof *masks);
    for (size_t i = 0; i < words->count; i++) {
        masks[i] = classes_of(words->items[i].norm);
    }
    struct index general;
    struct index unknowing;
    fill_index(&general, rows, MC_COUNT(rows));
    fill_index(&unknowing, abstentions, MC_COUNT(abstentions));
    size_t covered = 0; /* words before this belong to a cue already found */
    for (size_t i = 0; i < words->count; i++) {
        enum mc_cue_kind kind = MC_CUE_PLAIN;
        size_t length = longest(words, masks, i, &unknowing, &kind);
        if (length > 0) {
            add_cue(said, i, length, kind);
        }
        if (i < covered) {
            continue;
        }
        length = longest(words, masks, i, &general, &kind);
        if (length > 0) {
            add_cue(said, i, length, kind);
            covered = i + length;
        }
    }
}
