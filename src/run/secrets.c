#include "run/secrets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int mc_secrets_read(struct mc_secrets *secrets, const char *const *names, struct mc_err *err)
{
    secrets->values = json_object();
    secrets->redactor = mc_redactor_new();
    for (size_t i = 0; names[i]; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value) {
            mc_fail(err, MC_INPUT, "the secret %s is not set", names[i]);
            return mc_hint(err, "set it in the environment: the run file names it under \"secrets\"");
        }
        if (!mc_redactor_add(secrets->redactor, names[i], value)) {
            mc_fail(err, MC_INPUT,
                    "the secret %s is shorter than 6 characters: it could not be kept out of what is recorded",
                    names[i]);
            return mc_hint(err, "use a longer one");
        }
        if (json_object_set_new(secrets->values, names[i], json_string(value)) != 0) {
            return mc_fail(err, MC_INPUT, "the secret %s is not UTF-8 text", names[i]);
        }
    }
    return 0;
}

void mc_secrets_release(struct mc_secrets *secrets)
{
    const char *name;
    json_t *value;
    json_object_foreach (secrets->values, name, value) {
        mc_wipe((void *)(uintptr_t)json_string_value(value), json_string_length(value));
    }
    json_decref(secrets->values);
    mc_redactor_free(secrets->redactor);
    *secrets = (struct mc_secrets){.values = NULL};
}
