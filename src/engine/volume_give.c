#include <stdlib.h>

#include "base/mem.h"
#include "engine/archive.h"
#include "engine/container.h"
#include "engine/volume.h"

/* Sets the owners through the folder that holds the mounts: Docker passes over an entry for the folder unpacked into.
 */
static int put_owners(struct mc_engine *engine, const char *container, size_t count, struct mc_volume_owner owner,
                      struct mc_until until, struct mc_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        MC_AUTOFREE char *name = mc_strf("memcal-volume-%zu/", i);
        MC_AUTOFREE char *mount = mc_strf("/memcal-volume-%zu", i);
        struct mc_archive_entry entry = {.path = name, .mode = owner.mode, .uid = owner.uid, .gid = owner.gid};
        rc = mc_archive_put(engine, container, "/", &entry, 1, until, err);
        if (rc == 0) {
            /* Podman reaches a volume only by its own path, and takes this entry. */
            entry.path = "./";
            rc = mc_archive_put(engine, container, mount, &entry, 1, until, err);
        }
    }
    return rc;
}

int mc_volume_give(struct mc_engine *engine, const char *image, const char *const *volumes,
                   struct mc_volume_owner owner, struct mc_labels labels, struct mc_until until, struct mc_err *err)
{
    size_t count = 0;
    while (volumes[count]) {
        count++;
    }
    if (count == 0) {
        return 0;
    }
    struct mc_mount *mounts = mc_alloc(count, sizeof *mounts);
    char **paths = mc_alloc(count, sizeof *paths);
    for (size_t i = 0; i < count; i++) {
        paths[i] = mc_strf("/memcal-volume-%zu", i);
        mounts[i] = (struct mc_mount){.volume = volumes[i], .path = paths[i]};
    }
    MC_AUTOFREE char *name = mc_strf("%s-owner", volumes[0]);
    MC_AUTOFREE char *id = NULL;
    /* The root must be writable for a moment: engines refuse to unpack beside the mounts otherwise. It never runs. */
    struct mc_container_spec spec = {.name = name,
                                     .image = image,
                                     .entrypoint = (const char *const[]){"/never-started", NULL},
                                     .labels = labels,
                                     .mounts = mounts,
                                     .mount_count = count};
    int rc = mc_container_create(engine, &spec, &id, until, err);
    if (rc == 0) {
        rc = put_owners(engine, id, count, owner, until, err);
        struct mc_err late;
        int removed = mc_container_remove(engine, id, labels, until, &late);
        if (rc == 0 && removed != 0) {
            *err = late;
            rc = removed;
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(paths[i]);
    }
    free(paths);
    free(mounts);
    return rc;
}
