/* opentelemetry/proto/profiles/v1development/profiles.proto, with the messages of common and resource that it uses.
 * Names are those of the JSON mapping. */
#include "profile/otlp_schema.h"

#include <stddef.h>

#define FIELD(name, number, kind) { name, number, kind, false, NULL }
#define LIST(name, number, kind) { name, number, kind, true, NULL }
#define ONE(name, number, type) { name, number, OTLP_MESSAGE, false, &type }
#define MANY(name, number, type) { name, number, OTLP_MESSAGE, true, &type }
#define END { NULL, 0, OTLP_NUMBER, false, NULL }
#define MESSAGE(type, ...)                                                 \
    static const struct otlp_field type##_fields[] = { __VA_ARGS__, END }; \
    static const struct otlp_message_type type = { type##_fields }

/* A value may hold values. */
static const struct otlp_message_type any_value;
MESSAGE(key_value, FIELD("key", 1, OTLP_TEXT), ONE("value", 2, any_value), FIELD("keyStrindex", 3, OTLP_NUMBER));
MESSAGE(array_value, MANY("values", 1, any_value));
MESSAGE(key_value_list, MANY("values", 1, key_value));
static const struct otlp_field any_value_fields[] = {
    FIELD("stringValue", 1, OTLP_TEXT), FIELD("boolValue", 2, OTLP_BOOL), FIELD("intValue", 3, OTLP_LONG),
    FIELD("doubleValue", 4, OTLP_DOUBLE), ONE("arrayValue", 5, array_value), ONE("kvlistValue", 6, key_value_list),
    FIELD("bytesValue", 7, OTLP_BASE64), FIELD("stringValueStrindex", 8, OTLP_NUMBER), END,
};
static const struct otlp_message_type any_value = { any_value_fields };

MESSAGE(scope, FIELD("name", 1, OTLP_TEXT), FIELD("version", 2, OTLP_TEXT), MANY("attributes", 3, key_value),
        FIELD("droppedAttributesCount", 4, OTLP_NUMBER));
MESSAGE(entity_ref, FIELD("schemaUrl", 1, OTLP_TEXT), FIELD("type", 2, OTLP_TEXT), LIST("idKeys", 3, OTLP_TEXT),
        LIST("descriptionKeys", 4, OTLP_TEXT));
MESSAGE(resource, MANY("attributes", 1, key_value), FIELD("droppedAttributesCount", 2, OTLP_NUMBER),
        MANY("entityRefs", 3, entity_ref));

MESSAGE(value_type, FIELD("typeStrindex", 1, OTLP_NUMBER), FIELD("unitStrindex", 2, OTLP_NUMBER));
MESSAGE(sample, FIELD("stackIndex", 1, OTLP_NUMBER), LIST("attributeIndices", 2, OTLP_NUMBER), FIELD("linkIndex", 3, OTLP_NUMBER),
        LIST("values", 4, OTLP_LONG), LIST("timestampsUnixNano", 5, OTLP_FIXED64));
MESSAGE(profile, ONE("sampleType", 1, value_type), MANY("samples", 2, sample), FIELD("timeUnixNano", 3, OTLP_FIXED64),
        FIELD("durationNano", 4, OTLP_UNSIGNED), ONE("periodType", 5, value_type), FIELD("period", 6, OTLP_LONG),
        FIELD("profileId", 7, OTLP_BASE64), FIELD("droppedAttributesCount", 8, OTLP_NUMBER),
        FIELD("originalPayloadFormat", 9, OTLP_TEXT), FIELD("originalPayload", 10, OTLP_BASE64),
        LIST("attributeIndices", 11, OTLP_NUMBER));
MESSAGE(scope_profiles, ONE("scope", 1, scope), MANY("profiles", 2, profile), FIELD("schemaUrl", 3, OTLP_TEXT));
MESSAGE(resource_profiles, ONE("resource", 1, resource), MANY("scopeProfiles", 2, scope_profiles),
        FIELD("schemaUrl", 3, OTLP_TEXT));

MESSAGE(mapping, FIELD("memoryStart", 1, OTLP_UNSIGNED), FIELD("memoryLimit", 2, OTLP_UNSIGNED),
        FIELD("fileOffset", 3, OTLP_UNSIGNED), FIELD("filenameStrindex", 4, OTLP_NUMBER),
        LIST("attributeIndices", 5, OTLP_NUMBER));
MESSAGE(line, FIELD("functionIndex", 1, OTLP_NUMBER), FIELD("line", 2, OTLP_LONG), FIELD("column", 3, OTLP_LONG));
MESSAGE(location, FIELD("mappingIndex", 1, OTLP_NUMBER), FIELD("address", 2, OTLP_UNSIGNED), MANY("lines", 3, line),
        LIST("attributeIndices", 4, OTLP_NUMBER));
MESSAGE(function, FIELD("nameStrindex", 1, OTLP_NUMBER), FIELD("systemNameStrindex", 2, OTLP_NUMBER),
        FIELD("filenameStrindex", 3, OTLP_NUMBER), FIELD("startLine", 4, OTLP_LONG));
MESSAGE(link, FIELD("traceId", 1, OTLP_HEX), FIELD("spanId", 2, OTLP_HEX));
MESSAGE(attribute, FIELD("keyStrindex", 1, OTLP_NUMBER), ONE("value", 2, any_value), FIELD("unitStrindex", 3, OTLP_NUMBER));
MESSAGE(stack, LIST("locationIndices", 1, OTLP_NUMBER));
MESSAGE(dictionary, MANY("mappingTable", 1, mapping), MANY("locationTable", 2, location),
        MANY("functionTable", 3, function), MANY("linkTable", 4, link), LIST("stringTable", 5, OTLP_TEXT),
        MANY("attributeTable", 6, attribute), MANY("stackTable", 7, stack));

static const struct otlp_field profiles_data_fields[] = {
    MANY("resourceProfiles", 1, resource_profiles), ONE("dictionary", 2, dictionary), END,
};
const struct otlp_message_type csni_otlp_profiles_data = { profiles_data_fields };
