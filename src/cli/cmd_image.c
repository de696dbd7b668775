/* memcal image */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/meter.h"
#include "run/build.h"

/* Where memcal's own executables are: beside this one. */
static char *own_dir(void)
{
    struct mc_buf path = MC_BUF_OWN;
    char *room = mc_buf_room(&path, 4096);
    ssize_t length = readlink("/proc/self/exe", room, 4096);
    mc_buf_advance(&path, length > 0 ? (size_t)length : 0);
    MC_AUTOFREE char *text = mc_buf_take(&path);
    return mc_path_dir(text);
}

static char *cache_dir(void)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    return cache && cache[0] == '/' ? mc_strf("%s/memcal", cache)
                                    : mc_strf("%s/.cache/memcal", home && home[0] == '/' ? home : "/tmp");
}

/* --images, else MEMCAL_IMAGES, else ./images. */
static const char *images_dir(const char *given)
{
    const char *set = getenv("MEMCAL_IMAGES");
    return given ? given : set && *set ? set : "images";
}

static void on_line(void *payload, const char *id, const char *text, int64_t current, int64_t total)
{
    struct mc_meter *meter = payload;
    size_t length = strcspn(text, "\r\n");
    if (total > 0) {
        mc_meter_passing(meter, "%s %.*s %lld/%lld", id, (int)length, text, (long long)current, (long long)total);
    } else if (length > 0) {
        mc_meter_passing(meter, "%.*s", (int)length, text);
    }
}

static void on_image(void *payload, const char *name, const char *tag, const char *state)
{
    struct mc_meter *meter = payload;
    mc_meter_line(meter, "image %s (%s): %s", name, tag, state);
}

static int image_build(struct mc_cli *cli, int argc, char **argv)
{
    const char *dir = NULL;
    const char *files = NULL;
    int force = 0;
    const struct mc_option options[] = {
        {"images", 0, MC_OPTION_TEXT, "DIR", "folder of the recipes [MEMCAL_IMAGES, else ./images]", &dir},
        {"files", 0, MC_OPTION_TEXT, "DIR", "where memcal's executables are [beside this one]", &files},
        {"force", 0, MC_OPTION_FLAG, NULL, "build where nothing changed, too", &force},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal image build [NAME...] [options]",
        .about = "Builds memcal's images on the engine: all of them, or those named and what they stand on.\n"
                 "An image whose recipe, files and base did not change is left as it is.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal image build\n  memcal image build sidecar",
        .most = 60};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    const char *names[64] = {NULL};
    memcpy(names, argv, (size_t)operands * sizeof *names);
    struct mc_err err;
    struct mc_engine *engine = NULL;
    struct mc_recipes recipes = {.items = NULL};
    struct mc_meter meter;
    mc_meter_begin(&meter, cli);
    MC_AUTOFREE char *beside = own_dir();
    MC_AUTOFREE char *cache = cache_dir();
    int rc = mc_recipes_load(images_dir(dir), &recipes, &err);
    rc = rc ? rc : mc_cli_open_engine(cli, &engine, &err);
    if (rc == 0) {
        struct mc_build_options build = {.engine = engine,
                                         .recipes = &recipes,
                                         .files_dir = files ? files : beside,
                                         .cache_dir = cache,
                                         .force = force,
                                         .cancel = &cli->cancel,
                                         .progress = {on_line, &meter},
                                         .on_image = on_image,
                                         .payload = &meter};
        rc = mc_build_images(&build, operands ? names : NULL, &err);
    }
    mc_meter_end(&meter);
    mc_recipes_release(&recipes);
    mc_engine_close(engine);
    return rc ? mc_cli_fail(cli, &err) : MC_EXIT_OK;
}

static int list_images(struct mc_engine *engine, const struct mc_recipes *recipes, json_t *list, struct mc_until until,
                       struct mc_err *err)
{
    for (size_t i = 0; i < recipes->count; i++) {
        MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
        int rc = mc_image_inspect(engine, recipes->items[i].tag, &image, until, err);
        if (rc != 0 && rc != MC_NOT_FOUND) {
            return rc;
        }
        json_t *size = rc == 0 ? json_integer(image.size) : json_null();
        json_array_append_new(list, json_pack("{ss ss ss? so}", "name", recipes->items[i].name, "tag",
                                              recipes->items[i].tag, "id", rc == 0 ? image.id : NULL, "size", size));
    }
    return 0;
}

