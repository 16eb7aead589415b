/* What this build has. */
#include <callsign/convert.h>

#ifdef CSNI_HAVE_LIBDEFLATE
#include <libdeflate.h>
#define WITH_CRC "libdeflate " LIBDEFLATE_VERSION_STRING
#else
#define WITH_CRC "no libdeflate (checksums of debug files take longer)"
#endif
#ifdef CSNI_HAVE_ZSTD
#include <zstd.h>
#define WITH_ZSTD "zstd " ZSTD_VERSION_STRING
#else
#define WITH_ZSTD "no zstd (zstd-compressed sections are refused)"
#endif
#ifdef CSNI_HAVE_LIBLZMA
#define WITH_XZ "liblzma " CSNI_LIBLZMA_VERSION
#else
#define WITH_XZ "no liblzma (.gnu_debugdata is not read)"
#endif
#ifdef CSNI_HAVE_PCRE2
#define WITH_PATTERNS "pcre2 " CSNI_PCRE2_VERSION
#else
#define WITH_PATTERNS "no pcre2 (expressions in call sites decide nothing)"
#endif
#ifdef CSNI_HAVE_LIBYAML
#define WITH_YAML "libyaml " CSNI_LIBYAML_VERSION
#else
#define WITH_YAML "no libyaml (call sites in YAML and JSON are refused)"
#endif
#ifdef CSNI_HAVE_ZLIB
#define WITH_GZIP "zlib " CSNI_ZLIB_VERSION
#else
#define WITH_GZIP "no zlib (compressed profiles are refused)"
#endif

const char *csn_build_features(void) {
    return WITH_CRC ", " WITH_ZSTD ", " WITH_XZ ", " WITH_PATTERNS ", " WITH_YAML ", " WITH_GZIP
           ", libdebuginfod when it is needed";
}
