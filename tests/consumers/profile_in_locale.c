/* Reads a profile and writes it in a program whose locale has another decimal point, as programs with windows have it. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include <callsign/profile.h>

int main(int argc, char **argv) {
    struct csn_profile_options create = CSN_PROFILE_OPTIONS_INIT;
    struct csn_profile_write_options write = CSN_PROFILE_WRITE_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_profile *profile;
    if (argc != 3 || !setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, ",") != 0) return 3;
    write.flags = CSN_PROFILE_PLAIN;
    csn_status status = csn_profile_create(&create, &profile, &err);
    if (status >= 0) status = csn_profile_read_file(profile, CSN_PROFILE_DETECT, argv[1], &err);
    if (status >= 0) status = csn_profile_write_file(profile, CSN_PROFILE_PPROF, argv[2], &write, &err);
    if (status < 0) fprintf(stderr, "%s\n", csn_error_text(&err));
    csn_profile_destroy(profile);
    return status < 0;
}
