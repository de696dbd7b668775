/* The last stages of an attempt: programs end, what they leave is kept, and everything is removed. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/archive.h"
#include "engine/volume.h"
#include "run/attempt.h"

enum { ENGINE_CALL_MS = 60000, COLLECT_MS = 300000, STOP_GRACE_S = 2 };

/* What one container may leave. More is refused, and the refusal is in the record. */
static const struct mc_archive_limits out_limits = {.files = 100000, .bytes = (uint64_t)4 << 30};

static int64_t stop_ms(const struct mc_attempt *attempt, enum mc_role role)
{
    switch (role) {
    case MC_HARNESS:
        return attempt->entrant->harness.limits.stop_s * 1000;
    case MC_PROVIDER:
        return attempt->entrant->provider.limits.stop_s * 1000;
    default:
        return 10000;
    }
}

static void note_trouble(struct mc_attempt *attempt, const char *doing, enum mc_role role, const struct mc_err *why)
{
    struct mc_err ignored;
    json_t *data = json_pack("{ss ss ss}", "doing", doing, "role", mc_role_name(role), "why", why->text);
    if (mc_attempt_event(attempt, "trouble", data, &ignored) != 0) {
        return; /* the store's own fault is reported by the next write to it */
    }
}

static json_t *facts_of(const struct mc_container *container, int we_killed)
{
    static const char *const oom[] = {"no", "probable", "yes"};
    return json_pack("{ss ss si sb ss sb ss ss ss ss}", "id", container->id, "image", container->image, "exit_code",
                     container->exit_code, "oom_killed", container->oom_killed, "oom",
                     oom[mc_container_oom(container, we_killed)], "killed_by_memcal", we_killed, "state",
                     container->state, "started_at", container->started_at, "finished_at", container->finished_at,
                     "error", container->error);
}

static void say_goodbye(struct mc_attempt *attempt, enum mc_role role)
{
    if (attempt->programs[role].open) {
        struct mc_talk talk = mc_attempt_talk(attempt, role);
        struct mc_err err;
        if (mc_talk_goodbye(&talk, mc_within(stop_ms(attempt, role), NULL), &err) != 0) {
            note_trouble(attempt, "saying goodbye", role, &err);
        }
    }
}

/* Nobody reads a program any more: the end of its input tells it to end, and its output no longer waits for a reader.
 * Podman 4.3 sees the end of a container only once that has been read, though it was killed long ago. */
static void hang_up(struct mc_program *program)
{
    program->open = 0;
    mc_stream_close(mc_steal(&program->stream));
}

/* Gives the program its time, then stops it; it is seen to have ended. What the engine says of that, as JSON that the
 * caller frees; NULL where it says nothing. */
static char *stop_one(struct mc_attempt *attempt, enum mc_role role)
{
    struct mc_engine *engine = attempt->run->engine;
    struct mc_program *program = &attempt->programs[role];
    struct mc_err err;
    if (!program->started) {
        return NULL;
    }
    if (!program->open) {
        hang_up(program); /* it broke the protocol, or has ended */
    }
    struct mc_container ended;
    int rc = mc_container_wait(engine, program->container, &ended, mc_within(stop_ms(attempt, role), NULL), &err);
    if (rc != 0) {
        program->killed = 1;
        hang_up(program);
        rc = mc_container_stop(engine, program->container, STOP_GRACE_S, mc_within(ENGINE_CALL_MS, NULL), &err);
        rc = rc ? rc : mc_container_wait(engine, program->container, &ended, mc_within(ENGINE_CALL_MS, NULL), &err);
    }
    program->open = 0;
    if (rc != 0) {
        note_trouble(attempt, "stopping", role, &err);
        return NULL;
    }
    MC_AUTOJSON json_t *facts = facts_of(&ended, program->killed);
    mc_container_release(&ended);
    return mc_json_text(facts);
}

/* One after the other they finish what they have in hand, the sidecar last, since the others may need it for that; then
 * their containers end at the same time. */
