#include "base/usage.h"

json_t *mc_count_json(int64_t count)
{
    return count < 0 ? json_null() : json_integer(count);
}

json_t *mc_usage_json(const struct mc_usage *usage)
{
    json_t *object = json_object();
    json_object_set_new(object, "input", mc_count_json(usage->input));
    json_object_set_new(object, "cached_input", mc_count_json(usage->cached_input));
    json_object_set_new(object, "output", mc_count_json(usage->output));
    json_object_set_new(object, "reasoning", mc_count_json(usage->reasoning));
    return object;
}
