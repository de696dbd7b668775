#include "corpus/corpus.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/load.h"

const char *const mc_life_role_names[] = {"development", "calibration", "held-out", NULL};
const char *const mc_channel_names[] = {"email", "imessage", "whatsapp", "groupme", "assistant", NULL};

int mc_load_note(struct mc_load *load, int rc, const char *mend)
{
    if (rc != 0) {
        mc_problems_take(load->problems, &load->err, load->file, mend);
    }
    return rc == 0;
}

void mc_load_text(struct mc_load *load, const struct mc_view *object, const char *key, enum mc_need need, char **out)
{
    const char *text = NULL;
    MC_AUTOFREE char *mend = mc_strf("write \"%s\" as text", key);
    if (mc_load_note(load, mc_read_string(object, key, need, &text, &load->err), mend) && text) {
        free(*out);
        *out = mc_strdup(text);
    }
}

void mc_load_zone(struct mc_load *load, const struct mc_view *object, const char *key, struct mc_time time,
                  const struct mc_tz *zone, enum mc_severity severity)
{
    if (!zone || time.offset_min == 0 || time.offset_min == mc_tz_offset(zone, time.ms)) {
        return;
    }
    struct mc_view view = mc_view_member(object, key);
    struct mc_time right = mc_tz_at(zone, time.ms);
    MC_AUTOFREE char *mend =
        mc_strf("write that instant as %s, or correct the time of day", mc_time_format(right).text);
    mc_problems_at(load->problems, severity, &view, mend, "%s is not an offset of %s at that time",
                   mc_time_format(time).text, mc_tz_name(zone));
}

int mc_load_line(struct mc_load *load, struct mc_jsonl *lines, struct mc_line *out)
{
    for (;;) {
        int rc = mc_jsonl_next(lines, out, &load->err);
        if (rc >= 0) {
            return rc;
        }
        mc_load_note(load, rc, "mend the file");
        if (rc != MC_INPUT && rc != MC_LIMIT) {
            return 0;
        }
    }
}

json_t *mc_load_object(struct mc_load *load, const struct mc_source *source, const struct mc_line *line)
{
    static const char mend[] = "write one JSON object on the line, in UTF-8";
    MC_AUTOJSON json_t *value = mc_json_parse(line->text, line->length, source, &load->err);
    if (!mc_load_note(load, value ? 0 : load->err.code, mend)) {
        return NULL;
    }
    struct mc_view root = mc_view_root(source, value);
    return mc_load_note(load, mc_view_is_object(&root, &load->err), mend) ? mc_steal(&value) : NULL;
}

int mc_load_yaml(const char *path, size_t max, struct mc_doc *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        mc_fail(err, MC_INPUT, "is a symbolic link");
        mc_wrap_place(err, path);
        return mc_hint(err, "put the file itself there");
    }
    return mc_yaml_load(path, max, out, err);
}

int mc_life_id_fits(const char *id)
{
    size_t length = strlen(id);
    return length >= 1 && length <= MC_CORPUS_ID && id[0] != '.' && id[0] != '-' &&
           strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == length;
}

static void read_channels(struct mc_corpus *corpus, struct mc_load *load, const struct mc_view *root)
{
    struct mc_view list = {.value = NULL};
    if (!mc_load_note(load, mc_read_array(root, "channels", MC_REQUIRED, &list, &load->err),
                      "list the channels that the lives use, as in channels: [email, whatsapp]")) {
        return;
    }
    size_t count = mc_view_count(&list);
    corpus->channels = mc_alloc(count + 1, sizeof *corpus->channels);
    for (size_t i = 0; i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        const char *name = "";
        if (!mc_load_note(load, mc_view_string(&item, &name, &load->err), "write the channel's name")) {
            continue;
        }
        int known = 0;
        for (size_t k = 0; mc_channel_names[k]; k++) {
            known |= mc_streq(mc_channel_names[k], name);
        }
        for (size_t k = 0; k < corpus->channel_count; k++) {
            if (mc_streq(corpus->channels[k], name)) {
                mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item, "remove one of them",
                               "the channel \"%.60s\" stands here a second time", name);
            }
        }
        if (!known) {
            mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item,
                           "use email, imessage, whatsapp, groupme or assistant", "unknown channel \"%.60s\"", name);
        }
        corpus->channels[corpus->channel_count++] = mc_strdup(name);
    }
}

