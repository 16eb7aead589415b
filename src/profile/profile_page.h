/* The page that profiles are put into, at "@DATA@". */
#ifndef CSNI_PROFILE_PAGE_H
#define CSNI_PROFILE_PAGE_H

#include <stddef.h>

extern const unsigned char csni_profile_page[];
extern const size_t csni_profile_page_size;

#endif
