/* Who may do what: tokens of tenants. Any thread. */
#ifndef CALLSIGN_SERVER_TOKENS_H
#define CALLSIGN_SERVER_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/settings.h"

enum scope { SCOPE_READ = 1, SCOPE_SYMBOLICATE = 2, SCOPE_UPLOAD = 4 };

struct tokens;
/* Reads the files of tokens that the settings name. NULL with a message where one cannot be read. */
struct tokens *tokens_load(const struct settings *settings, char *why, size_t why_size);
void tokens_free(struct tokens *tokens); /* NULL is fine */
/* Reads the files again; keeps what it has where one cannot be read. */
bool tokens_reload(struct tokens *tokens, const struct settings *settings, char *why, size_t why_size);

enum token_answer { TOKEN_GOOD, TOKEN_MISSING, TOKEN_WRONG, TOKEN_DISABLED };
/* `header`: the value of Authorization, or NULL. The tenant's name goes to `tenant`. TOKEN_DISABLED: nobody may. */
enum token_answer tokens_check(struct tokens *tokens, enum scope scope, const char *header, char *tenant, size_t tenant_size);

#endif
