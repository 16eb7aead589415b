/* Opening what a command is given. */
#define _GNU_SOURCE
#include "input/open_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <callsign/identity.h>
#include <callsign/remote.h>

#include "convert/conversion_text.h"
#include "ui/cli_message.h"
#include "ui/progress_bar.h"

/* ---- the file ---- */

bool input_file_open(const char *path, struct input_file *out) {
    struct csn_error err = CSN_ERROR_INIT;
    *out = (struct input_file){ .path = path };
    csn_status status = csn_file_open(path, &out->file, &err);
    if (status < 0 && err.os_error == EISDIR) return true;
    if (status < 0) {
        cli_error_status(path, status, &err);
        return false;
    }
    out->bytes = csn_file_bytes(out->file);
    out->size = csn_file_size(out->file);
    if (out->size) return true;
    cli_error(path, "the file is empty");
    input_file_close(out);
    return false;
}

void input_file_close(struct input_file *input) {
    csn_file_close(input->file);
    *input = (struct input_file){ 0 };
}

/* ---- the index ---- */

/* What a stripped image lacks. A failure is one line: CSN_NONE, with that message. */
static csn_status report_missing(csn_status status, const char *path, const struct companion_search *search,
                                 const struct companion_values *companions, const struct csn_error *err) {
    struct missing_text text;
    const char *missing = companion_search_missing(search, companions, &text);
    if (!missing) return status;
    if (status == CSN_OK) cli_report("%s: no debug information, symbols only; %s", path, missing);
    if (status != CSN_E_NOT_FOUND) return status;
    cli_error(path, "%s; %s", csn_error_text(err), missing);
    return CSN_NONE;
}

static csn_status convert_in_memory(const struct companion_values *companions, uint32_t flags, uint32_t merged,
                                    struct opened_index *out, struct csn_error *err) {
    const char *path = out->input.path;
    struct csn_convert_report *report = calloc(1, sizeof(*report));
    if (!report) return CSN_E_MEMORY;
    struct progress_bar bar;
    struct companion_search search;
    progress_begin(&bar, false);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.progress = progress_step;
    options.progress_context = &bar;
    options.flags = flags;
    options.merged_functions = merged;
    options.input = out->input.file;
    const char *const outputs[] = { companions->output, NULL };
    csn_status status = companion_search_begin(&search, companions, outputs, &bar, &options, err);
    if (status >= 0) status = csn_convert_file_to_memory(path, &options, &out->bytes, report, err);
    progress_end(&bar);
    if (conversion_has_symbols_only(report)) status = report_missing(status, path, &search, companions, err);
    companion_search_end(&search);
    progress_pass_on_signal();
    if (status == CSN_OK) {
        conversion_report_damage(path, report);
        out->partial = conversion_is_partial(report);
        status = csn_index_open_memory(out->bytes.ptr, out->bytes.size, NULL, &out->index, err);
    }
    out->report = report;
    return status;
}

/* What the opener reports of an image without debug information, as the search of a conversion does. */
static csn_status report_opened(csn_status status, const struct csn_opened *opened, const char *path,
                                const struct companion_values *companions, const struct csn_error *err) {
    struct companion_search missing = { .is_missing = true };
    for (size_t i = 0; i < opened->build_id_size; i++) snprintf(missing.build_id + 2 * i, 3, "%02x", opened->build_id[i]);
    snprintf(missing.link_name, sizeof(missing.link_name), "%s", opened->link_name);
    return report_missing(status, path, &missing, companions, err);
}

static csn_status open_by_search(const struct companion_values *companions, struct symbol_search *search,
                                 struct opened_index *out, struct csn_error *err) {
    const char *path = out->input.path;
    struct csn_convert_report *report = calloc(1, sizeof(*report));
    struct csn_opened opened = CSN_OPENED_INIT;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    if (!report) return CSN_E_MEMORY;
    options.arch = companions->arch;
    progress_begin(&search->bar, false);
    csn_status status = csn_opener_open(search->opener, path, out->input.file, &options, &out->index, &opened, report, err);
    progress_end(&search->bar);
    if (opened.flags & CSN_OPENED_SYMBOLS_ONLY) status = report_opened(status, &opened, path, companions, err);
    progress_pass_on_signal();
    if (status == CSN_OK && opened.flags & CSN_OPENED_CONVERTED) {
        conversion_report_damage(path, report);
        out->partial = conversion_is_partial(report);
    }
    free(report);
    return status;
}