static int read_head(struct mc_corpus *corpus, struct mc_problems *problems)
{
    MC_AUTOFREE char *path = mc_path_join(corpus->dir, "corpus.yaml");
    struct mc_load load = {.problems = problems, .file = path};
    MC_AUTODOC struct mc_doc doc;
    if (!mc_load_note(&load, mc_load_yaml(path, MC_CORPUS_YAML, &doc, &load.err),
                      "every corpus has a corpus.yaml with name, version, description, license and channels")) {
        return -1;
    }
    static const char *const keys[] = {"name", "version", "description", "license", "channels", NULL};
    struct mc_view root = mc_doc_view(&doc);
    if (!mc_load_note(&load, mc_view_is_object(&root, &load.err), "write it as name: value lines")) {
        return -1;
    }
    mc_load_note(&load, mc_only_keys(&root, keys, &load.err), "remove the key");
    const char *name = NULL;
    if (mc_load_note(&load, mc_read_id(&root, "name", MC_REQUIRED, &name, &load.err), "name the corpus")) {
        free(corpus->name);
        corpus->name = mc_strdup(name);
    }
    struct mc_view version = mc_view_member(&root, "version");
    const char *text = NULL;
    if (!version.value) {
        mc_problems_at(problems, MC_SEVERITY_ERROR, &root, "write version: \"1\"", "\"version\" is missing");
    } else if (mc_load_note(&load, mc_view_scalar(&version, &text, &load.err), "write version: \"1\"")) {
        free(corpus->version);
        corpus->version = mc_strdup(text);
    }
    mc_load_text(&load, &root, "description", MC_REQUIRED, &corpus->description);
    mc_load_text(&load, &root, "license", MC_REQUIRED, &corpus->license);
    read_channels(corpus, &load, &root);
    return 0;
}

