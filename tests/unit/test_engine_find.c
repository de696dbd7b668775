#include "support/fake_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "engine/find.h"
#include "engine/own.h"

/* A home and a root of their own, with helpers to put things there. */
struct place {
    char root[64];
    char *home;
    char *runtime;
    int sockets[8];
    size_t count;
    struct mc_find_env env;
};

static int set_up(void **state)
{
    struct place *place = mc_alloc(1, sizeof *place);
    snprintf(place->root, sizeof place->root, "/tmp/memcal-find-XXXXXX");
    assert_non_null(mkdtemp(place->root));
    place->home = mc_path_join(place->root, "home");
    place->runtime = mc_path_join(place->root, "user");
    place->env = (struct mc_find_env){.home = place->home, .xdg_runtime_dir = place->runtime, .root = place->root};
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct mc_err err;
    struct place *place = *state;
    for (size_t i = 0; i < place->count; i++) {
        close(place->sockets[i]);
    }
    assert_int_equal(mc_fs_remove_tree(place->root, &err), 0);
    free(place->home);
    free(place->runtime);
    free(place);
    return 0;
}

/* A Unix socket at root/`name`; where `listening` is 0, one that nobody serves. */
static void add_socket(struct place *place, const char *name, int listening)
{
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(place->root, name);
    MC_AUTOFREE char *dir = mc_path_dir(path);
    assert_int_equal(mc_fs_mkdirs(dir, &err), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof address.sun_path);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    if (listening) {
        assert_int_equal(listen(fd, 4), 0);
    }
    place->sockets[place->count++] = fd;
}

static void add_file(struct place *place, const char *name, const char *text)
{
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(place->root, name);
    MC_AUTOFREE char *dir = mc_path_dir(path);
    assert_int_equal(mc_fs_mkdirs(dir, &err), 0);
    assert_int_equal(mc_fs_write(path, text, strlen(text), 0600, &err), 0);
}

static void expect(struct place *place, const char *rule, const char *socket)
{
    struct mc_err err;
    struct mc_found found;
    int rc = mc_find(&place->env, &found, &err);
    if (rc != 0) {
        fail_msg("%s", err.text);
    }
    MC_AUTOFREE char *path = mc_path_join(place->root, socket);
    MC_AUTOFREE char *host = mc_strf("unix://%s", path);
    assert_string_equal(found.rule, rule);
    assert_string_equal(found.endpoint.socket, path);
    assert_string_equal(found.endpoint.host, host);
    assert_string_equal(found.endpoint.url, "http://localhost");
    assert_string_equal(found.tries[found.try_count - 1].why, "taken");
    mc_found_release(&found);
}

/* Sockets appear from the last place to the first: each is found before those that follow it. */
static void sockets_in_order(void **state)
{
    struct place *place = *state;
    static const struct {
        const char *rule;
        const char *path;
    } order[] = {
        {"Colima before 0.4", "home/.colima/docker.sock"},
        {"Colima", "home/.colima/default/docker.sock"},
        {"Docker Desktop", "home/.docker/run/docker.sock"},
        {"Docker Desktop on Linux", "home/.docker/desktop/docker.sock"},
        {"rootless Podman", "user/podman/podman.sock"},
        {"Podman", "run/podman/podman.sock"},
        {"rootless Docker", "user/docker.sock"},
        {"Docker", "var/run/docker.sock"},
    };
    for (size_t i = 0; i < MC_COUNT(order); i++) {
        add_socket(place, order[i].path, 1);
        expect(place, order[i].rule, order[i].path);
    }
}

