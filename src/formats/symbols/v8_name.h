/* Names of V8 for functions of JavaScript, in perf maps and jitdump files. */
#ifndef CSNI_V8_NAME_H
#define CSNI_V8_NAME_H

#include "base/core/span.h"

/* Splits `JS:*fib /path/j.js:1:13` into "JS:*fib", path and line: views into `text`. False: it is no such name. */
bool csni_split_v8_name(struct csn_str text, struct csn_str *name, struct csn_str *path, uint32_t *line);

#endif
