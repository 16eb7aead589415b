/* Paths of the trees that symbol stores keep files in: client-protocols 13. */
#ifndef CALLSIGN_SERVER_LAYOUT_H
#define CALLSIGN_SERVER_LAYOUT_H

#include "store/artifact.h"

enum layout { LAYOUT_BUILD_ID, LAYOUT_DEBUGINFOD, LAYOUT_UNIFIED, LAYOUT_BREAKPAD, LAYOUT_SSQP };

bool layout_find(const char *name, enum layout *out);
/* Where a file is written. PDBs, PE images and Breakpad files without a build id always have the path of symbol servers. False: it
 * has no name and no id, or the path is too long. */
bool layout_path(enum layout layout, const struct artifact *artifact, char out[STORE_PATH_SIZE]);

/* What a path of any of the trees asks for. Exactly one of the ids is set. */
struct tree_query {
    uint32_t kinds;              /* bits of enum artifact_kind that answer; 0: the section `section` */
    char build_id[ID_TEXT_SIZE];
    char debug_id[DEBUG_ID_SIZE];
    char code_id[ID_TEXT_SIZE];
    char name[NAME_SIZE];        /* of the image, as the path spells it; empty: it does not */
    bool is_meta;                /* unified: the description of the file as JSON */
};
/* `path` without a leading '/'. False: no such tree, or an id that is none. */
bool tree_query_parse(const char *path, struct tree_query *out);

/* The paths at which other stores may have what a query asks for, the likeliest first; returns how many. */
enum { MOST_TREE_PATHS = 8 };
size_t tree_query_paths(const struct tree_query *query, char out[MOST_TREE_PATHS][STORE_PATH_SIZE]);

#endif
