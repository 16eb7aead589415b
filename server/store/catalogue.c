/* The catalogue of a store, in SQLite. */
#define _GNU_SOURCE
#include "store/catalogue.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_TIMEOUT_MS = 10000, KEY_COUNT = CATALOGUE_PATH + 1 };

#define COLUMNS "path,kind,build_id,debug_id,code_id,htlhash,name,arch,source,image_base,bytes,modified,container"

static const char schema[] =
    "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS files(path TEXT PRIMARY KEY,kind INTEGER NOT NULL,build_id TEXT,debug_id TEXT,code_id TEXT,"
    "htlhash TEXT,name TEXT,arch TEXT,source TEXT,image_base INTEGER,bytes INTEGER,modified INTEGER,container INTEGER) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS by_build_id ON files(build_id);CREATE INDEX IF NOT EXISTS by_debug_id ON files(debug_id);"
    "CREATE INDEX IF NOT EXISTS by_code_id ON files(code_id);CREATE INDEX IF NOT EXISTS by_htlhash ON files(htlhash);"
    "CREATE INDEX IF NOT EXISTS by_name ON files(name);";

static const char *const key_columns[KEY_COUNT] = { "build_id", "debug_id", "code_id", "htlhash", "name", "path" };

struct catalogue {
    sqlite3 *db;
    sqlite3_stmt *put, *remove, *find[KEY_COUNT];
    pthread_mutex_t lock; /* the statements are shared */
};

void catalogue_close(struct catalogue *catalogue) {
    if (!catalogue) return;
    sqlite3_finalize(catalogue->put);
    sqlite3_finalize(catalogue->remove);
    for (int i = 0; i < KEY_COUNT; i++) sqlite3_finalize(catalogue->find[i]);
    sqlite3_close(catalogue->db);
    pthread_mutex_destroy(&catalogue->lock);
    free(catalogue);
}

static bool prepare(struct catalogue *c, const char *sql, sqlite3_stmt **out) {
    return sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK;
}

static bool prepare_all(struct catalogue *c) {
    char sql[256];
    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(sql, sizeof(sql), "SELECT " COLUMNS " FROM files WHERE %s=?1 AND kind&?2 LIMIT ?3", key_columns[i]);
        if (!prepare(c, sql, &c->find[i])) return false;
    }
    return prepare(c, "INSERT OR REPLACE INTO files(" COLUMNS ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)", &c->put) &&
           prepare(c, "DELETE FROM files WHERE path=?1", &c->remove);
}

