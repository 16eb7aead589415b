/* libcurl, which is loaded when it is needed and not linked: it brings some thirty libraries along, which would cost
 * every start of a program milliseconds. Only the part of its interface that is used here; its numbers have not
 * changed since 2000. */
#ifndef CSNI_CURL_LIBRARY_H
#define CSNI_CURL_LIBRARY_H

#include <stdbool.h>

enum { CSNI_CURLE_OK = 0, CSNI_CURLE_FAILED_INIT = 2, CSNI_CURLE_HTTP_RETURNED_ERROR = 22 };
enum { CSNI_CURLOPT_LOW_SPEED_LIMIT = 19, CSNI_CURLOPT_LOW_SPEED_TIME = 20, CSNI_CURLOPT_NOPROGRESS = 43,
       CSNI_CURLOPT_FAILONERROR = 45, CSNI_CURLOPT_FOLLOWLOCATION = 52, CSNI_CURLOPT_MAXREDIRS = 68,
       CSNI_CURLOPT_CONNECTTIMEOUT = 78, CSNI_CURLOPT_NOSIGNAL = 99, CSNI_CURLOPT_TIMEOUT_MS = 155, CSNI_CURLOPT_PROTOCOLS = 181,
       CSNI_CURLOPT_REDIR_PROTOCOLS = 182, CSNI_CURLOPT_WRITEDATA = 10001, CSNI_CURLOPT_URL = 10002, CSNI_CURLOPT_USERPWD = 10005,
       CSNI_CURLOPT_RANGE = 10007, CSNI_CURLOPT_USERAGENT = 10018, CSNI_CURLOPT_HTTPHEADER = 10023, CSNI_CURLOPT_HEADERDATA = 10029,
       CSNI_CURLOPT_XFERINFODATA = 10057, CSNI_CURLOPT_AWS_SIGV4 = 10305, CSNI_CURLOPT_WRITEFUNCTION = 20011,
       CSNI_CURLOPT_HEADERFUNCTION = 20079, CSNI_CURLOPT_XFERINFOFUNCTION = 20219 };
enum { CSNI_CURLINFO_RESPONSE_CODE = 0x200002 };
enum { CSNI_CURLPROTO_HTTP = 1, CSNI_CURLPROTO_HTTPS = 2 };

struct csni_curl;
struct csni_curl_list;
struct csni_curl_library {
    void *handle;
    struct csni_curl *(*init)(void);
    int (*set)(struct csni_curl *curl, int option, ...);
    int (*perform)(struct csni_curl *curl);
    int (*info)(struct csni_curl *curl, int what, ...);
    const char *(*error_text)(int code);
    void (*cleanup)(struct csni_curl *curl);
    struct csni_curl_list *(*list_append)(struct csni_curl_list *list, const char *text);
    void (*list_free)(struct csni_curl_list *list);
};

/* False: there is none. */
bool csni_curl_load(struct csni_curl_library *out);
void csni_curl_unload(struct csni_curl_library *library); /* a zeroed one is fine */

#endif
