/* Tokens, from files of one a line. */
#define _GNU_SOURCE
#include "http/tokens.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct token {
    char *text;
    size_t size;
    unsigned scopes;
    char tenant[64];
};
struct token_list {
    struct token *items;
    size_t count;
    bool reading_needs_token;
};
struct tokens {
    pthread_rwlock_t lock;
    struct token_list list;
};

static void free_list(struct token_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].text);
    free(list->items);
    *list = (struct token_list){ 0 };
}

static bool add_token(struct token_list *list, const char *text, size_t size, unsigned scopes, const char *tenant) {
    struct token *grown = reallocarray(list->items, list->count + 1, sizeof(*grown));
    if (!grown) return false;
    list->items = grown;
    struct token *token = &grown[list->count];
    *token = (struct token){ strndup(text, size), size, scopes, "" };
    snprintf(token->tenant, sizeof(token->tenant), "%s", tenant);
    if (!token->text) return false;
    list->count++;
    return true;
}

static bool read_tokens(struct token_list *list, const char *path, unsigned scopes, const char *tenant, char *why,
                        size_t why_size) {
    char *line = NULL;
    size_t cap = 0;
    ssize_t size;
    bool worked = true;
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(why, why_size, "%s: %s", path, strerror(errno));
        return false;
    }
    while (worked && (size = getline(&line, &cap, file)) >= 0) {
        while (size && (line[size - 1] == '\n' || line[size - 1] == '\r' || line[size - 1] == ' ')) size--;
        if (size && line[0] != '#') worked = add_token(list, line, (size_t)size, scopes, tenant);
    }
    if (ferror(file)) worked = false;
    if (!worked) snprintf(why, why_size, "%s: cannot be read", path);
    free(line);
    fclose(file);
    return worked;
}

static unsigned scopes_of(const char *text) {
    unsigned scopes = 0;
    if (strstr(text, "read")) scopes |= SCOPE_READ;
    if (strstr(text, "symbolicate")) scopes |= SCOPE_SYMBOLICATE;
    if (strstr(text, "upload")) scopes |= SCOPE_UPLOAD;
    return scopes;
}

static bool read_all(const struct settings *s, struct token_list *list, char *why, size_t why_size) {
    unsigned all = SCOPE_READ | SCOPE_SYMBOLICATE;
    list->reading_needs_token = *s->read_token_file || s->tenant_count;
    if (*s->upload_token_file && !read_tokens(list, s->upload_token_file, all | SCOPE_UPLOAD, "upload", why, why_size))
        return false;
    if (*s->read_token_file && !read_tokens(list, s->read_token_file, all, "read", why, why_size)) return false;
    for (uint32_t i = 0; i < s->tenant_count; i++) {
        const struct tenant_setting *tenant = &s->tenants[i];
        if (!*tenant->token_file) {
            snprintf(why, why_size, "[tenant %s] has no token-file", tenant->name);
            return false;
        }
        if (!read_tokens(list, tenant->token_file, scopes_of(tenant->scopes), tenant->name, why, why_size)) return false;
    }
    return true;
}

struct tokens *tokens_load(const struct settings *settings, char *why, size_t why_size) {
    struct tokens *tokens = calloc(1, sizeof(*tokens));
    if (!tokens) return NULL;
    pthread_rwlock_init(&tokens->lock, NULL);
    if (read_all(settings, &tokens->list, why, why_size)) return tokens;
    tokens_free(tokens);
    return NULL;
}

void tokens_free(struct tokens *tokens) {
    if (!tokens) return;
    free_list(&tokens->list);
    pthread_rwlock_destroy(&tokens->lock);
    free(tokens);
}

bool tokens_reload(struct tokens *tokens, const struct settings *settings, char *why, size_t why_size) {
    struct token_list list = { 0 };
    if (!read_all(settings, &list, why, why_size)) {
        free_list(&list);
        return false;
    }
    pthread_rwlock_wrlock(&tokens->lock);
    struct token_list old = tokens->list;
    tokens->list = list;
    pthread_rwlock_unlock(&tokens->lock);
    free_list(&old);
    return true;
}

/* The time does not depend on where the first difference is. */
static bool is_same(const char *a, size_t a_size, const char *b, size_t b_size) {
    unsigned difference = a_size != b_size;
    for (size_t i = 0; i < a_size; i++) difference |= (unsigned)(a[i] ^ b[b_size ? i % b_size : 0]);
    return difference == 0 && b_size;
}

static enum token_answer check_locked(const struct token_list *list, enum scope scope, const char *header, char *tenant,
                                      size_t tenant_size) {
    bool is_possible = scope != SCOPE_UPLOAD && !list->reading_needs_token;
    const char *given = header && strncasecmp(header, "Bearer ", 7) == 0 ? header + 7 : NULL;
    enum token_answer answer = is_possible ? TOKEN_GOOD : TOKEN_DISABLED;
    for (size_t i = 0; i < list->count; i++) {
        const struct token *token = &list->items[i];
        if (answer == TOKEN_DISABLED && token->scopes & scope) answer = given ? TOKEN_WRONG : TOKEN_MISSING;
        if (!given || !is_same(given, strlen(given), token->text, token->size) || !(token->scopes & scope)) continue;
        snprintf(tenant, tenant_size, "%s", token->tenant);
        answer = TOKEN_GOOD;
    }
    return answer;
}

enum token_answer tokens_check(struct tokens *tokens, enum scope scope, const char *header, char *tenant, size_t tenant_size) {
    pthread_rwlock_rdlock(&tokens->lock);
    enum token_answer answer = check_locked(&tokens->list, scope, header, tenant, tenant_size);
    pthread_rwlock_unlock(&tokens->lock);
    return answer;
}
