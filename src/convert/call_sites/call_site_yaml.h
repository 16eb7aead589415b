/* Call-site files in YAML or JSON. */
#ifndef CSNI_CALL_SITE_YAML_H
#define CSNI_CALL_SITE_YAML_H

#include "convert/call_sites/call_site_given.h"

csn_status csni_call_site_yaml_read(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err);

#endif
