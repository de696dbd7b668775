/*
 * UTF-8 (RFC 3629: shortest form, no surrogates, nothing above U+10FFFF).
 *
 * Ownership: bytes are borrowed.
 */
#pragma once

#include <stddef.h>

/* The length of the character at `bytes`, 0 where there is none. */
size_t mc_utf8_char(const char *bytes, size_t left);

/* True for a control character (C0, DEL, C1) of that length. */
int mc_utf8_is_control(const char *character, size_t length);

/* The offset of the first byte that is not UTF-8, or `length`. */
size_t mc_utf8_valid(const char *bytes, size_t length);

/* Puts '?' in the place of every byte that is not part of a character. */
void mc_utf8_mend(char *text);
