#include "protocol/talk.h"

int mc_talk_send(const struct mc_talk *talk, const struct mc_command *command, struct mc_until until,
                 struct mc_err *err)
{
    int rc = mc_channel_send(talk->channel, command, until, err);
    return rc ? mc_wrap(err, "sending %s to the %s", mc_command_name(command->type), talk->channel->name) : 0;
}

int mc_talk_answer(const struct mc_talk *talk, struct mc_notice *out, struct mc_until until, struct mc_err *err)
{
    for (;;) {
        int rc = talk->next(talk->payload, out, until, err);
        if (rc != 0 || out->type != MC_EVENT) {
            return rc;
        }
        mc_notice_release(out);
    }
}

int mc_talk_unexpected(const struct mc_talk *talk, const struct mc_notice *notice, const char *due, struct mc_err *err)
{
    return mc_fail(err, MC_PROTOCOL, "the %s sent \"%s\" (seq %lld) where %s was due", talk->channel->name,
                   mc_notice_name(notice->type), (long long)notice->seq, due);
}

int mc_talk_ready(const struct mc_talk *talk, struct mc_notice *ready, struct mc_until until, struct mc_err *err)
{
    int rc = mc_talk_answer(talk, ready, until, err);
    if (rc != 0) {
        return mc_wrap(err, "waiting for the %s to be ready", talk->channel->name);
    }
    if (ready->type != MC_READY) {
        rc = mc_talk_unexpected(talk, ready, "\"ready\"", err);
        mc_notice_release(ready);
    }
    return rc;
}

int mc_talk_hello(const struct mc_talk *talk, const struct mc_command *initialize, struct mc_notice *ready,
                  struct mc_until until, struct mc_err *err)
{
    int rc = mc_talk_send(talk, initialize, until, err);
    if (rc != 0) {
        return mc_wrap(err, "waiting for the %s to be ready", talk->channel->name);
    }
    return mc_talk_ready(talk, ready, until, err);
}

int mc_talk_goodbye(const struct mc_talk *talk, struct mc_until until, struct mc_err *err)
{
    struct mc_command shutdown = {.type = MC_CMD_SHUTDOWN};
    int rc = mc_talk_send(talk, &shutdown, until, err);
    while (rc == 0) {
        struct mc_notice notice;
        rc = mc_talk_answer(talk, &notice, until, err);
        if (rc == 0) {
            int is_bye = notice.type == MC_BYE;
            mc_notice_release(&notice); /* operations that end late are recorded as they pass */
            if (is_bye) {
                return 0;
            }
        }
    }
    return rc == MC_CLOSED ? 0 : rc;
}
