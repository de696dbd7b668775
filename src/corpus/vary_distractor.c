/* distractor: more of the ordinary traffic that nobody asks about. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/vary_kinds.h"
#include "corpus/words.h"

struct distraction {
    const char *channel;
    const char *sender;
    const char *thread;
    const char *subject; /* NULL outside email */
    const char *text;
};

/* Nothing here is a plan, an appointment, a preference or a fact about a person. */
static const struct distraction bank[] = {
    {"email", "Parcelbird", "parcelbird", "Your parcel is on its way",
     "Good news: your parcel has left our depot. You need not do anything; the courier will leave it in the usual "
     "spot."},
    {"email", "Lantern Books", "lantern-books", "New on the shelves",
     "Our spring table is full again. Come by and leaf through a few of them, the kettle is always on."},
    {"email", "City Water Works", "water-works", "Your statement is ready",
     "Your quarterly statement can now be read online. Nothing is due: the amount is collected automatically."},
    {"email", "Fernway Gardens", "fernway", "Mulch, mulch, mulch",
     "A thick layer now saves you a lot of weeding later. Our short guide explains how deep and with what."},
    {"email", "Cloudcrate", "cloudcrate", "We have updated our terms",
     "We have made our terms easier to read. What we do with your files has not changed. You need not reply."},
    {"email", "Velo Corner", "velo-corner", "Does your chain squeak?",
     "Rain washes the oil off. A drop on each link and a dry cloth afterwards is all that it takes."},
    {"email", "The Daily Crumb", "daily-crumb", "A loaf that forgives",
     "This one survives a forgotten timer. Flour, water, salt and patience; the recipe is below the picture."},
    {"email", "Notice board", "notice-board", "Lost: one grey glove",
     "Found on the stairs, left hand, wool. It now hangs on the notice board and is waiting for its twin."},
    {"email", "Pixelpress", "pixelpress", "Your photo book is waiting",
     "You started a photo book and left it in the middle. We keep it for you, there is no hurry."},
    {"email", "Library service", "library", "Thank you for returning your loans",
     "Everything that you had borrowed is back on our shelves. There are no fees on your account."},
    {"imessage", "Verify", "verify", NULL, "Your sign-in was confirmed. If this was you, there is nothing to do."},
    {"imessage", "Wilhelmina Ott", "Wilhelmina Ott", NULL, "Wrong chat, sorry! That was meant for my brother."},
    {"imessage", "Wilhelmina Ott", "Wilhelmina Ott", NULL, "Have you seen the clouds just now? Like whipped cream."},
    {"imessage", "Dry Cleaner", "dry-cleaner", NULL, "We are open as usual. Thank you for your custom!"},
    {"imessage", "Benedikt Sandoval", "Benedikt Sandoval", NULL, "Ha, that made me laugh. Sending it on."},
    {"imessage", "Benedikt Sandoval", "Benedikt Sandoval", NULL,
     "My phone keeps correcting words into nonsense today."},
    {"imessage", "Carrier", "carrier", NULL, "You have used little data so far. Enjoy the rest of your allowance."},
    {"whatsapp", "Ottoline Marsh", "stairwell", NULL, "Whoever swept the stairs: thank you, it looks lovely!"},
    {"whatsapp", "Ottoline Marsh", "stairwell", NULL, "The hall light flickers again. I have told the caretaker."},
    {"whatsapp", "Gideon Prewitt", "stairwell", NULL, "There is a box of old magazines by the door, help yourselves."},
    {"whatsapp", "Gideon Prewitt", "stairwell", NULL,
     "Somebody's umbrella is dripping on the mat. Striped, rather nice."},
    {"whatsapp", "Gideon Prewitt", "stairwell", NULL, "Good morning, neighbours. What a fog!"},
    {"whatsapp", "Rosalind Quayle", "puzzles", NULL, "Solved it without a single hint. I am unbearable now."},
    {"whatsapp", "Rosalind Quayle", "puzzles", NULL, "The corner on the left was a trap, don't fall for it."},
    {"whatsapp", "Rosalind Quayle", "puzzles", NULL, "Is it me or was this one easier than the last?"},
    {"groupme", "Thaddeus Lorne", "bird-spotters", NULL,
     "A wren in the hedge, singing as if it were ten times its size."},
    {"groupme", "Thaddeus Lorne", "bird-spotters", NULL,
     "No picture, sorry, it was gone before I had the lens cap off."},
    {"groupme", "Ximena Dufour", "bird-spotters", NULL, "Lovely! I only had pigeons all morning."},
    {"groupme", "Ximena Dufour", "bird-spotters", NULL, "The feeder is empty again. They eat like horses."},
    {"groupme", "Ximena Dufour", "bird-spotters", NULL, "Reminder to myself: buy sunflower seeds."},
    {"groupme", "Leopold Whitlock", "bird-spotters", NULL,
     "Muted you all for an hour and came back to so many hearts."},
    {"assistant", "assistant", "tips", NULL, "Tip: you can ask me to summarise a long thread for you."},
    {"assistant", "assistant", "tips", NULL, "I have tidied up your notifications; nothing was deleted."},
    {"assistant", "assistant", "tips", NULL, "Your weekly overview is empty: nothing needed your attention."},
};