static int image_list(struct mc_cli *cli, int argc, char **argv)
{
    const char *dir = NULL;
    const struct mc_option options[] = {
        {"images", 0, MC_OPTION_TEXT, "DIR", "folder of the recipes [MEMCAL_IMAGES, else ./images]", &dir},
    };
    const struct mc_usage_page page = {.synopsis = "memcal image list [options]",
                                       .about = "Lists memcal's images and which of them the engine has.",
                                       .options = options,
                                       .option_count = MC_COUNT(options)};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_engine *engine = NULL;
    struct mc_recipes recipes = {.items = NULL};
    MC_AUTOJSON json_t *list = json_array();
    int rc = mc_recipes_load(images_dir(dir), &recipes, &err);
    rc = rc ? rc : mc_cli_open_engine(cli, &engine, &err);
    rc = rc ? rc : list_images(engine, &recipes, list, mc_within(60000, &cli->cancel), &err);
    mc_recipes_release(&recipes);
    mc_engine_close(engine);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        MC_AUTOFREE char *text = mc_json_pretty(list);
        printf("%s\n", text);
        return MC_EXIT_OK;
    }
    size_t i;
    const json_t *image;
    json_array_foreach (list, i, image) {
        const char *id = json_string_value(json_object_get(image, "id"));
        printf("%-22s %-34s %s\n", json_string_value(json_object_get(image, "name")),
               json_string_value(json_object_get(image, "tag")), id ? id : "not built");
    }
    return MC_EXIT_OK;
}

/* ---- save, load ---- */

enum { MOVE_MS = 1800000 };

/* The tags of the images named, or of all. */
static int tags_of(const struct mc_recipes *recipes, char **names, int count, const char **tags, struct mc_err *err)
{
    for (int i = 0; i < count; i++) {
        const struct mc_recipe *recipe = mc_recipes_find(recipes, names[i]);
        if (!recipe) {
            mc_fail(err, MC_INPUT, "there is no recipe for an image \"%s\"", names[i]);
            return mc_hint(err, "\"memcal image list\" names them");
        }
        tags[i] = recipe->tag;
    }
    for (size_t i = 0; count == 0 && i < recipes->count; i++) {
        tags[i] = recipes->items[i].tag;
    }
    return 0;
}

