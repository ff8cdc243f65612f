/* SPDX-License-Identifier: BSD-3-Clause */

/* Which other libraries a shared object wants, before any of it runs. */

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bridge_private.h"

/* A file, as it is. */
struct image {
	const char *at;
	size_t size;
};

/* So many bytes of it; NULL: it has not. */
static const char *
text(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset ? image->at + offset : NULL;
}

/* Likewise, of structures. */
static const void *
part(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset % __alignof__(ElfW(Dyn)) == 0 ? text(image, offset, size) : NULL;
}

/* Where what the loader puts at an address is in the file; UINT64_MAX: nowhere. */
static uint64_t
offset_of(const ElfW(Phdr) * headers, unsigned int nb, uint64_t address)
{
	for (unsigned int i = 0; i < nb; i++)
		if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr &&
			address - headers[i].p_vaddr < headers[i].p_filesz)
			return address - headers[i].p_vaddr + headers[i].p_offset;
	return UINT64_MAX;
}

/* Is one of the names that the entries mean one that begins so? */
static bool
names_one(const struct image *image, const ElfW(Dyn) * entries, size_t nb, uint64_t names,
	const char *begin)
{
	const size_t length = strlen(begin);
	const char *name;

	for (size_t i = 0; i < nb && entries[i].d_tag != DT_NULL; i++) {
		if (entries[i].d_tag != DT_NEEDED && entries[i].d_tag != DT_SONAME)
			continue;
		name = text(image, names + entries[i].d_un.d_val, length);
		if (name != NULL && memcmp(name, begin, length) == 0)
			return true;
	}
	return false;
}

static bool
needs(const struct image *image, const char *begin)
{
	const ElfW(Ehdr) *elf = part(image, 0, sizeof(*elf));
	const ElfW(Phdr) * headers;
	const ElfW(Dyn) * entries;

	if (elf == NULL || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
		elf->e_phentsize != sizeof(*headers))
		return false;
	headers = part(image, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof(*headers));
	for (unsigned int i = 0; headers != NULL && i < elf->e_phnum; i++) {
		size_t nb = headers[i].p_filesz / sizeof(*entries);
		uint64_t names = UINT64_MAX;

		if (headers[i].p_type != PT_DYNAMIC)
			continue;
		entries = part(image, headers[i].p_offset, headers[i].p_filesz);
		for (size_t k = 0; entries != NULL && k < nb; k++)
			if (entries[k].d_tag == DT_STRTAB)
				names = offset_of(headers, elf->e_phnum, entries[k].d_un.d_ptr);
		if (names != UINT64_MAX && names_one(image, entries, nb, names, begin))
			return true;
	}
	return false;
}

bool
bridge_file_needs(const char *path, const char *begin)
{
	struct image image = {.at = MAP_FAILED};
	struct stat status;
	bool does = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		image.size = (size_t)status.st_size;
		image.at = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	if (image.at == MAP_FAILED)
		return false;
	does = needs(&image, begin);
	munmap((void *)(uintptr_t)image.at, image.size);
	return does;
}
