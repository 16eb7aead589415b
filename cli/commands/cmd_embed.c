/* callsign embed and callsign extract: an index into an object file, and out of it. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/convert.h>
#include <callsign/embed.h>
#include <callsign/index.h>

#include "commands/commands.h"
#include "input/open_index.h"
#include "ui/cli_message.h"
#include "ui/output_path.h"
#include "ui/progress_bar.h"
#include "convert/convert_options.h"

struct embed_values {
    const char *out, *revision, *strings_in;
    bool loaded, drop_signature, force;
    struct companion_values companions;
};

static const struct option_spec embed_options[] = {
    { .name = "out", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct embed_values, out), .value_name = "OUT",
      .help = "the file to write; may be OBJECT itself" },
    { .name = "revision", .kind = OPTION_TEXT, .offset = offsetof(struct embed_values, revision), .value_name = "REV",
      .help = "convert INDEX to a section GSYM of this revision first:\nA to G, or B-script" },
    { .name = "strings-in", .kind = OPTION_TEXT, .offset = offsetof(struct embed_values, strings_in),
      .value_name = "SECTION", .help = "when a section GSYM is made: share this string section of\nINDEX, which must be OBJECT or a copy of it" },
    { .name = "loaded", .kind = OPTION_FLAG, .offset = offsetof(struct embed_values, loaded),
      .help = "load the section into memory with the program; possible in\nobject files that are still to be linked, and in PE" },
    { .name = "drop-signature", .kind = OPTION_FLAG, .offset = offsetof(struct embed_values, drop_signature),
      .help = "remove the code signature. Without this option, an ad-hoc\nsignature is made again, and files with a real one are refused" },
    { .name = "force", .kind = OPTION_FLAG, .offset = offsetof(struct embed_values, force),
      .help = "accept an index whose build id differs from that of OBJECT, or\nnone of whose functions lies in its code, and data appended to\nOBJECT" },
};

/* Whether INDEX goes in as it is: a GSYM file, or an object that carries one in a section. */
static bool is_ready_index(const struct input_file *input) {
    struct csn_index *index = NULL;
    if (!input->file) return false;
    if (input->size >= 4 && (memcmp(input->bytes, "GSYM", 4) == 0 || memcmp(input->bytes, "MYSG", 4) == 0)) return true;
    csn_status status = csn_index_open_embedded_memory(input->bytes, input->size, NULL, &index, NULL);
    csn_index_close(index);
    return status != CSN_NONE;
}

/* Revisions A to E have no place for a build id; the object that the index goes into tells its own. */
static bool is_known_by_object(uint32_t event, const struct csn_event_count *count) {
    return event == CSN_EVENT_PART_LOST && count->count == 1 && strcmp(count->example, "build id") == 0;
}

/* What the index does not have and the input did. */
static void report_losses(const char *path, const struct csn_convert_report *report) {
    for (uint32_t event = 0; event < CSN_EVENT_COUNT; event++)
        if (report->events[event].count && csn_event_get_class(event) == CSN_CLASS_DROPPED &&
            !is_known_by_object(event, &report->events[event]))
            cli_error(path, "dropped: %s, %llu times; first: %s", csn_event_name(event),
                     (unsigned long long)report->events[event].count, report->events[event].example);
}

/* A section GSYM made of what is no index yet, or is to be one of another revision. */
static csn_status make_section(const struct embed_values *values, const struct input_file *input, const char *object,
                               struct csn_convert_report *report, struct csn_bytes *out, struct csn_error *err) {
    struct progress_bar bar;
    struct companion_search search;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    progress_begin(&bar, false);
    options.progress = progress_step;
    options.progress_context = &bar;
    options.format = CSN_FORMAT_GSYM_SECTION;
    struct csn_gsection_options section = CSN_GSECTION_OPTIONS_INIT;
    section.strings_in = values->strings_in;
    (void)section_revision(values->revision, &section.revision); /* checked before */
    options.gsection = &section;
    options.input = input->file;
    const char *const outputs[] = { is_same_file(values->out, object) ? NULL : values->out, NULL }; /* OBJECT itself may be replaced */
    csn_status status = companion_search_begin(&search, &values->companions, outputs, &bar, &options, err);
    if (status >= 0) status = csn_convert_file_to_memory(input->path, &options, out, report, err);
    progress_end(&bar);
    companion_search_end(&search);
    if (status >= 0) report_losses(input->path, report);
    return status;
}

static enum exit_code embed(const struct embed_values *values, const struct input_file *index, const char *object,
                            struct csn_embed_options *options) {
    static struct csn_convert_report report;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_bytes made = { 0 };
    bool is_made = values->revision || values->strings_in || !is_ready_index(index);
    if (!is_made && !options_fit_embedded(index->path, &values->companions)) return EXIT_FAILED;
    csn_status status = is_made ? make_section(values, index, object, &report, &made, &err) : CSN_OK;
    if (status < 0) {
        cli_error_status(index->path, status, &err);
        return EXIT_FAILED;
    }
    options->index_uuid = is_made ? report.uuid : NULL; /* revisions A to E have no place for it */
    options->index_uuid_size = report.uuid_size;
    status = csn_embed_memory_in_file(is_made ? made.ptr : index->bytes, is_made ? made.size : index->size, object, values->out,
                                      options, &err);
    csn_bytes_free(&made);
    if (status < 0) cli_error_status(object, status, &err);
    return status < 0 ? EXIT_FAILED : EXIT_WORKED;
}