static bool open_database(struct catalogue *c, const char *path) {
    if (sqlite3_open_v2(path, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK)
        return false;
    sqlite3_busy_timeout(c->db, BUSY_TIMEOUT_MS);
    return sqlite3_exec(c->db, schema, NULL, NULL, NULL) == SQLITE_OK && prepare_all(c);
}

/* A database that cannot be read holds nothing that the files do not. */
static void move_away(const char *path) {
    char other[STORE_PATH_SIZE * 2];
    static const char *const endings[] = { "", "-wal", "-shm" };
    for (size_t i = 0; i < 3; i++) {
        snprintf(other, sizeof(other), "%s%s", path, endings[i]);
        if (i) unlink(other);
    }
    snprintf(other, sizeof(other), "%s.damaged", path);
    rename(path, other);
}

static struct catalogue *open_once(const char *path, bool *is_damaged, char *why, size_t why_size) {
    struct catalogue *c = calloc(1, sizeof(*c));
    if (!c) return NULL;
    pthread_mutex_init(&c->lock, NULL);
    if (open_database(c, path)) return c;
    int code = c->db ? sqlite3_errcode(c->db) : SQLITE_NOMEM;
    *is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
    snprintf(why, why_size, "%s: %s", path, c->db ? sqlite3_errmsg(c->db) : "out of memory");
    catalogue_close(c);
    return NULL;
}

int catalogue_open(const char *path, struct catalogue **out, bool *is_new, char *why, size_t why_size) {
    bool is_damaged = false;
    *is_new = access(path, F_OK) != 0;
    *out = open_once(path, &is_damaged, why, why_size);
    if (*out || !is_damaged) return *out ? 0 : -1;
    move_away(path);
    *is_new = true;
    *out = open_once(path, &is_damaged, why, why_size);
    return *out ? 0 : -1;
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text) {
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static int run_once(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

int catalogue_put(struct catalogue *c, const struct artifact *a) {
    pthread_mutex_lock(&c->lock);
    const char *const texts[] = { a->build_id, a->debug_id, a->code_id, a->htlhash, a->name, a->arch, a->source };
    bind_text(c->put, 1, a->path);
    sqlite3_bind_int64(c->put, 2, a->kind);
    for (int i = 0; i < 7; i++) bind_text(c->put, 3 + i, texts[i]);
    sqlite3_bind_int64(c->put, 10, (sqlite3_int64)a->image_base);
    sqlite3_bind_int64(c->put, 11, (sqlite3_int64)a->bytes);
    sqlite3_bind_int64(c->put, 12, a->modified_ns);
    sqlite3_bind_int64(c->put, 13, a->container);
    int result = run_once(c->put);
    pthread_mutex_unlock(&c->lock);
    return result;
}

int catalogue_remove(struct catalogue *c, const char *path) {
    pthread_mutex_lock(&c->lock);
    bind_text(c->remove, 1, path);
    int result = run_once(c->remove);
    pthread_mutex_unlock(&c->lock);
    return result;
}

static int execute(struct catalogue *c, const char *sql) {
    pthread_mutex_lock(&c->lock);
    int result = sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
    pthread_mutex_unlock(&c->lock);
    return result;
}

int catalogue_begin(struct catalogue *c) { return execute(c, "BEGIN IMMEDIATE"); }
int catalogue_commit(struct catalogue *c) { return execute(c, "COMMIT"); }

static void take_text(sqlite3_stmt *row, int at, char *out, size_t size) {
    const unsigned char *text = sqlite3_column_text(row, at);
    snprintf(out, size, "%s", text ? (const char *)text : "");
}

static void take_row(sqlite3_stmt *row, struct artifact *a) {
    take_text(row, 0, a->path, sizeof(a->path));
    a->kind = (uint32_t)sqlite3_column_int64(row, 1);
    take_text(row, 2, a->build_id, sizeof(a->build_id));
    take_text(row, 3, a->debug_id, sizeof(a->debug_id));
    take_text(row, 4, a->code_id, sizeof(a->code_id));
    take_text(row, 5, a->htlhash, sizeof(a->htlhash));
    take_text(row, 6, a->name, sizeof(a->name));
    take_text(row, 7, a->arch, sizeof(a->arch));
    take_text(row, 8, a->source, sizeof(a->source));
    a->image_base = (uint64_t)sqlite3_column_int64(row, 9);
    a->bytes = (uint64_t)sqlite3_column_int64(row, 10);
    a->modified_ns = sqlite3_column_int64(row, 11);
    a->container = (uint32_t)sqlite3_column_int64(row, 12);
}

int catalogue_find(struct catalogue *c, enum catalogue_key key, const char *value, uint32_t kinds, struct artifact *out, int cap) {
    if (!*value) return 0;
    pthread_mutex_lock(&c->lock);
    sqlite3_stmt *find = c->find[key];
    bind_text(find, 1, value);
    sqlite3_bind_int64(find, 2, kinds);
    sqlite3_bind_int(find, 3, cap);
    int count = 0, code;
    while ((code = sqlite3_step(find)) == SQLITE_ROW && count < cap) take_row(find, &out[count++]);
    sqlite3_reset(find);
    pthread_mutex_unlock(&c->lock);
    return code == SQLITE_DONE || code == SQLITE_ROW ? count : -1;
}

int catalogue_walk(struct catalogue *c, catalogue_visit *visit, void *context) {
    sqlite3_stmt *all = NULL;
    struct artifact artifact;
    if (!prepare(c, "SELECT " COLUMNS " FROM files ORDER BY path", &all)) return -1;
    int code;
    while ((code = sqlite3_step(all)) == SQLITE_ROW) {
        take_row(all, &artifact);
        if (!visit(context, &artifact)) break;
    }
    sqlite3_finalize(all);
    return code == SQLITE_DONE || code == SQLITE_ROW ? 0 : -1;
}

int64_t catalogue_count(struct catalogue *c) {
    sqlite3_stmt *count = NULL;
    int64_t result = -1;
    if (prepare(c, "SELECT COUNT(*) FROM files", &count) && sqlite3_step(count) == SQLITE_ROW)
        result = sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    return result;
}
