/* Mapping files, and pages that can be given back: Windows. file_map.c is the other one. */
#ifdef _WIN32
#include "base/core/file_map.h"

#include <windows.h>

#include "base/core/fail.h"

/* Names are UTF-8, as everywhere in the library. */
static HANDLE open_utf8(const char *path) {
    WCHAR wide[4096];
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, sizeof wide / sizeof *wide))
        return INVALID_HANDLE_VALUE;
    return CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

static csn_status check_kind(HANDLE file, struct csn_error *err) {
    BY_HANDLE_FILE_INFORMATION info;
    if (GetFileType(file) != FILE_TYPE_DISK || !GetFileInformationByHandle(file, &info))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "is not a regular file");
    if (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "is a directory");
    return CSN_OK;
}

static csn_status map_handle(struct csni_file_map *map, HANDLE file, struct csn_error *err) {
    LARGE_INTEGER size;
    CSNI_TRY(check_kind(file, err));
    if (!GetFileSizeEx(file, &size)) return csni_fail_os(err, (int)GetLastError(), "cannot read its size");
    if ((uint64_t)size.QuadPart > SIZE_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%lld bytes do not fit the address space", (long long)size.QuadPart);
    void *address = NULL;
    if (size.QuadPart) {
        HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
        if (mapping) address = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
        int failure = (int)GetLastError();
        if (mapping) CloseHandle(mapping);
        if (!address) return csni_fail_os(err, failure, "cannot map it");
    }
    *map = (struct csni_file_map){ { address, (size_t)size.QuadPart }, address, (size_t)size.QuadPart };
    return CSN_OK;
}

csn_status csni_file_map_open(struct csni_file_map *map, const char *path, struct csn_error *err) {
    HANDLE file = open_utf8(path);
    if (file == INVALID_HANDLE_VALUE) return csni_fail_os(err, (int)GetLastError(), NULL);
    csn_status status = map_handle(map, file, err);
    CloseHandle(file);
    return status;
}

void csni_file_map_close(struct csni_file_map *map) {
    if (!map) return;
    if (map->mapped) UnmapViewOfFile(map->address);
    *map = (struct csni_file_map){ { NULL, 0 }, NULL, 0 };
}

/* A hint that Windows has no call for. */
void csni_file_map_forget(const void *ptr, size_t size) { (void)ptr, (void)size; }

void *csni_pages_alloc(size_t size) { return size ? VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) : NULL; }

void csni_pages_free(void *ptr, size_t size) {
    if (ptr && size) VirtualFree(ptr, 0, MEM_RELEASE);
}

void csni_pages_populate(void *ptr, size_t size) { (void)ptr, (void)size; }

void csni_pages_prefer_huge(void *ptr, size_t size) { (void)ptr, (void)size; }

void csni_pages_discard(void *ptr, size_t size) {
    enum { PAGE = 4096 };
    size_t head = (PAGE - (uintptr_t)ptr % PAGE) % PAGE;
    if (!ptr || size < head + PAGE) return;
    void *start = (uint8_t *)ptr + head;
    size_t whole = (size - head) / PAGE * PAGE;
    if (VirtualFree(start, whole, MEM_DECOMMIT)) VirtualAlloc(start, whole, MEM_COMMIT, PAGE_READWRITE);
}
#endif
