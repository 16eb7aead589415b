/* Libraries of Firefox profiles: what they tell of themselves, and what their ids are made of. */
#ifndef CSNI_FIREFOX_LIBS_H
#define CSNI_FIREFOX_LIBS_H

#include "profile/profile_private.h"

/* Texts of profile_module.lib and profile_system, in the order in which they are written. */
enum { LIB_NAME, LIB_PATH, LIB_DEBUG_NAME, LIB_DEBUG_PATH, LIB_BREAKPAD_ID, LIB_CODE_ID, LIB_ARCH };
_Static_assert(LIB_ARCH + 1 == PROFILE_LIB_TEXTS, "a key for each text");
extern const char *const csni_firefox_lib_keys[PROFILE_LIB_TEXTS];
extern const char *const csni_firefox_system_keys[PROFILE_SYSTEM_TEXTS];

enum firefox_lib_kind { LIBS_UNKNOWN, LIBS_ELF, LIBS_MACHO, LIBS_PE };

/* By what meta tells of the system. */
enum firefox_lib_kind csni_firefox_system_kind(const struct csn_profile *profile, const struct profile_system *system);
/* Of a library of such a system. */
enum firefox_lib_kind csni_firefox_lib_kind(enum firefox_lib_kind system, struct csn_str path, struct csn_str debug_name);

#endif
