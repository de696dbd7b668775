/* The database's schema, a statement each, NULL-ended; its version is what PRAGMA user_version holds. */
#pragma once

enum { MC_SCHEMA_VERSION = 1 };

/* "mcal" */
enum { MC_APPLICATION_ID = 0x6d63616c };

extern const char *const mc_schema_sql[];
