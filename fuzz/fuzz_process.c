/* Any bytes as the text of /proc/PID/maps or of a report, as a core dump, as the kernel's texts. Invariant: modules
 * do not overlap, none is empty, and addresses are found for what was mapped from its file's beginning. */
#include <stdint.h>
#include <stdlib.h>

#include <callsign/process.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static void check_modules(struct csn_process_maps *maps) {
    const struct csn_process_module *modules;
    size_t count;
    require(csn_process_maps_modules(maps, 0, &modules, &count, NULL) == CSN_OK);
    for (size_t i = 0; i < count; i++) {
        const struct csn_process_module *module = &modules[i];
        require(module->start < module->end && module->path.len && module->path.ptr[0] == '/');
        for (size_t k = 0; k < i; k++) require(module->end <= modules[k].start || module->start >= modules[k].end);
        csn_process_module_bias(module, module->start);
    }
    for (size_t i = 0; i < count && i < 16; i++) {
        uint64_t addr;
        csn_status status = csn_process_maps_file_address(maps, modules[i].path, modules[i].file_off, &addr);
        require(status == CSN_OK || status == CSN_NONE);
        require(status == CSN_OK || modules[i].file_off);
    }
}

/* Paths of a dump need not be absolute; a module is not empty all the same. */
static void check_other_sources(const struct csn_process_maps_options *options, const uint8_t *data, size_t size) {
    struct csn_process_maps *maps;
    const struct csn_process_module *modules;
    size_t count;
    struct csn_str text = { (const char *)data, size };
    uint64_t addr;
    require(csn_process_maps_create(options, &maps, NULL) == CSN_OK);
    require(csn_process_maps_add_core(maps, 0, data, size, NULL) <= CSN_NONE);
    require(csn_process_maps_add_kernel(maps, 0, text, text, NULL, NULL, NULL) >= CSN_OK);
    require(csn_process_kallsyms_find(text, (struct csn_str){ "_text", 5 }, &addr) >= CSN_OK);
    require(csn_process_maps_modules(maps, 0, &modules, &count, NULL) == CSN_OK);
    for (size_t i = 0; i < count; i++) require(modules[i].start < modules[i].end && modules[i].path.len);
    csn_process_maps_destroy(maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    struct csn_process_maps *maps;
    size_t lines;
    options.flags = CSN_PROCESS_NO_FILES; /* paths of the input are nobody's */
    options.max_mappings = 256;
    require(csn_process_maps_create(&options, &maps, NULL) == CSN_OK);
    for (int round = 0; round < 2; round++) {
        require(csn_process_maps_add_text(maps, 0, (struct csn_str){ (const char *)data, size }, &lines, NULL) == CSN_OK);
        check_modules(maps);
    }
    csn_process_maps_destroy(maps);
    check_other_sources(&options, data, size);
    return 0;
}
