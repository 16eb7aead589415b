/* Kept address indexes. */
#define _GNU_SOURCE
#include "stand_ins/address_index/kept_index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/base/answer_output.h"
#include "stand_ins/base/growth.h"

bool kept_index_open(struct kept_index *out, const char *object_path, const char *const *words, size_t count) {
    *out = (struct kept_index){ 0 };
    if (!file_identify(object_path, &out->object)) return false;
    out->object_path = copy_text(object_path, strlen(object_path));
    out->path = kept_file_path("addresses", &out->object, words, count);
    out->index = address_index_open(out->path, &out->object);
    return true;
}

void kept_index_close(struct kept_index *k) {
    address_index_close(k->index);
    free(k->object_path);
    free(k->path);
    *k = (struct kept_index){ 0 };
}

void kept_index_drop_damaged(struct kept_index *k) {
    if (!k->index || !address_index_is_damaged(k->index)) return;
    address_index_close(k->index);
    k->index = NULL;
}

void kept_index_make(struct kept_index *k, kept_index_maker *make, void *context) {
    const int lock = k->path ? kept_file_lock(k->path) : -1;
    if (lock == KEPT_LOCK_BUSY) return;
    k->index = address_index_open(k->path, &k->object);
    if (!k->index) k->index = make(context, k->path);
    k->is_given_up = !k->index;
    kept_file_unlock(lock);
}

void kept_index_make_later(struct kept_index *k, kept_index_maker *make, void *context) {
    flush_answers();
    const pid_t child = fork();
    if (child != 0) return;
    /* It holds nothing that somebody waits for. */
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) (void)dup2(null, fd);
    (void)setsid();
    kept_index_make(k, make, context);
    _exit(0);
}
