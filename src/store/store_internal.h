/* What the store's own files share; not for other modules. */
#pragma once

#include <sqlite3.h>

struct mc_store {
    char *dir;
    char *uuid;
    sqlite3 *db;
    int lock_fd; /* held shared while the store is open */
};
