/* Compiler attributes under short names, used by every module. */
#pragma once

#define MC_PRINTF(fmt_index, first_arg) __attribute__((format(printf, fmt_index, first_arg)))
#define MC_CHECKED __attribute__((warn_unused_result))
#define MC_CLEANUP(fn) __attribute__((cleanup(fn)))

#define MC_COUNT(array) (sizeof(array) / sizeof((array)[0]))
