#include "run/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "run/context.h"

#define RECIPE_LABEL "org.memcal.recipe"

enum { ASK_MS = 60000, PULL_MS = 60000, BUILD_MS = 1800000, WHEELS_MS = 1200000, ERRORS_MAX = 65536 };

static struct mc_until within(const struct mc_build_options *options, int64_t ms)
{
    return mc_within(ms, options->cancel);
}

static void say(const struct mc_build_options *options, const struct mc_recipe *recipe, const char *state)
{
    if (options->on_image) {
        options->on_image(options->payload, recipe->name, recipe->tag, state);
    }
}

/* The last lines of what a program said on its standard error. */
static const char *tail_of(const struct mc_buf *text)
{
    enum { SHOWN = 600 };
    const char *start = mc_buf_text(text);
    return text->len > SHOWN ? start + text->len - SHOWN : start;
}

static int source_fd(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err)
{
    const int *fd = payload;
    ssize_t n = read(*fd, bytes, room);
    if (n < 0) {
        return mc_fail_errno(err, errno, "reading what goes to the engine");
    }
    *got = (size_t)n;
    return 0;
}

/* True where the engine has the tag with that recipe digest. */
static int is_current(const struct mc_build_options *options, const char *tag, const char *digest, int *current,
                      struct mc_err *err)
{
    MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
    *current = 0;
    int rc = mc_image_inspect(options->engine, tag, &image, within(options, ASK_MS), err);
    if (rc == MC_NOT_FOUND) {
        return 0;
    }
    if (rc == 0) {
        *current = mc_streq(json_string_value(json_object_get(image.labels, RECIPE_LABEL)), digest);
    }
    return rc;
}

static int write_piece(void *payload, const void *bytes, size_t length, struct mc_err *err)
{
    const int *fd = payload;
    return mc_fs_write_all(*fd, bytes, length, "the image's root", err);
}

/* The command's tar goes to a temporary file first: an engine's import cannot be told that its source failed. */
static int bootstrap(const struct mc_build_options *options, const struct mc_recipe *recipe, const char *digest,
                     struct mc_err *err)
{
    const char *program = recipe->import.command[0];
    if (!program || !mc_proc_found(program)) {
        mc_fail(err, MC_NOT_FOUND, "no registry has %s, and %s is not installed to make it", recipe->import.pull,
                program ? program : "nothing");
        return mc_hint(err, "install it: apt-get install %s", program ? program : "mmdebstrap");
    }
    MC_AUTOFREE char *path = mc_path_join(options->cache_dir, "root.XXXXXX");
    MC_AUTOCLOSE int fd = mkstemp(path);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "making a temporary file in %s", options->cache_dir);
    }
    unlink(path);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(ERRORS_MAX);
    struct mc_proc proc = {.argv = recipe->import.command, .on_output = write_piece, .payload = &fd, .errors = &errors};
    int rc = mc_proc_run(&proc, within(options, BUILD_MS), err);
    if (rc != 0) {
        return mc_hint(err, "it said: %s", tail_of(&errors));
    }
    if (lseek(fd, 0, SEEK_SET) != 0) {
        return mc_fail_errno(err, errno, "reading the image's root");
    }
    MC_AUTOFREE char *label = mc_strf("LABEL %s=%s", RECIPE_LABEL, digest);
    const char *const changes[] = {"CMD [\"/bin/sh\"]", label, NULL};
    MC_AUTOFREE char *id = NULL;
    return mc_image_import(options->engine, recipe->tag, changes, source_fd, &fd, &id, within(options, BUILD_MS), err);
}

/* Pulled by digest where a registry answers, else made here. */
static int import(const struct mc_build_options *options, const struct mc_recipe *recipe, struct mc_err *err)
{
    struct mc_digest digest = mc_sha256_of(recipe->import.pull, strlen(recipe->import.pull));
    MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
    int rc = mc_image_inspect(options->engine, recipe->tag, &image, within(options, ASK_MS), err);
    if (rc == 0 && !options->force) {
        say(options, recipe, "unchanged");
        return 0;
    }
    if (rc != 0 && rc != MC_NOT_FOUND) {
        return rc;
    }
    say(options, recipe, "building");
    rc = mc_image_pull(options->engine, recipe->import.pull, &options->progress, within(options, PULL_MS), err);
    rc = rc ? rc : mc_image_tag(options->engine, recipe->import.pull, recipe->tag, within(options, ASK_MS), err);
    if (rc != 0 && rc != MC_CANCELLED) {
        rc = bootstrap(options, recipe, digest.hex, err);
    }
    if (rc == 0) {
        say(options, recipe, "built");
    }
    return rc;
}