static void nothing_found(void **state)
{
    struct place *place = *state;
    struct mc_err err;
    struct mc_found found;
    add_socket(place, "var/run/docker.sock", 0);
    place->env.xdg_runtime_dir = "";
    assert_int_equal(mc_find(&place->env, &found, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "no container engine was found");
    assert_non_null(strstr(err.hint, "sudo systemctl start docker"));
    assert_null(found.rule);
    assert_int_equal(found.try_count, 10);
    assert_string_equal(found.tries[0].rule, "DOCKER_HOST");
    assert_string_equal(found.tries[0].why, "not set");
    assert_string_equal(found.tries[1].why, "the default one");
    assert_string_equal(found.tries[2].rule, "Docker");
    assert_string_equal(found.tries[2].why, "nothing listens there");
    assert_string_equal(found.tries[3].why, "its folder's variable is not set");
    assert_string_equal(found.tries[4].why, "not there");
    mc_found_release(&found);
}

static void docker_host_wins(void **state)
{
    struct place *place = *state;
    struct mc_err err;
    struct mc_found found;
    add_socket(place, "var/run/docker.sock", 1);
    place->env.docker_host = "unix:///nowhere/at/all.sock";
    assert_int_equal(mc_find(&place->env, &found, &err), 0); /* a wrong one is an error at opening, no fallback */
    assert_string_equal(found.rule, "DOCKER_HOST");
    assert_string_equal(found.endpoint.socket, "/nowhere/at/all.sock");
    mc_found_release(&found);

    place->env.docker_host = "ssh://me@box";
    assert_int_equal(mc_find(&place->env, &found, &err), MC_INPUT);
    assert_string_equal(err.text, "DOCKER_HOST: \"ssh://me@box\": memcal does not speak SSH itself");
    assert_non_null(strstr(err.hint, "ssh -nNT -L /tmp/docker-remote.sock:/var/run/docker.sock me@box"));
    assert_non_null(strstr(err.hint, "DOCKER_HOST=unix:///tmp/docker-remote.sock"));
    mc_found_release(&found);
}

static void add_context(struct place *place, const char *name, const char *meta, int tls)
{
    struct mc_digest id = mc_sha256_of(name, strlen(name));
    MC_AUTOFREE char *path = mc_strf("home/.docker/contexts/meta/%s/meta.json", id.hex);
    add_file(place, path, meta);
    if (tls) {
        MC_AUTOFREE char *ca = mc_strf("home/.docker/contexts/tls/%s/docker/ca.pem", id.hex);
        add_file(place, ca, "x");
    }
}

static void context_in_use(void **state)
{
    struct place *place = *state;
    struct mc_err err;
    struct mc_found found;
    add_socket(place, "var/run/docker.sock", 1);
    add_file(place, "home/.docker/config.json", "{\"currentContext\":\"work\",\"auths\":{}}");
    add_context(place, "work", "{\"Endpoints\":{\"docker\":{\"Host\":\"unix:///srv/work.sock\"}}}", 0);
    add_context(place, "far", "{\"Endpoints\":{\"docker\":{\"Host\":\"tcp://far:2376\",\"SkipTLSVerify\":false}}}", 1);
    assert_int_equal(mc_find(&place->env, &found, &err), 0);
    assert_string_equal(found.rule, "context work");
    assert_string_equal(found.endpoint.socket, "/srv/work.sock");
    mc_found_release(&found);

    place->env.docker_context = "far";
    assert_int_equal(mc_find(&place->env, &found, &err), 0);
    assert_string_equal(found.rule, "context far");
    assert_string_equal(found.endpoint.url, "https://far:2376");
    assert_int_equal(found.endpoint.verify, 1);
    assert_non_null(strstr(found.endpoint.ca, "/docker/ca.pem"));
    assert_null(found.endpoint.key);
    mc_found_release(&found);

    place->env.docker_context = "gone";
    assert_int_equal(mc_find(&place->env, &found, &err), MC_NOT_FOUND);
    assert_non_null(strstr(err.text, "docker context \"gone\" (named by DOCKER_CONTEXT): "));
    assert_non_null(strstr(err.hint, "docker context use default"));
    mc_found_release(&found);

    place->env.docker_context = "default";
    expect(place, "Docker", "var/run/docker.sock");

    place->env.docker_context = NULL;
    add_file(place, "home/.docker/config.json", "{\"currentContext\":");
    assert_int_equal(mc_find(&place->env, &found, &err), MC_INPUT);
    assert_non_null(strstr(err.text, "config.json"));
    assert_string_equal(err.hint, "mend the file, or set DOCKER_HOST");
    mc_found_release(&found);

    MC_AUTOFREE char *moved = mc_path_join(place->root, "elsewhere");
    add_file(place, "elsewhere/config.json", "{}");
    place->env.docker_config = moved;
    expect(place, "Docker", "var/run/docker.sock");
}

static void tcp_and_tls(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        const char *verify;
        const char *certs;
        const char *url;
    } known[] = {
        {"tcp://box:2375", NULL, NULL, "http://box:2375"}, {"tcp://box", NULL, NULL, "http://box:2375"},
        {"tcp://box/", "1", NULL, "https://box:2376"},     {"tcp://box:99", NULL, "/certs", "https://box:99"},
        {"tcp://[::1]", NULL, NULL, "http://[::1]:2375"},  {"tcp://[::1]:1", "", "", "http://[::1]:1"},
        {"https://box", NULL, NULL, "https://box:2376"},   {"http://box:80", NULL, NULL, "http://box:80"},
    };
    for (size_t i = 0; i < MC_COUNT(known); i++) {
        struct mc_err err;
        struct mc_endpoint endpoint;
        struct mc_find_env env = {
            .docker_tls_verify = known[i].verify, .docker_cert_path = known[i].certs, .home = "/home/me"};
        assert_int_equal(mc_endpoint_parse(known[i].host, &env, &endpoint, &err), 0);
        assert_string_equal(endpoint.url, known[i].url);
        assert_null(endpoint.socket);
        assert_int_equal(endpoint.verify, known[i].verify && known[i].verify[0] != '\0');
        if (mc_starts_with(endpoint.url, "https")) {
            assert_string_equal(endpoint.ca, known[i].certs ? "/certs/ca.pem" : "/home/me/.docker/ca.pem");
        } else {
            assert_null(endpoint.ca);
        }
        mc_endpoint_release(&endpoint);
    }
}

