#include "corpus/validate.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/listing.h"
#include "corpus/rubric.h"

enum { PUBLIC_TEXT_MAX = 1 << 20, PUBLIC_TEXTS = 16 };

/* What links between lives need, kept of each. */
struct head {
    char *id;
    char *family;
    char *timezone;
    char *control_of;
    enum mc_life_role role;
};

struct walk {
    struct mc_problems *problems;
    const struct mc_corpus *corpus;
    struct mc_public texts;
    struct head *heads; /* in the order of the corpus's lives */
};

/* What a file at the top of a corpus may be called besides corpus.yaml. */
static int is_extra(const char *name)
{
    static const char *const starts[] = {"README", "LICENSE", "LICENCE", "NOTICE", "CITATION", "CHANGELOG"};
    for (size_t i = 0; i < MC_COUNT(starts); i++) {
        if (mc_starts_with(name, starts[i])) {
            return 1;
        }
    }
    return 0;
}

static int is_life_file(const char *name)
{
    static const char *const names[] = {"life.yaml", "observations.jsonl", "turns.jsonl", "checkpoints.jsonl",
                                        "rubric.yaml"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        if (mc_streq(names[i], name)) {
            return 1;
        }
    }
    return 0;
}

static void add_public_file(struct walk *walk, const char *path, const char *name)
{
    MC_AUTOBUF struct mc_buf text = MC_BUF_INIT(PUBLIC_TEXT_MAX);
    struct mc_place place = {.file = path};
    struct mc_err err;
    if (walk->texts.count >= PUBLIC_TEXTS) {
        mc_problems_add(walk->problems, MC_SEVERITY_WARNING, place, "keep fewer files beside corpus.yaml",
                        "the file was not searched for values of the rubric");
    } else if (mc_fs_read(path, &text, &err) != 0) {
        mc_problems_add(walk->problems, MC_SEVERITY_WARNING, place, "make it smaller",
                        "the file was not searched for values of the rubric: %s", err.text);
    } else {
        mc_public_add(&walk->texts, path, name, mc_buf_text(&text));
    }
}

/* One name in the corpus's folder, or (life not NULL) in a life's. */
static void check_name(struct walk *walk, const char *dir, const char *name, int in_life)
{
    MC_AUTOFREE char *path = mc_path_join(dir, name);
    struct mc_place place = {.file = path};
    struct stat info;
    if (name[0] == '.') {
        mc_problems_add(walk->problems, MC_SEVERITY_WARNING, place, "remove it, or leave it: it does no harm",
                        "hidden files are not part of the corpus: not in its digest, not copied");
        return;
    }
    int known = in_life ? is_life_file(name) : mc_streq(name, "corpus.yaml") || mc_streq(name, "lives");
    if (!mc_listing_name_fits(name)) {
        place.file = dir;
        mc_problems_add(walk->problems, MC_SEVERITY_ERROR, place, "rename it",
                        "holds a name that is not UTF-8, or has control characters or a backslash");
    } else if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        mc_problems_add(walk->problems, MC_SEVERITY_ERROR, place, "put the file itself there",
                        "a symbolic link cannot be part of a corpus");
    } else if (known) {
        return;
    } else if (!in_life && is_extra(name) && S_ISREG(info.st_mode)) {
        add_public_file(walk, path, name);
    } else {
        mc_problems_add(walk->problems, MC_SEVERITY_ERROR, place, "remove it",
                        in_life
                            ? "a life has life.yaml, observations.jsonl, turns.jsonl, checkpoints.jsonl and "
                              "rubric.yaml, and nothing else"
                            : "a corpus has corpus.yaml, lives/ and files such as README or LICENSE, and nothing else");
    }
}