static const char *wheel_arch(const struct mc_build_options *options)
{
    const char *arch = mc_engine_about(options->engine)->arch;
    return mc_streq(arch, "arm64") || mc_streq(arch, "aarch64") ? "aarch64" : "x86_64";
}

/* Fetches the locked wheels on the host: builds behind a proxy that signs anew have no trusted way to a package index.
 */
static int fetch_wheels(const struct mc_build_options *options, const struct mc_recipe *recipe, const char *lock,
                        const char *dir, struct mc_err *err)
{
    MC_AUTOPOOL struct mc_pool pool = {.items = NULL};
    size_t platforms = 0;
    while (recipe->wheels.platforms[platforms]) {
        platforms++;
    }
    MC_AUTOFREE char *abi = mc_strdup(recipe->wheels.python);
    char *dot = strchr(abi, '.');
    if (dot) {
        memmove(dot, dot + 1, strlen(dot));
    }
    const char *const fixed[] = {"python3",
                                 "-m",
                                 "pip",
                                 "--disable-pip-version-check",
                                 "download",
                                 "--dest",
                                 dir,
                                 "--only-binary=:all:",
                                 "--require-hashes",
                                 "--no-deps",
                                 "--implementation",
                                 "cp",
                                 "--python-version",
                                 recipe->wheels.python,
                                 "--abi",
                                 mc_pool_strf(&pool, "cp%s", abi),
                                 "--abi",
                                 "abi3",
                                 "--abi",
                                 "none",
                                 "--platform",
                                 "any",
                                 "-r",
                                 lock};
    const char **argv = mc_pool_alloc(&pool, MC_COUNT(fixed) + 2 * platforms + 1, sizeof *argv);
    memcpy(argv, fixed, sizeof fixed);
    for (size_t i = 0; i < platforms; i++) {
        argv[MC_COUNT(fixed) + 2 * i] = "--platform";
        argv[MC_COUNT(fixed) + 2 * i + 1] =
            mc_pool_strf(&pool, "%s_%s", recipe->wheels.platforms[i], wheel_arch(options));
    }
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(ERRORS_MAX);
    struct mc_proc proc = {.argv = argv, .errors = &errors};
    int rc = mc_proc_run(&proc, within(options, WHEELS_MS), err);
    if (rc != 0) {
        mc_wrap(err, "fetching the wheels of %s", recipe->name);
        return mc_hint(err, "pip said: %s", tail_of(&errors));
    }
    return 0;
}