void mc_attempt_stop(struct mc_attempt *attempt)
{
    static const enum mc_role order[] = {MC_HARNESS, MC_PROVIDER, MC_SIDECAR};
    attempt->ending = 1;
    attempt->over_budget = 0;
    free(mc_steal(&attempt->violation));
    for (size_t i = 0; i < MC_COUNT(order); i++) {
        say_goodbye(attempt, order[i]);
    }
    char *facts[MC_ROLES] = {NULL};
    struct mc_resource_record ended[MC_ROLES];
    size_t count = 0;
    for (size_t i = 0; i < MC_COUNT(order); i++) {
        facts[i] = stop_one(attempt, order[i]);
        if (facts[i]) {
            ended[count++] =
                (struct mc_resource_record){.name = attempt->sandbox.containers[order[i]], .facts = facts[i]};
        }
    }
    struct mc_err err;
    if (mc_resources_set(attempt->run->store, ended, count, &err) != 0) {
        note_trouble(attempt, "recording how it ended", MC_HARNESS, &err);
    }
    for (size_t i = 0; i < MC_COUNT(order); i++) {
        free(facts[i]);
    }
}

struct collecting {
    struct mc_attempt *attempt;
    enum mc_role role;
    const char *prefix; /* of the artifact's name */
};

static int copy_in(const struct mc_archive_file *file, struct mc_object_writer *writer, struct mc_err *err)
{
    for (;;) {
        char bytes[65536];
        size_t got = 0;
        int rc = mc_archive_read(file, bytes, sizeof bytes, &got, err);
        rc = rc || got == 0 ? rc : mc_object_write(writer, bytes, got, err);
        if (rc != 0 || got == 0) {
            return rc;
        }
    }
}

/* An object and its name among the attempt's artifacts, in one commit. */
static int keep_artifact(const struct mc_attempt *attempt, struct mc_object_writer *writer, const char *name,
                         struct mc_err *err)
{
    struct mc_store *store = attempt->run->store;
    int rc = mc_store_begin(store, err);
    if (rc != 0) {
        mc_object_abandon(writer);
        return rc;
    }
    struct mc_digest digest;
    int64_t size;
    rc = mc_object_end(writer, &digest, &size, err);
    if (rc == 0) {
        struct mc_artifact_record artifact = {attempt->id, name, digest.hex, size};
        rc = mc_artifacts_put(store, &artifact, err);
    }
    if (rc == 0) {
        return mc_store_commit(store, err);
    }
    mc_store_rollback(store);
    return rc;
}

/* The sidecar's bodies are named by their digest: the name is checked, and the object is the artifact. */
static int keep_file(void *payload, const struct mc_archive_file *file, struct mc_err *err)
{
    const struct collecting *collecting = payload;
    struct mc_store *store = collecting->attempt->run->store;
    int is_body = collecting->role == MC_SIDECAR && mc_starts_with(file->path, "objects/");
    struct mc_object_writer *writer;
    int rc = mc_object_begin(store, is_body ? "model body" : "artifact", &writer, err);
    if (rc != 0) {
        return rc;
    }
    rc = copy_in(file, writer, err);
    if (rc != 0) {
        mc_object_abandon(writer);
        return rc;
    }
    if (!is_body) {
        MC_AUTOFREE char *name = mc_strf("%s/%s%s", mc_role_name(collecting->role), collecting->prefix, file->path);
        return keep_artifact(collecting->attempt, writer, name, err);
    }
    struct mc_digest digest;
    rc = mc_object_end(writer, &digest, NULL, err);
    if (rc == 0 && !mc_streq(file->path + strlen("objects/"), digest.hex)) {
        return mc_fail(err, MC_MISMATCH, "the recorded body %s has the digest %s", file->path, digest.hex);
    }
    return rc;
}

static int collect_path(struct mc_attempt *attempt, enum mc_role role, const char *path, const char *prefix,
                        int optional, struct mc_err *err)
{
    struct collecting collecting = {attempt, role, prefix};
    int rc = mc_archive_get(attempt->run->engine, attempt->programs[role].container, path, out_limits, keep_file,
                            &collecting, mc_within(COLLECT_MS, NULL), err);
    if (rc == MC_NOT_FOUND && optional) {
        return 0;
    }
    return rc ? mc_wrap(err, "collecting %s of the %s", path, mc_role_name(role)) : 0;
}

