/* Prints one stored array of a zip: cc -o read_array read_array.c && ./read_array exp.zip run1/temperature.ra
   The first line has eltype, elbyte and dims. Each further line has one element; the first index is the fastest. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const unsigned char *zip;
static uint64_t length;

/* Ends the program with a message if a condition is false. */
static void need(int is_so, const char *what) { if (!is_so) { fprintf(stderr, "read_array: %s\n", what); exit(2); } }

/* Returns the little-endian number in some bytes of the file. */
static uint64_t u(uint64_t at, int bytes) {
    uint64_t number = 0;
    need(at <= length && length - at >= (uint64_t)bytes, "the file is truncated");
    while (bytes--) number = number << 8 | zip[at + bytes];
    return number;
}

int main(int argc, char **argv) {
    struct stat file;
    int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
    need(fd >= 0 && !fstat(fd, &file) && file.st_size >= 22, "usage: read_array ZIP MEMBER");
    zip = mmap(NULL, length = file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    need(zip != MAP_FAILED && u(length - 22, 4) == 0x06054b50, "not a zip, or a zip with a comment");

    uint64_t end = length - 22, at = u(end + 16, 4), left = u(end + 10, 2), name = strlen(argv[2]), wide = 0xffffffff;
    if (at == wide || left == 0xffff) end = u(end - 12, 8), at = u(end + 48, 8), left = u(end + 32, 8); /* zip64 */
    for (;; at += 46 + u(at + 28, 2) + u(at + 30, 2) + u(at + 32, 2)) { /* the central directory */
        need(left-- > 0 && u(at, 4) == 0x02014b50, "the zip has no such member");
        if (u(at + 28, 2) == name && u(at + 46 + name, 0) == 0 && !memcmp(zip + at + 46, argv[2], name)) break;
    }
    need(u(at + 10, 2) == 0, "the member is compressed");
    uint64_t local = u(at + 42, 4), skipped = (u(at + 20, 4) == wide) + (u(at + 24, 4) == wide);
    if (local == wide) local = u(at + 46 + name + 4 + 8 * skipped, 8); /* zip64 */
    uint64_t ra = local + 30 + u(local + 26, 2) + u(local + 28, 2);

    uint64_t eltype = u(ra + 16, 8), elbyte = u(ra + 24, 8), size = u(ra + 32, 8), ndims = u(ra + 40, 8);
    need(u(ra, 8) == 0x7961727261776172 && u(ra + 8, 8) == 0, "not a RawArray, or big-endian or encoded data");
    uint64_t part = eltype == 4 ? elbyte / 2 : elbyte; /* bytes of one number */
    need(eltype >= 1 && eltype <= 4 && (part == 4 || part == 8 || (eltype <= 2 && part && part < 8)), "the element type is not supported");
    printf("%" PRIu64 " %" PRIu64, eltype, elbyte);
    for (uint64_t n = 0; n < ndims; n++) printf(" %" PRIu64, u(ra + 48 + 8 * n, 8));
    for (uint64_t from = 0, data = ra + 48 + 8 * ndims; from < size; from += part) {
        uint64_t bits = u(data + from, part);
        uint32_t low = bits;
        float single;
        double twice;
        memcpy(&single, &low, 4), memcpy(&twice, &bits, 8);
        putchar(from % elbyte ? ' ' : '\n');
        if (eltype == 1) printf("%" PRId64, (int64_t)(bits << (64 - 8 * part)) >> (64 - 8 * part));
        else if (eltype == 2) printf("%" PRIu64, bits);
        else printf("%.17g", part == 4 ? single : twice);
    }
    putchar('\n');
    return 0;
}