/* Asked first: an engine that lacks an image says so in the middle of the tar. */
static int all_there(struct mc_engine *engine, const char *const *tags, struct mc_until until, struct mc_err *err)
{
    for (size_t i = 0; tags[i]; i++) {
        MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
        int rc = mc_image_inspect(engine, tags[i], &image, until, err);
        if (rc == MC_NOT_FOUND) {
            mc_fail(err, MC_NOT_FOUND, "the image %s is not on the engine", tags[i]);
            mc_hint(err, "build it first with \"memcal image build\"");
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Into a file of another name, moved over FILE when it is whole. */
static int save_into(struct mc_engine *engine, const char *const *tags, const char *path, struct mc_until until,
                     struct mc_err *err)
{
    MC_AUTOFREE char *part = mc_strf("%s.part", path);
    MC_AUTOCLOSE int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "writing %s", part);
    }
    int rc = mc_image_save(engine, tags, fd, until, err);
    if (rc == 0 && (fsync(fd) != 0 || rename(part, path) != 0)) {
        rc = mc_fail_errno(err, errno, "writing %s", path);
    }
    if (rc != 0) {
        unlink(part);
    }
    return rc;
}

static int image_save(struct mc_cli *cli, int argc, char **argv)
{
    const char *dir = NULL;
    const struct mc_option options[] = {
        {"images", 0, MC_OPTION_TEXT, "DIR", "folder of the recipes [MEMCAL_IMAGES, else ./images]", &dir},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal image save FILE [NAME...] [options]",
        .about =
            "Writes memcal's images, all of them or those named, into one tar that \"memcal image load\" reads on\n"
            "another engine or host.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal image save images.tar\n  memcal image save tiny.tar sidecar program-tiny",
        .least = 1,
        .most = 60};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_engine *engine = NULL;
    struct mc_recipes recipes = {.items = NULL};
    struct mc_until until = mc_within(MOVE_MS, &cli->cancel);
    int rc = mc_recipes_load(images_dir(dir), &recipes, &err);
    MC_AUTOFREE const char **tags = mc_alloc(recipes.count + (size_t)operands + 1, sizeof *tags);
    rc = rc ? rc : tags_of(&recipes, argv + 1, operands - 1, tags, &err);
    rc = rc ? rc : mc_cli_open_engine(cli, &engine, &err);
    rc = rc ? rc : all_there(engine, tags, until, &err);
    rc = rc ? rc : save_into(engine, tags, argv[0], until, &err);
    mc_recipes_release(&recipes);
    mc_engine_close(engine);
    return rc ? mc_cli_fail(cli, &err) : MC_EXIT_OK;
}

/* Podman writes "localhost/memcal/..." into its tars, which is the same name there and another one on Docker. */
static int restore_tags(struct mc_engine *engine, const struct mc_recipes *recipes, struct mc_until until,
                        struct mc_err *err)
{
    for (size_t i = 0; mc_engine_about(engine)->kind != MC_ENGINE_PODMAN && i < recipes->count; i++) {
        MC_AUTOFREE char *local = mc_strf("localhost/%s", recipes->items[i].tag);
        MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
        int rc = mc_image_inspect(engine, local, &image, until, err);
        rc = rc ? rc : mc_image_tag(engine, local, recipes->items[i].tag, until, err);
        rc = rc ? rc : mc_image_remove(engine, local, 0, until, err);
        if (rc != 0 && rc != MC_NOT_FOUND) {
            return rc;
        }
    }
    return 0;
}

static int image_load(struct mc_cli *cli, int argc, char **argv)
{
    const char *dir = NULL;
    const struct mc_option options[] = {
        {"images", 0, MC_OPTION_TEXT, "DIR", "folder of the recipes [MEMCAL_IMAGES, else ./images]", &dir},
    };
    const struct mc_usage_page page = {.synopsis = "memcal image load FILE [options]",
                                       .about = "Loads images that \"memcal image save\" wrote, from Docker or Podman.",
                                       .options = options,
                                       .option_count = MC_COUNT(options),
                                       .least = 1,
                                       .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_engine *engine = NULL;
    struct mc_recipes recipes = {.items = NULL};
    struct mc_meter meter;
    mc_meter_begin(&meter, cli);
    struct mc_image_progress progress = {on_line, &meter};
    struct mc_until until = mc_within(MOVE_MS, &cli->cancel);
    MC_AUTOCLOSE int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 ? mc_fail_errno(&err, errno, "reading %s", argv[0]) : 0;
    if (rc == MC_NOT_FOUND) {
        mc_hint(&err, "\"memcal image save FILE\" writes one");
    }
    rc = rc ? rc : mc_recipes_load(images_dir(dir), &recipes, &err);
    rc = rc ? rc : mc_cli_open_engine(cli, &engine, &err);
    rc = rc ? rc : mc_image_load(engine, fd, &progress, until, &err);
    if (rc == MC_ENGINE && !err.hint[0]) {
        mc_hint(&err, "FILE must be a tar that \"memcal image save\" wrote");
    }
    rc = rc ? rc : restore_tags(engine, &recipes, until, &err);
    mc_meter_end(&meter);
    mc_recipes_release(&recipes);
    mc_engine_close(engine);
    return rc ? mc_cli_fail(cli, &err) : MC_EXIT_OK;
}

int mc_cmd_image(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_cli_command table[] = {{"build", NULL, image_build, "build memcal's images"},
                                                  {"list", NULL, image_list, "list them"},
                                                  {"save", NULL, image_save, "write them into a file"},
                                                  {"load", NULL, image_load, "load them from a file"},
                                                  {NULL, NULL, NULL, NULL}};
    int code;
    const struct mc_cli_command *command = mc_cli_subcommand(cli, "image", table, &argc, &argv, &code);
    return command ? command->fn(cli, argc, argv) : code;
}
