/* Loading libcurl. */
#define _GNU_SOURCE
#include "base/curl_library.h"

#include <stddef.h>
#include <string.h>

#if defined(_WIN32)
bool csni_curl_load(struct csni_curl_library *out) {
    *out = (struct csni_curl_library){ .handle = NULL };
    return false;
}

void csni_curl_unload(struct csni_curl_library *library) { (void)library; }
#else
#include <dlfcn.h>

static bool load_symbol(void *handle, const char *name, void *function) {
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol); /* POSIX promises that this gives a function pointer */
    return symbol != NULL;
}

static bool load_symbols(struct csni_curl_library *out) {
    void *handle = out->handle;
    return load_symbol(handle, "curl_easy_init", &out->init) && load_symbol(handle, "curl_easy_setopt", &out->set) &&
           load_symbol(handle, "curl_easy_perform", &out->perform) && load_symbol(handle, "curl_easy_getinfo", &out->info) &&
           load_symbol(handle, "curl_easy_strerror", &out->error_text) && load_symbol(handle, "curl_easy_cleanup", &out->cleanup) &&
           load_symbol(handle, "curl_slist_append", &out->list_append) &&
           load_symbol(handle, "curl_slist_free_all", &out->list_free);
}

bool csni_curl_load(struct csni_curl_library *out) {
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        out->handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
        if (!out->handle) continue;
        if (load_symbols(out)) return true;
        dlclose(out->handle);
    }
    *out = (struct csni_curl_library){ .handle = NULL };
    return false;
}

void csni_curl_unload(struct csni_curl_library *library) {
    if (library->handle) dlclose(library->handle);
    library->handle = NULL;
}
#endif
