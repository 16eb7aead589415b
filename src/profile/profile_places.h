/* Where locations are in their images and in the images' files: the numbers of inputs count from different places, and so do
 * those of outputs. */
#ifndef CSNI_PROFILE_PLACES_H
#define CSNI_PROFILE_PLACES_H

#include "base/core/image_base.h"
#include "profile/profile_private.h"

/* Whether an offset from the image's first byte may be one: what only an address of the image can be was written without knowing
 * where that begins. */
bool csni_profile_is_offset(const struct profile_layout *layout, uint64_t offset);

/* No address of the image is below its first byte: such a number counts from there. */
static inline bool csni_profile_is_below(const struct profile_layout *layout, uint64_t addr) {
    return layout->base >= CSNI_LOWEST_IMAGE && addr < layout->base;
}

/* Whether it is a pc of a mapping that tells where its byte is in the file. */
bool csni_profile_is_mapped(const struct csn_profile *profile, const struct profile_location *location);

/* Whether pcs of the mapping are offsets in the file: it begins at its own file offset, outside of the kernel. */
bool csni_profile_counts_in_file(const struct profile_module *module);
/* The address of a byte of the file, by the image's headers. False: they do not tell. */
bool csni_profile_file_address(const struct csn_profile *profile, const struct profile_layout *layout, uint64_t file_off,
                               uint64_t *out);

/* These give its place as the formats have it: callers' return addresses in texts, places within the calls elsewhere. What
 * is not known of an image leaves the number that says the same if the image is linked at 0 and lies in memory as in its file. */

/* pprof and OTLP: a pc of the module's mapping, or an address of the image where that is not known. */
uint64_t csni_profile_mapped_place(const struct csn_profile *profile, const struct profile_location *location);
/* Firefox: from the image's first byte. */
uint64_t csni_profile_offset_place(const struct csn_profile *profile, const struct profile_location *location);
/* perf: the offset in a file that has a path, else the address of the image. */
uint64_t csni_profile_perf_place(const struct csn_profile *profile, const struct profile_location *location, bool is_caller);
/* Folded stacks: the address of the image, or, where only that is known, the offset in its file. */
uint64_t csni_profile_folded_place(const struct csn_profile *profile, const struct profile_location *location, bool is_caller,
                                   bool *is_in_file);

#endif