/* Whatever the options say beside the opener's own places makes another index than the cache keeps. */
static bool is_for_search(const struct companion_values *companions, const struct symbol_search *search) {
    return search && symbol_search_is_on(search) && !companions->none && !companions->debug_file && !companions->packages.count
           && !companions->dwo_dirs.count && !companions->object_prefix;
}

static csn_status open_image(const struct companion_values *companions, struct symbol_search *search, struct opened_index *out,
                             struct csn_error *err) {
    struct companion_values values = *companions;
    values.offline = search && search->offline;
    if (!is_for_search(companions, search)) return convert_in_memory(&values, 0, CSN_MERGE_NONE, out, err);
    return symbol_search_start(search) ? open_by_search(&values, search, out, err) : CSN_NONE;
}

/* ---- options that an input has no use for ---- */

static const char *debug_option(const struct companion_values *companions) {
    return companions->debug_file ? "--debug-file" : companions->packages.count ? "--dwp" : NULL;
}

bool options_fit_index(const char *path, const struct companion_values *companions) {
    const char *option = debug_option(companions);
    if (companions->arch) cli_error(path, "is an index of one image: option '--arch' goes with universal files");
    else if (option) cli_error(path, "is an index: option '%s' goes with what is to be converted", option);
    return !option && !companions->arch;
}

static bool begins_with(const struct input_file *input, const char *magic) {
    const size_t len = strlen(magic);
    return input->size >= len && memcmp(input->bytes, magic, len) == 0;
}

enum input_nature input_nature_of(const struct input_file *input) {
    struct csn_identity identity;
    if (!input->file) return INPUT_OBJECT;
    if (begins_with(input, "MODULE ") || csn_is_index(input->bytes, input->size)) return INPUT_INDEX;
    if (begins_with(input, "!<arch>\n") || begins_with(input, "!<thin>\n")) return INPUT_OBJECT;
    if (!csn_is_input(input->bytes, input->size)) return INPUT_OBJECT;
    csn_status status = csn_identify_memory(input->bytes, input->size, &identity, sizeof(identity), NULL);
    if (status < 0 && status != CSN_E_UNSUPPORTED) return INPUT_OBJECT; /* of several images, or damaged */
    return identity.container == CSN_IDENTITY_PDB ? INPUT_PDB : identity.container ? INPUT_OBJECT : INPUT_LIST;
}

const char *input_nature_text(enum input_nature nature) {
    static const char *const texts[] = { "an object file", "an index", "a program database", "a list of symbols" };
    return texts[nature];
}

/* A list of symbols has no image, and nothing but an object file has debug information elsewhere. */
bool options_fit_input(const struct input_file *input, const struct companion_values *companions) {
    const char *option = debug_option(companions);
    if (!option && !companions->arch) return true;
    const enum input_nature nature = input_nature_of(input);
    if (nature == INPUT_INDEX) return options_fit_index(input->path, companions);
    if (companions->arch && !input_takes_arch(nature))
        cli_error(input->path, "is %s: option '--arch' goes with universal files", input_nature_text(nature));
    else if (option && nature != INPUT_OBJECT)
        cli_error(input->path, "is %s: option '%s' goes with object files", input_nature_text(nature), option);
    else return true;
    return false;
}

/* An index in a section answers alone, whatever debug information there is elsewhere. */
bool options_fit_embedded(const char *path, const struct companion_values *companions) {
    const char *option = debug_option(companions);
    if (option) cli_error(path, "carries an index: option '%s' goes with what is to be converted", option);
    return !option;
}

/* An index in a section of a thin file is that of its image. */
bool arch_fits(const struct input_file *input, const char *arch) {
    struct csn_image_info image;
    size_t count;
    if (!arch || csn_image_list_memory(input->bytes, input->size, &image, 1, &count, NULL) < 0 || count != 1) return true;
    if (!image.arch[0] || strcmp(image.arch, arch) == 0) return true;
    cli_error(input->path, "no image for '%s'; the file has %s", arch, image.arch);
    return false;
}

/* OUT-manifest.json of an index in segments. */
static bool lists_segments(const struct input_file *input) {
    static const char head[] = "{\"segment_size\":";
    return input->size >= sizeof(head) - 1 && memcmp(input->bytes, head, sizeof(head) - 1) == 0;
}