static enum exit_code run_embed(const void *given, char **operands, int operand_count) {
    (void)operand_count;
    const struct embed_values *values = given;
    uint32_t revision;
    if (!section_revision(values->revision, &revision)) return EXIT_FAILED;
    if (!values->out) {
        cli_error(NULL, "embed needs -o OUT (try 'callsign embed --help')");
        return EXIT_FAILED;
    }
    if (!output_is_file(values->out)) return EXIT_FAILED;
    if (is_same_file(operands[0], values->out) && !is_same_file(operands[0], operands[1])) {
        cli_error(values->out, "is the index itself; choose another file with -o");
        return EXIT_FAILED;
    }
    if (!is_same_file(values->out, operands[1]) && !companions_are_spared(&values->companions, values->out, "-o")) return EXIT_FAILED;
    struct csn_embed_options options = CSN_EMBED_OPTIONS_INIT;
    options.arch = values->companions.arch;
    options.flags = (values->loaded ? CSN_EMBED_LOADED : 0u) | (values->drop_signature ? CSN_EMBED_DROP_SIGNATURE : 0u) |
                    (values->force ? CSN_EMBED_FORCE : 0u);
    struct input_file index;
    if (!input_file_open(operands[0], &index)) return EXIT_FAILED;
    struct companion_values of_index = values->companions;
    of_index.arch = NULL; /* goes with OBJECT */
    bool fits = options_fit_input(&index, &of_index);
    enum exit_code code = fits ? embed(values, &index, operands[1], &options) : EXIT_FAILED;
    input_file_close(&index);
    progress_pass_on_signal();
    return code;
}

const struct command embed_command = {
    .name = "embed",
    .arguments = "INDEX OBJECT",
    .summary = "put an index into the program it belongs to",
    .description =
        "Writes a copy of OBJECT (ELF, Mach-O, PE, COFF) with INDEX in a section .gsym; in Mach-O files, section __gsym of\n"
        "segment __GSYM. INDEX is a GSYM file, which is embedded unchanged, or an object made by 'callsign convert --to\n"
        "gsym-section'. Any other input of convert is converted to a section GSYM of 2017 first, by default revision B.\n"
        "'callsign lookup OUT ADDR' then finds the index in OUT. If addresses of INDEX count from the image's first byte\n"
        "(Breakpad files, PDBs, indexes made from them), they become those of OBJECT.\n"
        "\n"
        "The program runs as before; the section is not loaded into memory. One with data appended to it (a self-extracting\n"
        "archive, an AppImage) is refused: it finds them by their place in the file, which changes. OUT appears whole or not\n"
        "at all, with the permissions of OBJECT. The same input gives the same bytes. In ELF files an older index is replaced.\n",
    .example = "callsign embed app.gsym app -o app",
    .min_operands = 2,
    .max_operands = 2,
    .values_size = sizeof(struct embed_values),
    .options = embed_options,
    .option_count = sizeof(embed_options) / sizeof(embed_options[0]),
    .shared = { companion_options, COMPANION_OPTION_COUNT, offsetof(struct embed_values, companions) },
    .run = run_embed,
};

/* ---- extract ---- */

struct extract_values {
    const char *out, *arch;
};

static const struct option_spec extract_options[] = {
    { .name = "out", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct extract_values, out), .value_name = "OUT",
      .help = "the file to write" },
    { .name = "arch", .kind = OPTION_TEXT, .offset = offsetof(struct extract_values, arch), .value_name = "ARCH",
      .help = "image to use of a universal file" },
};

static enum exit_code run_extract(const void *given, char **operands, int operand_count) {
    (void)operand_count;
    const struct extract_values *values = given;
    if (!values->out) {
        cli_error(NULL, "extract needs -o OUT (try 'callsign extract --help')");
        return EXIT_FAILED;
    }
    if (!output_is_file(values->out)) return EXIT_FAILED;
    if (is_same_file(operands[0], values->out)) {
        cli_error(values->out, "is the input itself; choose another file with -o");
        return EXIT_FAILED;
    }
    struct csn_embed_options options = CSN_EMBED_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    options.arch = values->arch;
    struct input_file object;
    if (values->arch && !input_file_open(operands[0], &object)) return EXIT_FAILED;
    bool fits = !values->arch || !object.file || arch_fits(&object, values->arch);
    if (values->arch) input_file_close(&object);
    if (!fits) return EXIT_FAILED;
    csn_status status = csn_extract_file(operands[0], values->out, &options, &err);
    if (status >= 0) return EXIT_WORKED;
    cli_error_status(operands[0], status, &err);
    return status == CSN_E_NOT_FOUND ? EXIT_PARTIAL : EXIT_FAILED;
}

const struct command extract_command = {
    .name = "extract",
    .arguments = "OBJECT",
    .summary = "take the index out of a program",
    .description =
        "Writes the index in OBJECT's section .gsym (__gsym in Mach-O) to a file, byte for byte as it was embedded.\n"
        "A section GSYM of 2017 may have its strings in another section: then OUT is an object file of the same container with\n"
        "only these two sections, which all commands read.\n"
        "\n"
        "Exit status: 1 if OBJECT has no index.\n",
    .example = "callsign extract app -o app.gsym",
    .min_operands = 1,
    .max_operands = 1,
    .values_size = sizeof(struct extract_values),
    .options = extract_options,
    .option_count = sizeof(extract_options) / sizeof(extract_options[0]),
    .run = run_extract,
};
