/* Names that stand for a descriptor of this process, as /dev/stdout does. */
#ifndef CSNI_DESCRIPTOR_PATH_H
#define CSNI_DESCRIPTOR_PATH_H

/* -1: `path` is no such name. A file behind the descriptor may have been written to before, and be written to after: it is not one
 * to be replaced. */
int csni_descriptor_of_path(const char *path);
/* Another descriptor of the same file and place, closed on exec; -1, with errno. */
int csni_descriptor_copy(int descriptor);

#endif