static int end_errors(struct mc_attempt *attempt, enum mc_role role, struct mc_err *err)
{
    struct mc_stderr *errors = &attempt->errors[role];
    if (!errors->writer) {
        return 0;
    }
    MC_AUTOBUF struct mc_buf clean = MC_BUF_OWN;
    mc_redact_bytes(errors->redactor, mc_buf_text(&errors->line), errors->line.len, &clean);
    int rc = mc_object_write(errors->writer, mc_buf_text(&clean), clean.len, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOFREE char *name = mc_strf("%s/stderr.txt", mc_role_name(role));
    return keep_artifact(attempt, mc_steal(&errors->writer), name, err);
}

int mc_attempt_collect(struct mc_attempt *attempt, struct mc_err *err)
{
    int rc = 0;
    for (int r = 0; r < MC_ROLES; r++) {
        struct mc_err one;
        int got = end_errors(attempt, (enum mc_role)r, &one);
        if (got == 0 && attempt->programs[r].started) {
            got = collect_path(attempt, (enum mc_role)r, "/memcal/out", "", 0, &one);
        }
        if (got == 0 && attempt->programs[r].started && r == MC_HARNESS) {
            /* Hermes's sessions: the rows that its turns left, with their scenario times. */
            static const char *const parts[] = {"/memcal/home/state.db", "/memcal/home/state.db-wal"};
            for (size_t i = 0; got == 0 && i < MC_COUNT(parts); i++) {
                got = collect_path(attempt, MC_HARNESS, parts[i], "home/", 1, &one);
            }
        }
        if (got == 0 && attempt->programs[r].started && r == MC_PROVIDER) {
            got = collect_path(attempt, MC_PROVIDER, "/memcal/memory", "memory/", 1, &one);
        }
        if (got != 0) {
            note_trouble(attempt, "collecting", (enum mc_role)r, &one);
            if (rc == 0) {
                *err = one;
                rc = got;
            }
        }
    }
    return rc;
}

/* What has been removed, for one commit at the end: until then the store calls it created, which is the safe side. */
struct clearing {
    struct mc_resource_record gone[MC_ROLES + MC_VOLUMES];
    size_t count;
    int rc; /* of the first that could not be removed */
    struct mc_err *err;
};

/* What cannot be removed is named with the command that would. */
static void note_removed(struct clearing *clearing, const char *kind, const char *name, int rc, struct mc_err *why)
{
    if (rc == 0) {
        clearing->gone[clearing->count++] = (struct mc_resource_record){.name = name, .state = "removed"};
    } else if (clearing->rc == 0) {
        mc_hint(why, "remove it with: docker %s rm -f %s", kind, name);
        *clearing->err = *why;
        clearing->rc = rc;
    }
}

int mc_attempt_teardown(struct mc_attempt *attempt, struct mc_err *err)
{
    struct mc_engine *engine = attempt->run->engine;
    struct mc_labels ours = mc_sandbox_labels(&attempt->sandbox);
    struct clearing clearing = {.err = err};
    struct mc_err one;
    for (int r = 0; r < MC_ROLES; r++) {
        struct mc_program *program = &attempt->programs[r];
        mc_stream_close(mc_steal(&program->stream));
        program->open = 0;
    }
    for (int r = 0; r < MC_ROLES; r++) {
        const char *name = attempt->sandbox.containers[r];
        if (name) {
            /* By name where the create call's answer was lost. */
            const char *id = attempt->programs[r].container ? attempt->programs[r].container : name;
            int rc = mc_container_remove(engine, id, ours, mc_within(ENGINE_CALL_MS, NULL), &one);
            note_removed(&clearing, "container", name, rc, &one);
        }
    }
    for (int v = 0; v < MC_VOLUMES; v++) {
        const char *name = attempt->sandbox.volumes[v];
        if (name) {
            int rc = mc_volume_remove(engine, name, ours, mc_within(ENGINE_CALL_MS, NULL), &one);
            note_removed(&clearing, "volume", name, rc, &one);
        }
    }
    int noted = mc_resources_set(attempt->run->store, clearing.gone, clearing.count, clearing.rc ? &one : err);
    return clearing.rc ? clearing.rc : noted;
}

/* Says who ended a program that has ended, by what memcal-enter reported (src/enter/main.c). */
static enum mc_ended blame_signal(const char *name, int exit_code, const char *report, struct mc_err *err)
{
    const char *passed_on = strstr(report, "passed on signal ");
    const char *killed_by = strstr(report, "killed by signal ");
    if (passed_on || (exit_code == 128 + SIGKILL && !killed_by)) {
        long number = passed_on ? strtol(passed_on + strlen("passed on signal "), NULL, 10) : SIGKILL;
        mc_fail(err, MC_CLOSED, "the %s was ended from outside by signal %ld (exit code %d)", name, number, exit_code);
        return MC_ENDED_INFRASTRUCTURE;
    }
    if (exit_code == 128 + SIGKILL) {
        mc_fail(err, MC_CLOSED, "the %s was killed, probably because it ran out of its memory limit", name);
    } else if (killed_by) {
        long number = strtol(killed_by + strlen("killed by signal "), NULL, 10);
        mc_fail(err, MC_CLOSED, "the %s crashed with signal %ld", name, number);
    } else {
        mc_fail(err, MC_CLOSED, "the %s ended by itself with exit code %d", name, exit_code);
    }
    return MC_ENDED_FAILED;
}

/* Memory that ran out inside its own limit, a crash, or the program's own exit is the harness's doing; being ended from
 * outside is not. */
static enum mc_ended classify_death(struct mc_attempt *attempt, enum mc_role role, struct mc_err *err)
{
    enum { REPORT_MAX = 4096 };
    struct mc_engine *engine = attempt->run->engine;
    const struct mc_program *program = &attempt->programs[role];
    struct mc_container ended;
    struct mc_err ignored;
    if (!program->container || mc_container_wait(engine, program->container, &ended,
                                                 mc_within((int64_t)STOP_GRACE_S * 1000, NULL), &ignored) != 0) {
        return MC_ENDED_FAILED;
    }
    int is_oom = mc_container_oom(&ended, program->killed) == MC_OOM_YES;
    int exit_code = ended.exit_code;
    mc_container_release(&ended);
    if (is_oom) {
        mc_fail(err, MC_CLOSED, "the %s ran out of its memory limit", mc_role_name(role));
        return MC_ENDED_FAILED;
    }
    MC_AUTOBUF struct mc_buf report = MC_BUF_INIT(REPORT_MAX);
    if (mc_archive_get_file(engine, program->container, MC_ENTER_REPORT, &report, mc_within(ENGINE_CALL_MS, NULL),
                            &ignored) != 0) {
        mc_buf_clear(&report); /* the program took it away: then nothing speaks for it */
    }
    return blame_signal(mc_role_name(role), exit_code, mc_buf_text(&report), err);
}

enum mc_ended mc_attempt_classify(struct mc_attempt *attempt, struct mc_err *err)
{
    if (err->code == MC_CANCELLED) {
        return MC_ENDED_CANCELLED;
    }
    if (err->code == MC_BUDGET) {
        return MC_ENDED_BUDGET;
    }
    int of_entrant = attempt->culprit_known && attempt->culprit != MC_SIDECAR;
    switch (err->code) {
    case MC_CLOSED:
        if (of_entrant && !attempt->programs[attempt->culprit].open) {
            return classify_death(attempt, attempt->culprit, err);
        }
        return of_entrant ? MC_ENDED_FAILED : MC_ENDED_INFRASTRUCTURE;
    case MC_PROTOCOL:
        return of_entrant ? MC_ENDED_PROTOCOL_ERROR : MC_ENDED_INFRASTRUCTURE;
    case MC_TIMEOUT:
        return of_entrant ? MC_ENDED_TIMEOUT : MC_ENDED_INFRASTRUCTURE;
    case MC_DENIED:
        return MC_ENDED_TOOL_POLICY;
    default:
        return MC_ENDED_INFRASTRUCTURE;
    }
}