/* The wheels of one lock file have a folder of their own, complete once its mark is there. */
static int add_wheels(const struct mc_build_options *options, const struct mc_recipe *recipe,
                      struct mc_context *context, struct mc_err *err)
{
    MC_AUTOFREE char *folder = mc_path_join(options->recipes->dir, recipe->context);
    MC_AUTOFREE char *lock = mc_path_join(folder, recipe->wheels.lock);
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT((size_t)16 << 20);
    int rc = mc_fs_read(lock, &bytes, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_digest digest = mc_sha256_of(mc_buf_text(&bytes), bytes.len);
    MC_AUTOFREE char *dir = mc_strf("%s/wheels/%s-%s", options->cache_dir, digest.hex, wheel_arch(options));
    MC_AUTOFREE char *mark = mc_path_join(dir, ".complete");
    rc = mc_fs_mkdirs(dir, err);
    if (rc == 0 && !mc_fs_exists(mark)) {
        rc = fetch_wheels(options, recipe, lock, dir, err);
        rc = rc ? rc : mc_fs_write(mark, "", 0, 0644, err);
    }
    return rc ? rc : mc_context_add(context, "wheels", dir, err);
}

static int gather(const struct mc_build_options *options, const struct mc_recipe *recipe, struct mc_context *context,
                  struct mc_err *err)
{
    MC_AUTOFREE char *folder = mc_path_join(options->recipes->dir, recipe->context);
    int rc = mc_context_add(context, "", folder, err);
    for (size_t i = 0; rc == 0 && recipe->files[i]; i++) {
        MC_AUTOFREE char *path = mc_path_join(options->files_dir, recipe->files[i]);
        rc = mc_context_add(context, recipe->files[i], path, err);
        if (rc == MC_NOT_FOUND) {
            mc_hint(err, "build memcal first, or say where its executables are with --files DIR");
        }
    }
    if (rc == 0 && recipe->wheels.lock) {
        rc = add_wheels(options, recipe, context, err);
    }
    return rc;
}

/* Digest of everything that the image is made from. */
static int recipe_digest(const struct mc_build_options *options, const struct mc_recipe *recipe,
                         const struct mc_digest *context, struct mc_digest *out, struct mc_err *err)
{
    MC_AUTOFREE char *base = mc_strdup("scratch");
    if (recipe->from && !mc_streq(recipe->from, "scratch")) {
        MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
        int rc = mc_image_inspect(options->engine, recipe->from, &image, within(options, ASK_MS), err);
        if (rc != 0) {
            return mc_wrap(err, "building %s", recipe->name);
        }
        free(base);
        base = mc_strdup(image.id);
    }
    MC_AUTOFREE char *text = mc_strf("%s\n%s\n", base, context->hex);
    *out = mc_sha256_of(text, strlen(text));
    return 0;
}

static int build(const struct mc_build_options *options, const struct mc_recipe *recipe, int fd,
                 const struct mc_digest *digest, struct mc_err *err)
{
    const struct mc_label label = {RECIPE_LABEL, digest->hex};
    struct mc_image_build request = {.tag = recipe->tag,
                                     .labels = {&label, 1},
                                     .context = source_fd,
                                     .payload = &fd,
                                     .progress = &options->progress};
    MC_AUTOFREE char *id = NULL;
    int rc = mc_image_build(options->engine, &request, &id, within(options, BUILD_MS), err);
    return rc ? mc_wrap(err, "building the image %s", recipe->name) : 0;
}

int mc_build_image(const struct mc_build_options *options, const struct mc_recipe *recipe, struct mc_err *err)
{
    int rc = mc_fs_mkdirs(options->cache_dir, err);
    if (rc != 0 || recipe->import.pull) {
        return rc ? rc : import(options, recipe, err);
    }
    struct mc_context context = {.files = NULL};
    MC_AUTOCLOSE int fd = -1;
    struct mc_digest of_context;
    struct mc_digest digest;
    rc = gather(options, recipe, &context, err);
    rc = rc ? rc : mc_context_write(&context, &fd, &of_context, err);
    mc_context_release(&context);
    rc = rc ? rc : recipe_digest(options, recipe, &of_context, &digest, err);
    int current = 0;
    rc = rc ? rc : is_current(options, recipe->tag, digest.hex, &current, err);
    if (rc != 0) {
        return rc;
    }
    if (current && !options->force) {
        say(options, recipe, "unchanged");
        return 0;
    }
    say(options, recipe, "building");
    rc = build(options, recipe, fd, &digest, err);
    if (rc == 0) {
        say(options, recipe, "built");
    }
    return rc;
}

/* Marks a recipe and all that it stands on. */
static int want(const struct mc_recipes *recipes, const char *name, int *wanted, struct mc_err *err)
{
    const struct mc_recipe *recipe = mc_recipes_find(recipes, name);
    if (!recipe) {
        mc_fail(err, MC_INPUT, "there is no recipe for an image \"%s\"", name);
        return mc_hint(err, "\"memcal image list\" names them");
    }
    wanted[recipe - recipes->items] = 1;
    int stands = recipe->from && !mc_streq(recipe->from, "scratch");
    return stands ? want(recipes, recipe->from, wanted, err) : 0;
}

int mc_build_images(const struct mc_build_options *options, const char *const *names, struct mc_err *err)
{
    const struct mc_recipes *recipes = options->recipes;
    MC_AUTOFREE int *wanted = mc_alloc(recipes->count, sizeof *wanted);
    int rc = 0;
    for (size_t i = 0; rc == 0 && names && names[i]; i++) {
        rc = want(recipes, names[i], wanted, err);
    }
    for (size_t i = 0; rc == 0 && i < recipes->count; i++) {
        if (!names || wanted[i]) {
            rc = mc_build_image(options, &recipes->items[i], err);
        }
    }
    return rc;
}
