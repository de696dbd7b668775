#ifndef TINY_H
#define TINY_H

struct json;

/* The text of one chat completion for `question`, or NULL when the model did not answer. Freed by the caller. */
char *model_answer(const struct json *model, const char *question);

#endif