/* CSN_NONE: there is no index, with a message. */
static csn_status open_input(const struct companion_values *companions, struct symbol_search *search, struct opened_index *out,
                             struct csn_error *err) {
    const struct input_file *input = &out->input;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.arch = companions->arch;
    if (!input->file) return open_image(companions, search, out, err);
    if (!options_fit_input(input, companions)) return CSN_NONE;
    if (csn_is_index(input->bytes, input->size))
        return csn_index_open_memory(input->bytes, input->size, NULL, &out->index, err);
    if (!csn_is_input(input->bytes, input->size)) {
        cli_error(input->path, "%s",
                  lists_segments(input)
                      ? "lists the segments of an index: only lookup reads it, under a name that ends in -manifest.json"
                      : "neither an index nor an object file");
        return CSN_NONE;
    }
    if (!arch_fits(input, companions->arch)) return CSN_NONE;
    csn_status status = csn_index_open_embedded_memory(input->bytes, input->size, &options, &out->index, err);
    if (status == CSN_NONE) return open_image(companions, search, out, err);
    return status < 0 || options_fit_embedded(input->path, companions) ? status : CSN_NONE;
}

static bool finish_opening(csn_status status, const struct csn_error *err, struct opened_index *out) {
    if (status == CSN_OK) return true;
    if (status < 0) cli_error_status(out->input.path, status, err);
    close_index(out);
    return false;
}

bool open_remote_index(const char *url, const struct companion_values *companions, struct opened_index *out) {
    *out = (struct opened_index){ 0 };
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_remote_options options = CSN_REMOTE_OPTIONS_INIT;
    out->input.path = url;
    if (!options_fit_index(url, companions)) return false;
    options.timeout_ms = companions->timeout_s * 1000;
    options.whole_bytes = companions->max_download;
    return finish_opening(csn_index_open_remote(url, &options, &out->index, &err), &err, out);
}

bool input_is_remote(const char *path) {
    if (!strchr(path, ':')) return false;
    return strncasecmp(path, "http://", 7) == 0 || strncasecmp(path, "https://", 8) == 0 || strncasecmp(path, "s3://", 5) == 0;
}

bool open_index_through(const char *path, const struct companion_values *companions, struct symbol_search *search,
                        struct opened_index *out) {
    *out = (struct opened_index){ 0 };
    struct csn_error err = CSN_ERROR_INIT;
    if (!input_file_open(path, &out->input)) return false;
    return finish_opening(open_input(companions, search, out, &err), &err, out);
}

bool open_index(const char *path, const struct companion_values *companions, struct opened_index *out) {
    return open_index_through(path, companions, NULL, out);
}

/* Without the options that only the other one has a use for. */
static struct companion_values values_of_side(const struct companion_values *companions, enum input_nature own,
                                              enum input_nature other) {
    struct companion_values values = *companions;
    if (own != INPUT_OBJECT && other == INPUT_OBJECT) {
        values.debug_file = NULL;
        values.packages.count = 0;
    }
    if (!input_takes_arch(own) && input_takes_arch(other)) values.arch = NULL;
    return values;
}

bool open_two_indexes(char *const paths[2], const struct companion_values *companions, struct opened_index out[2]) {
    out[0] = out[1] = (struct opened_index){ 0 };
    if (!input_file_open(paths[0], &out[0].input) || !input_file_open(paths[1], &out[1].input)) return false;
    const enum input_nature natures[2] = { input_nature_of(&out[0].input), input_nature_of(&out[1].input) };
    for (int side = 0; side < 2; side++) {
        struct csn_error err = CSN_ERROR_INIT;
        const struct companion_values values = values_of_side(companions, natures[side], natures[1 - side]);
        if (!finish_opening(open_input(&values, NULL, &out[side], &err), &err, &out[side])) return false;
    }
    return true;
}

bool open_object(const char *path, const struct companion_values *companions, uint32_t flags, uint32_t merged,
                 struct opened_index *out) {
    *out = (struct opened_index){ 0 };
    struct csn_error err = CSN_ERROR_INIT;
    if (!input_file_open(path, &out->input)) return false;
    return finish_opening(convert_in_memory(companions, CSN_CONVERT_COVERAGE | flags, merged, out, &err), &err, out);
}

void close_index(struct opened_index *opened) {
    csn_index_close(opened->index);
    csn_bytes_free(&opened->bytes);
    input_file_close(&opened->input);
    free(opened->report);
    *opened = (struct opened_index){ 0 };
}
