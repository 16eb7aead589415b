/* No libraries are loaded here. */
#ifndef CALLSIGN_WEB_DLFCN_H
#define CALLSIGN_WEB_DLFCN_H

#include <stddef.h>

#define RTLD_NOW 2
#define RTLD_LAZY 1
#define RTLD_LOCAL 0
#define dlopen(name, flags) ((void)(name), (void *)NULL)
#define dlsym(library, name) ((void)(library), (void)(name), (void *)NULL)
#define dlclose(library) ((void)(library), 0)
#define dlerror() "no libraries are loaded here"

#endif
