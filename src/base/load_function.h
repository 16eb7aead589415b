/* Functions of libraries that are loaded when they are needed. */
#ifndef CSNI_LOAD_FUNCTION_H
#define CSNI_LOAD_FUNCTION_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Sets the function pointer that `function` points to. False: the library, a handle of dlopen(), has none of that name. */
static inline bool csni_load_function(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol); /* POSIX promises that this gives a function pointer */
    return symbol != NULL;
}

#endif
