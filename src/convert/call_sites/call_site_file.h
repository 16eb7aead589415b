/* Call-site files: who is called from where, as people or tools wrote it. docs/merged-functions.md has the forms. */
#ifndef CSNI_CALL_SITE_FILE_H
#define CSNI_CALL_SITE_FILE_H

#include "convert/call_sites/call_site_given.h"

/* Adds the sites of a file, of whatever form. CSN_E_FORMAT names line and column; CSN_E_UNSUPPORTED: this build cannot read
 * that form. */
csn_status csni_call_site_file_read(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err);

#endif