static void wrong_hosts(void **state)
{
    (void)state;
    struct mc_find_env env = {.docker_host = NULL};
    struct mc_endpoint endpoint;
    struct mc_err err;
    static const char *const wrong[] = {"",
                                        "box:2375",
                                        "fd://3",
                                        "npipe:////./pipe/docker_engine",
                                        "tcp://",
                                        "tcp://a b",
                                        "tcp://user@box",
                                        "tcp://box/path",
                                        "unix://relative.sock"};
    for (size_t i = 0; i < MC_COUNT(wrong); i++) {
        assert_int_equal(mc_endpoint_parse(wrong[i], &env, &endpoint, &err), MC_INPUT);
        assert_true(err.hint[0] != '\0');
        mc_endpoint_release(&endpoint);
    }
    assert_string_equal(err.text, "\"unix://relative.sock\": a socket's path is absolute");
    MC_AUTOFREE char *name = mc_alloc(1, 200);
    memset(name, 'x', 120);
    MC_AUTOFREE char *host = mc_strf("unix:///%s", name);
    assert_int_equal(mc_endpoint_parse(host, &env, &endpoint, &err), MC_INPUT);
    assert_non_null(strstr(err.text, "a socket's path has at most 107 bytes"));
    mc_endpoint_release(&endpoint);
}

static void names_in_paths(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/x/");
    mc_api_escape(&path, "a/b c%\xc3\xa9?&=#~._-");
    mc_api_query(&path, "k", "1 + 1");
    const struct mc_label label = {.name = "a", .value = "b\"c"};
    mc_api_label_filter(&path, (struct mc_labels){.items = &label, .count = 1});
    mc_api_label_filter(&path, (struct mc_labels){.items = NULL, .count = 0});
    assert_string_equal(mc_buf_text(&path),
                        "/x/a%2Fb%20c%25%C3%A9%3F%26%3D%23~._-?k=1%20%2B%201&filters=%7B%22label%22%3A%"
                        "5B%22a%3Db%5C%22c%22%5D%7D");
    mc_buf_clear(&path);
    mc_api_escape_reference(&path, "localhost:5000/a/b@sha256:1?");
    assert_string_equal(mc_buf_text(&path), "localhost:5000/a/b@sha256:1%3F");
    assert_int_equal(mc_api_check_path("/containers/a..b/json?x=/../", "w", &err), 0);
    static const char *const wrong[] = {"/images/../containers/x", "/containers//json", "/containers/", "/a/./b", "/..",
                                        "/containers/?force=1"};
    for (size_t i = 0; i < MC_COUNT(wrong); i++) {
        assert_int_equal(mc_api_check_path(wrong[i], "removing it", &err), MC_INPUT);
        assert_string_equal(err.text, "removing it: this is not a name that an engine could have");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sockets_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(docker_host_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(context_in_use, set_up, tear_down),
        cmocka_unit_test(tcp_and_tls),
        cmocka_unit_test(wrong_hosts),
        cmocka_unit_test(names_in_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
