/* YAML from outside, and back: what memcal writes of a document reads as the same document. */
#include <stdint.h>
#include <stdlib.h>

#include "base/yaml.h"
#include "corpus/draft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    MC_AUTODOC struct mc_doc doc;
    if (mc_yaml_parse(data, size, "f.yaml", &doc, &err) != 0) {
        return 0;
    }
    if (!json_is_object(doc.root) && !json_is_array(doc.root)) {
        return 0; /* a lone number has no place where its form is kept */
    }
    struct mc_view root = mc_doc_view(&doc);
    MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
    mc_yaml_put(&text, &root);
    MC_AUTODOC struct mc_doc again;
    if (mc_yaml_parse(mc_buf_text(&text), text.len, "again.yaml", &again, &err) != 0 ||
        !json_equal(doc.root, again.root)) {
        abort();
    }
    return 0;
}
