/*
 * The one way to report an error.
 *
 * A function that can fail returns 0 or a negative `enum mc_code` and takes `struct mc_err *err` last. Success leaves
 * *err untouched; failure fills it: what was being done, to what, what went wrong, and, where there is one, what to
 * do (`hint`). Callers add context with mc_wrap() and never print: only cli/ prints, once.
 *
 * Ownership: the struct is the caller's, lies on the stack, and owns nothing: no allocation on the error path. Texts
 * longer than the fields are cut at a character's boundary and end in "..."; bytes that are not UTF-8 become '?', so
 * that a text can always stand in JSON.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/attr.h"

enum mc_code {
    MC_OK = 0,
    MC_INTERNAL = -1, /* a fault of memcal's own */
    MC_INPUT = -2,    /* what the user gave is wrong */
    MC_NOT_FOUND = -3,
    MC_EXISTS = -4,
    MC_TIMEOUT = -5,
    MC_CANCELLED = -6,
    MC_IO = -7,        /* a file, a disk, a socket; `sys` holds errno */
    MC_PROTOCOL = -8,  /* a peer broke the agreed format */
    MC_ENGINE = -9,    /* the engine refused; `http` holds its status */
    MC_LIMIT = -10,    /* larger, deeper or longer than allowed */
    MC_DENIED = -11,   /* not permitted, or a rule of the boundary */
    MC_CLOSED = -12,   /* the peer is gone */
    MC_MISMATCH = -13, /* a digest or a recorded value differs */
    MC_BUDGET = -14,
};

struct mc_err {
    enum mc_code code;
    int sys;  /* errno, 0 where none applies */
    int http; /* HTTP status, 0 where none applies */
    /* How many bytes at the start of `text` are a place in a document ("file:line: path"), 0 where none are. A later
     * mc_wrap() sets it to 0, since the text then starts with something else. */
    size_t place;
    char text[1024];
    char hint[512];
};

/* Each fills *err and returns `code`, so that failing is one line: return mc_fail(err, MC_INPUT, "...", ...). */
int mc_fail(struct mc_err *err, enum mc_code code, const char *format, ...) MC_PRINTF(3, 4);
int mc_vfail(struct mc_err *err, enum mc_code code, const char *format, va_list args) MC_PRINTF(3, 0);

/* The same with ": strerror(sys)" added; code is MC_NOT_FOUND for ENOENT and ENOTDIR, MC_EXISTS for EEXIST, MC_DENIED
 * for EACCES and EPERM, else MC_IO. */
int mc_fail_errno(struct mc_err *err, int sys, const char *format, ...) MC_PRINTF(3, 4);

/* Puts "context: " before the text; returns err->code. */
int mc_wrap(struct mc_err *err, const char *format, ...) MC_PRINTF(2, 3);
/* The same with a place in a document ("file:line: path"). */
int mc_wrap_place(struct mc_err *err, const char *place);

/* Sets what to do about it; returns err->code. */
int mc_hint(struct mc_err *err, const char *format, ...) MC_PRINTF(2, 3);

/* The code's name for machines: "input", "not_found", ... */
const char *mc_code_name(enum mc_code code);
