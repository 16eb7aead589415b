/* Relocations that reading sections left out, of any container. */
#include "object/object_private.h"

void csni_add_relocation_counts(struct csni_object_private *priv, const struct csni_relocation_counts *counts) {
    uint64_t none = 0;
    if (counts->unknown)
        atomic_compare_exchange_strong(&priv->first_unknown_relocation, &none, (uint64_t)counts->unknown_type + 1);
    atomic_fetch_add(&priv->unknown_relocations, counts->unknown);
    atomic_fetch_add(&priv->damaged_relocations, counts->damaged);
}

void csni_object_relocation_counts(const struct csni_object *object, struct csni_relocation_counts *out) {
    const struct csni_object_private *priv = csni_object_priv_const(object);
    uint64_t first = atomic_load(&priv->first_unknown_relocation);
    out->unknown = atomic_load(&priv->unknown_relocations);
    out->unknown_type = first ? (uint32_t)(first - 1) : 0;
    out->damaged = atomic_load(&priv->damaged_relocations);
}
