/* Crash reports of .NET (createdump --crashreport, DOTNET_EnableCrashReport): an object whose "payload" has "threads".
 *
 *     {"is_managed":"false","module_address":"0x7f1af12fd000","native_address":"0x7f1af12fe161","native_module":"liborders.so"}
 *
 * Addresses of callers are return addresses. Managed frames have compiled code, of which no index tells; their
 * method has a name already. In place, native frames are filled in (json_report.c): "unmanaged_name" is the exported
 * function before the address, which may be another. */
#include "stack/dialects/json_report.h"
#include "ui/json_span.h"

bool stack_dotnet_recognize(struct csn_str root) {
    struct csn_str payload, value;
    return json_span_find(root, "payload", &payload) && json_span_find(payload, "threads", &value) && json_span_is_array(value);
}

static bool is_managed(struct csn_str object) {
    char scratch[REPORT_TEXT_MAX + 1];
    const struct csn_str text = report_text_member(object, "is_managed", scratch);
    return text.len == 4 && text.ptr[0] == 't';
}

static bool add_dotnet_frame(struct stack_session *session, struct csn_str object) {
    char name[REPORT_TEXT_MAX + 1];
    const uint32_t flags = session->frame_count ? CSN_STACK_RETURN : CSN_STACK_EXACT;
    const struct csn_str module_name = report_text_member(object, "native_module", name);
    uint64_t pc = 0, start = 0;
    report_hex_member(object, "native_address", &pc);
    if (!module_name.len || is_managed(object) || !report_hex_member(object, "module_address", &start) || !start || pc < start)
        return session_add_frame(session, pc, NO_MODULE, flags);
    const uint32_t module = session_name_module(session, module_name, NULL);
    if (module == NO_MODULE) return session_add_frame(session, pc, NO_MODULE, flags);
    return session_add_frame(session, session_offset_address(session, module, pc - start), module, flags | CSN_STACK_ADDRESS);
}

static const struct report_shape dotnet_shape = { .frames = "stack_frames", .add = add_dotnet_frame, .is_named = is_managed };

static bool find_dotnet(struct csn_str text, struct csn_str *out, struct json_fault *fault) {
    struct csn_str payload, threads;
    if (!json_span_value(text, out, fault) || out->ptr[0] != '{') return false;
    if (json_span_find(*out, "payload", &payload) && json_span_find(payload, "threads", &threads)) return true;
    *fault = (struct json_fault){ "no member \"threads\" in \"payload\"", (size_t)(out->ptr - text.ptr) };
    return false;
}

static bool answer_dotnet(struct stack_session *session, struct csn_str report, struct json_writer *w,
                          struct stack_output *output) {
    struct csn_str payload = { "", 0 }, threads = { "", 0 };
    session_use(session, false);
    session_clear_modules(session);
    return json_span_find(report, "payload", &payload) && json_span_find(payload, "threads", &threads) &&
           report_answer_threads(session, &dotnet_shape, threads, w, output);
}

const struct report_kind dotnet_report = { .format = "dotnet-json", .what = "a crash report of .NET",
                                           .recognize = stack_dotnet_recognize,
                                           .find = find_dotnet, .answer = answer_dotnet };
