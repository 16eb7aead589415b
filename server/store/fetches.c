/* Fetches from remotes. */
#define _GNU_SOURCE
#include "store/fetches.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_FETCHES = 256, MISS_SLOTS = 4096 };

struct fetches {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    char keys[MOST_FETCHES][FETCH_KEY_SIZE]; /* under way; empty: free */
    struct { char key[FETCH_KEY_SIZE]; time_t until; } misses[MISS_SLOTS];
    time_t paused_until[FETCH_MOST_REMOTES];
};

int64_t fetches_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static time_t clock_s(void) { return (time_t)(fetches_clock_ms() / 1000); }

struct fetches *fetches_create(void) {
    struct fetches *fetches = calloc(1, sizeof(*fetches));
    if (!fetches) return NULL;
    pthread_mutex_init(&fetches->lock, NULL);
    pthread_cond_init(&fetches->ended, NULL);
    return fetches;
}

void fetches_free(struct fetches *fetches) {
    if (!fetches) return;
    pthread_cond_destroy(&fetches->ended);
    pthread_mutex_destroy(&fetches->lock);
    free(fetches);
}

/* ---- under way ---- */

static int find_key(const struct fetches *fetches, const char *key) {
    for (int i = 0; i < MOST_FETCHES; i++)
        if (strcmp(fetches->keys[i], key) == 0) return i;
    return -1;
}

int fetches_begin(struct fetches *fetches, const char *key) {
    int slot = -1;
    pthread_mutex_lock(&fetches->lock);
    while (find_key(fetches, key) >= 0 || (slot = find_key(fetches, "")) < 0) pthread_cond_wait(&fetches->ended, &fetches->lock);
    snprintf(fetches->keys[slot], FETCH_KEY_SIZE, "%s", key);
    pthread_mutex_unlock(&fetches->lock);
    return slot;
}

void fetches_end(struct fetches *fetches, int slot) {
    pthread_mutex_lock(&fetches->lock);
    fetches->keys[slot][0] = 0;
    pthread_cond_broadcast(&fetches->ended);
    pthread_mutex_unlock(&fetches->lock);
}

/* ---- what remotes did not have ---- */

static size_t miss_slot(const char *key) { return (size_t)(text_hash(key, strlen(key)) >> 32) % MISS_SLOTS; }

bool fetches_is_miss(struct fetches *fetches, const char *key) {
    size_t slot = miss_slot(key);
    pthread_mutex_lock(&fetches->lock);
    bool known = fetches->misses[slot].until > clock_s() && strcmp(fetches->misses[slot].key, key) == 0;
    pthread_mutex_unlock(&fetches->lock);
    return known;
}

void fetches_add_miss(struct fetches *fetches, const char *key, uint32_t seconds) {
    size_t slot = miss_slot(key);
    pthread_mutex_lock(&fetches->lock);
    snprintf(fetches->misses[slot].key, FETCH_KEY_SIZE, "%s", key);
    fetches->misses[slot].until = clock_s() + seconds;
    pthread_mutex_unlock(&fetches->lock);
}

void fetches_forget_misses(struct fetches *fetches) {
    if (!fetches) return;
    pthread_mutex_lock(&fetches->lock);
    for (size_t i = 0; i < MISS_SLOTS; i++) fetches->misses[i].until = 0;
    pthread_mutex_unlock(&fetches->lock);
}

/* ---- who does not answer ---- */

bool fetches_is_paused(struct fetches *fetches, size_t remote) {
    pthread_mutex_lock(&fetches->lock);
    bool paused = remote < FETCH_MOST_REMOTES && fetches->paused_until[remote] > clock_s();
    pthread_mutex_unlock(&fetches->lock);
    return paused;
}

void fetches_pause(struct fetches *fetches, size_t remote, time_t seconds) {
    pthread_mutex_lock(&fetches->lock);
    if (remote < FETCH_MOST_REMOTES) fetches->paused_until[remote] = clock_s() + seconds;
    pthread_mutex_unlock(&fetches->lock);
}
