# cmake -DFILES=LIST -DOUT=FILE -P source_hash.cmake: a C file with a hash of the files in LIST (one a line). Entries of the cache
# carry it: what another version of the sources converted is not used.
file(STRINGS "${FILES}" sources)
set(all "")
foreach(source ${sources})
    file(SHA256 "${source}" one)
    string(APPEND all "${one}")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(WRITE "${OUT}" "/* Made by cmake/source_hash.cmake. */\n#include \"store/index_cache.h\"\n\nconst char csni_source_hash[17] = \"${hash}\";\n")