static void check_names(struct walk *walk, const char *path, int in_life)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        if (!mc_streq(entry->d_name, ".") && !mc_streq(entry->d_name, "..")) {
            check_name(walk, path, entry->d_name, in_life);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static void check_life(struct walk *walk, size_t index, int rubric, const struct mc_rubric_reader *reader)
{
    MC_AUTOLIFE struct mc_life *life = mc_life_read(walk->corpus, walk->corpus->lives[index], walk->problems);
    check_names(walk, life->dir, 1);
    if (rubric) {
        mc_rubric_check(life, &walk->texts, reader, walk->problems);
    }
    walk->heads[index] = (struct head){.id = mc_strdup(life->id),
                                       .family = mc_strdup(life->family),
                                       .timezone = mc_strdup(life->timezone),
                                       .control_of = mc_steal(&life->control_of),
                                       .role = life->role};
}

static const struct head *find_head(const struct walk *walk, const char *id)
{
    size_t low = 0;
    size_t high = walk->corpus->life_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(walk->heads[middle].id, id);
        if (order == 0) {
            return &walk->heads[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* True where following control_of comes back to `head`. */
static int in_circle(const struct walk *walk, const struct head *head)
{
    const struct head *at = head;
    for (size_t steps = 0; at && at->control_of && steps <= walk->corpus->life_count; steps++) {
        at = find_head(walk, at->control_of);
        if (at == head) {
            return 1;
        }
    }
    return 0;
}

static void check_link(struct walk *walk, const struct head *head)
{
    if (!head->control_of) {
        return;
    }
    MC_AUTOFREE char *file = mc_strf("%s/lives/%s/life.yaml", walk->corpus->dir, head->id);
    struct mc_place place = {.file = file, .path = ".control_of"};
    const struct head *other = find_head(walk, head->control_of);
    if (!other) {
        mc_problems_add(walk->problems, MC_SEVERITY_ERROR, place, "name a life of this corpus, or add that life",
                        "the corpus has no life \"%s\"", head->control_of);
    } else if (in_circle(walk, head)) {
        mc_problems_add(walk->problems, MC_SEVERITY_ERROR, place, "let one life be the base of the others",
                        "the links of controls go round in a circle");
    } else if (!mc_streq(head->family, other->family) || head->role != other->role) {
        mc_problems_add(walk->problems, MC_SEVERITY_ERROR, place, "give both the same family and role",
                        "\"%s\" is of another family or role", other->id);
    } else if (!mc_streq(head->timezone, other->timezone)) {
        mc_problems_add(walk->problems, MC_SEVERITY_WARNING, place, "give both the same time zone",
                        "\"%s\" lives in another time zone", other->id);
    }
}

static int compare_families(const void *a, const void *b)
{
    const struct head *left = a;
    const struct head *right = b;
    int order = strcmp(left->family, right->family);
    return order != 0 ? order : strcmp(left->id, right->id);
}

/* A family split over roles would let what was tuned on one be tested on the other. Leaves the heads in another order.
 */
static void check_families(struct walk *walk)
{
    size_t count = walk->corpus->life_count;
    if (count) {
        qsort(walk->heads, count, sizeof *walk->heads, compare_families);
    }
    for (size_t i = 1; i < count; i++) {
        const struct head *head = &walk->heads[i];
        const struct head *before = &walk->heads[i - 1];
        if (mc_streq(head->family, before->family) && head->role != before->role) {
            MC_AUTOFREE char *file = mc_strf("%s/lives/%s/life.yaml", walk->corpus->dir, head->id);
            struct mc_place place = {.file = file, .path = ".role"};
            mc_problems_add(walk->problems, MC_SEVERITY_WARNING, place, "keep a family in one role",
                            "family \"%s\" is %s here and %s in life \"%s\"", head->family,
                            mc_life_role_names[head->role], mc_life_role_names[before->role], before->id);
        }
    }
}

static void release(struct walk *walk)
{
    for (size_t i = 0; walk->heads && i < walk->corpus->life_count; i++) {
        free(walk->heads[i].id);
        free(walk->heads[i].family);
        free(walk->heads[i].timezone);
        free(walk->heads[i].control_of);
    }
    free(walk->heads);
    mc_public_release(&walk->texts);
}

static void validate(const char *dir, int rubric, const struct mc_rubric_reader *reader, struct mc_problems *problems)
{
    MC_AUTOCORPUS struct mc_corpus *corpus = mc_corpus_read(dir, problems);
    if (!corpus) {
        return;
    }
    struct walk walk = {.problems = problems, .corpus = corpus};
    MC_AUTOFREE char *file = mc_path_join(dir, "corpus.yaml");
    mc_public_add(&walk.texts, file, "the corpus's description", corpus->description);
    check_names(&walk, dir, 0);
    walk.heads = mc_alloc(corpus->life_count, sizeof *walk.heads);
    for (size_t i = 0; i < corpus->life_count; i++) {
        check_life(&walk, i, rubric, reader);
    }
    for (size_t i = 0; i < corpus->life_count; i++) {
        check_link(&walk, &walk.heads[i]);
    }
    check_families(&walk);
    release(&walk);
}

void mc_corpus_validate(const char *dir, int rubric, struct mc_problems *problems)
{
    validate(dir, rubric, NULL, problems);
}

void mc_corpus_validate_with(const char *dir, const struct mc_rubric_reader *reader, struct mc_problems *problems)
{
    validate(dir, 1, reader, problems);
}
