/* From what a caller names to the URL and the headers of requests. */
#ifndef CSNI_REMOTE_ADDRESS_H
#define CSNI_REMOTE_ADDRESS_H

#include <callsign/error.h>

enum { CSNI_REMOTE_URL_SIZE = 4096 };

/* `signature` and the rest are empty unless requests are signed for S3. */
struct csni_remote_address {
    char url[CSNI_REMOTE_URL_SIZE];
    char host_header[600];
    char signature[128];   /* aws:amz:REGION:s3 */
    char user[512];        /* KEY:SECRET */
    char token_header[4096];
    int is_bucket;
};

/* CSN_E_ARGUMENT: neither http://, https:// nor s3://BUCKET/KEY. CSN_E_LIMIT: something is too long. */
csn_status csni_remote_address_parse(const char *text, struct csni_remote_address *out, struct csn_error *err);

#endif
