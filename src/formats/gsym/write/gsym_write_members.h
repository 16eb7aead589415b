/* The members of an archive in a file that is being written. */
#ifndef CSNI_GSYM_WRITE_MEMBERS_H
#define CSNI_GSYM_WRITE_MEMBERS_H

#include "model/image.h"

/* Bytes that they take; 0: the image is no archive. */
uint64_t csni_gsym_members_size(const struct csni_image *image);
/* `p`: so many bytes, all zero. */
void csni_gsym_fill_members(const struct csni_image *image, uint8_t *p, bool big);

#endif