static int has_channel(const struct mc_corpus *corpus, const char *channel)
{
    for (size_t i = 0; i < corpus->channel_count; i++) {
        if (mc_streq(corpus->channels[i], channel)) {
            return 1;
        }
    }
    return 0;
}

/* True where nothing in it is a value of the rubric. */
static int is_harmless(const struct mc_variation *v, const struct distraction *d)
{
    MC_AUTOFREE char *all = mc_strf("%s | %s | %s | %s", d->sender, d->thread, d->subject ? d->subject : "", d->text);
    MC_AUTOFREE char *folded = mc_words_fold(all);
    return !mc_values_in(&v->values, folded);
}

/* A new ID, at a random place in the order of delivery. */
static char *new_id(struct mc_variation *v)
{
    for (;;) {
        MC_AUTOFREE char *id = mc_strf("msg-%08zx", mc_random_below(&v->random, (size_t)1 << 32));
        int fresh = 0;
        if (!mc_ids_find(&v->life->evidence, id)) {
            mc_ids_add(&v->ids, (struct mc_id){.text = id}, &fresh);
        }
        if (fresh) {
            return mc_steal(&id);
        }
    }
}

static void set_time(const struct mc_variation *v, json_t *value, const char *key, int64_t ms)
{
    json_object_set_new(value, key, json_string(mc_time_format(mc_tz_at(v->life->zone, ms)).text));
}

static void put_distraction(struct mc_variation *v, const struct distraction *d)
{
    const struct mc_life *life = v->life;
    size_t boundary = mc_random_below(&v->random, life->collection_count);
    int64_t until = life->collections[boundary].ms;
    int64_t from = boundary > 0 ? life->collections[boundary - 1].ms : until - INT64_C(12) * 3600 * 1000;
    int64_t seconds = (until - from) / 1000;
    int64_t written = from + (seconds > 1 ? (int64_t)mc_random_below(&v->random, (size_t)seconds) * 1000 : 0);
    int64_t arrived = written + (int64_t)mc_random_below(&v->random, 10) * 1000;
    MC_AUTOFREE char *id = new_id(v);
    MC_AUTOJSON json_t *value = json_object();
    json_object_set_new(value, "source_id", json_string(id));
    json_object_set_new(value, "channel", json_string(d->channel));
    set_time(v, value, "written_at", written);
    set_time(v, value, "arrived_at", arrived < until ? arrived : until);
    json_object_set_new(value, "collected_at", json_string(mc_time_format(life->collections[boundary]).text));
    json_object_set_new(value, "sender", json_string(d->sender));
    json_object_set_new(value, "thread", json_string(d->thread));
    if (d->subject) {
        json_object_set_new(value, "subject", json_string(d->subject));
    }
    json_object_set_new(value, "text", json_string(d->text));
    mc_draft_line(&v->draft.observations, value);
}

/* The usable entries of the bank, shuffled. */
static size_t choose(struct mc_variation *v, const struct distraction **chosen)
{
    size_t count = 0;
    for (size_t i = 0; i < MC_COUNT(bank); i++) {
        if (has_channel(v->corpus, bank[i].channel) && is_harmless(v, &bank[i])) {
            chosen[count++] = &bank[i];
        }
    }
    for (size_t left = count; left > 1; left--) {
        size_t pick = mc_random_below(&v->random, left);
        const struct distraction *held = chosen[pick];
        chosen[pick] = chosen[left - 1];
        chosen[left - 1] = held;
    }
    return count;
}

int mc_vary_distractor(struct mc_variation *v, struct mc_err *err)
{
    enum { FEWEST = 5 };
    const struct distraction *chosen[MC_COUNT(bank)];
    size_t usable = choose(v, chosen);
    if (!usable || !v->life->collection_count) {
        return mc_vary_refuse(v, err, "every message that could be added would hold a value that the rubric names");
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < v->life->observation_count; i++) {
        rc = mc_vary_keep(v, i, err);
    }
    size_t wanted = v->life->observation_count / 4;
    wanted = wanted < FEWEST ? FEWEST : wanted;
    for (size_t i = 0; rc == 0 && i < wanted && i < usable; i++) {
        put_distraction(v, chosen[i]);
    }
    return rc == 0 ? mc_vary_copy_rest(v, err) : rc;
}