static void take_life(struct mc_corpus *corpus, size_t *capacity, DIR *dir, const char *lives, const char *name,
                      struct mc_problems *problems)
{
    struct mc_place place = {.file = lives};
    struct stat info;
    if (name[0] == '.') {
        return; /* not part of a corpus; the listing reports it */
    }
    if (fstatat(dirfd(dir), name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) {
        mc_problems_add(problems, MC_SEVERITY_ERROR, place, "keep only folders of lives there",
                        "\"%.100s\" is not a folder", name);
    } else if (!mc_life_id_fits(name)) {
        mc_problems_add(problems, MC_SEVERITY_ERROR, place,
                        "rename it: 1 to 100 letters, digits, '.', '_' and '-', the first a letter, digit or '_'",
                        "\"%.100s\" cannot be the ID of a life", name);
    } else {
        corpus->lives = mc_grow(corpus->lives, corpus->life_count, capacity, sizeof *corpus->lives);
        corpus->lives[corpus->life_count++] = mc_strdup(name);
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_lives(struct mc_corpus *corpus, struct mc_problems *problems)
{
    MC_AUTOFREE char *lives = mc_path_join(corpus->dir, "lives");
    struct mc_load load = {.problems = problems, .file = lives};
    struct stat info;
    DIR *dir = lstat(lives, &info) == 0 && S_ISDIR(info.st_mode) ? opendir(lives) : NULL;
    if (!dir) {
        struct mc_place place = {.file = lives};
        mc_problems_add(problems, MC_SEVERITY_ERROR, place, "put each life in a folder lives/<id>",
                        "there is no folder of lives");
        return;
    }
    size_t capacity = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL && corpus->life_count <= MC_CORPUS_LIVES) {
        take_life(corpus, &capacity, dir, lives, entry->d_name, problems);
    }
    closedir(dir);
    if (corpus->life_count > MC_CORPUS_LIVES) {
        mc_load_note(&load, mc_fail(&load.err, MC_LIMIT, "more than %d lives", MC_CORPUS_LIVES), "split the corpus");
    } else if (corpus->life_count == 0) {
        mc_load_note(&load, mc_fail(&load.err, MC_INPUT, "the corpus has no lives"),
                     "put each life in a folder lives/<id>");
    }
    if (corpus->life_count) {
        qsort(corpus->lives, corpus->life_count, sizeof *corpus->lives, compare_names);
    }
}

struct mc_corpus *mc_corpus_read(const char *dir, struct mc_problems *problems)
{
    struct mc_corpus *corpus = mc_alloc(1, sizeof *corpus);
    corpus->dir = mc_strdup(dir);
    corpus->name = mc_strdup("");
    corpus->version = mc_strdup("");
    corpus->description = mc_strdup("");
    corpus->license = mc_strdup("");
    if (!mc_fs_is_dir(dir)) {
        struct mc_place place = {.file = dir};
        mc_problems_add(problems, MC_SEVERITY_ERROR, place, "name the folder that holds corpus.yaml",
                        mc_fs_exists(dir) ? "is not a folder" : "no such folder");
        mc_corpus_free(corpus);
        return NULL;
    }
    read_head(corpus, problems);
    read_lives(corpus, problems);
    return corpus;
}

int mc_corpus_open(const char *dir, struct mc_corpus **out, struct mc_err *err)
{
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    MC_AUTOCORPUS struct mc_corpus *corpus = mc_corpus_read(dir, &problems);
    int rc = mc_problems_check(&problems, err);
    if (rc == 0) {
        *out = mc_steal(&corpus);
    }
    return rc;
}

void mc_corpus_free(struct mc_corpus *corpus)
{
    if (!corpus) {
        return;
    }
    for (size_t i = 0; i < corpus->channel_count; i++) {
        free(corpus->channels[i]);
    }
    for (size_t i = 0; i < corpus->life_count; i++) {
        free(corpus->lives[i]);
    }
    free(corpus->channels);
    free(corpus->lives);
    free(corpus->dir);
    free(corpus->name);
    free(corpus->version);
    free(corpus->description);
    free(corpus->license);
    free(corpus);
}

void mc_corpus_at(struct mc_corpus **corpus)
{
    mc_corpus_free(*corpus);
    *corpus = NULL;
}

static int has_life(const struct mc_corpus *corpus, const char *id)
{
    return corpus->life_count > 0 &&
           bsearch(&id, corpus->lives, corpus->life_count, sizeof *corpus->lives, compare_names) != NULL;
}

static int no_such_life(const struct mc_corpus *corpus, const char *id, struct mc_err *err)
{
    mc_fail(err, MC_NOT_FOUND, "the corpus %s has no life \"%.100s\"", corpus->dir, id);
    return mc_hint(err, "memcal corpus show lists its lives");
}

int mc_life_load(const struct mc_corpus *corpus, const char *id, struct mc_life **out, struct mc_err *err)
{
    if (!has_life(corpus, id)) {
        return no_such_life(corpus, id, err);
    }
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    MC_AUTOLIFE struct mc_life *life = mc_life_read(corpus, id, &problems);
    int rc = mc_problems_check(&problems, err);
    if (rc == 0) {
        *out = mc_steal(&life);
    }
    return rc;
}

int mc_corpus_base(const struct mc_corpus *corpus, const char *id, char **base, struct mc_err *err)
{
    MC_AUTOFREE char *at = mc_strdup(id);
    for (size_t steps = 0; steps <= corpus->life_count; steps++) {
        if (!has_life(corpus, at)) {
            return no_such_life(corpus, at, err);
        }
        MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
        MC_AUTOLIFE struct mc_life *life = mc_alloc(1, sizeof *life);
        life->observations_fd = -1;
        MC_AUTOFREE char *lives = mc_path_join(corpus->dir, "lives");
        life->dir = mc_path_join(lives, at);
        life->id = mc_strdup(at);
        mc_life_read_head(life, &problems);
        int rc = mc_problems_check(&problems, err);
        if (rc != 0) {
            return rc;
        }
        if (!life->control_of) {
            *base = mc_steal(&at);
            return 0;
        }
        free(at);
        at = mc_steal(&life->control_of);
    }
    return mc_fail(err, MC_INPUT, "%s: the control_of links of life \"%s\" go round in a circle", corpus->dir, id);
}
