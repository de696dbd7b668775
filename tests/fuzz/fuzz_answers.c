/* Lines of an answers file. */
#include <stdint.h>
#include <stdlib.h>

#include "grade/answers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *arg, const struct mc_answer *answer, struct mc_err *err)
{
    (void)arg;
    (void)err;
    if (!answer->life[0] || !answer->checkpoint[0] || !answer->answer || answer->repetition < 1) {
        abort();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    if (mc_answer_parse(data, size, "answers.jsonl", 1, take, NULL, &err) != 0 && err.text[0] == '\0') {
        abort();
    }
    return 0;
}
