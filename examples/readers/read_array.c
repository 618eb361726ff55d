/* Prints one stored array of a zip, or a .ra file: cc -o read_array read_array.c && ./read_array exp.zip run1/a.ra
   The first line has eltype, elbyte and dims. Each further line has one element; the first index is the fastest. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned char *file; static uint64_t length;
/* Ends the program with a message if a condition is false. */
static void need(int is_so, const char *what) { if (!is_so) { fprintf(stderr, "read_array: %s\n", what); exit(2); } }

/* Returns the little-endian number in some bytes of the file. */
static uint64_t u(uint64_t at, int bytes) {
    uint64_t number = 0;
    need(at <= length && length - at >= (uint64_t)bytes, "the file is truncated");
    while (bytes--) number = number << 8 | file[at + bytes];
    return number;
}

/* Returns the offset of a member of the zip. */
static uint64_t find(const char *member) {
    uint64_t end = length - 22, name = strlen(member), wide = 0xffffffff;
    need(length >= 22 && u(end, 4) == 0x06054b50, "not a zip, or a zip with a comment");
    uint64_t at = u(end + 16, 4), left = u(end + 10, 2); /* of the central directory */
    if (at == wide || left == 0xffff) end = u(end - 12, 8), at = u(end + 48, 8), left = u(end + 32, 8); /* zip64 */
    for (;; at += 46 + u(at + 28, 2) + u(at + 30, 2) + u(at + 32, 2)) {
        need(left-- > 0 && u(at, 4) == 0x02014b50, "the zip has no such member");
        if (u(at + 28, 2) == name && u(at + 46 + name, 0) == 0 && !memcmp(file + at + 46, member, name)) break;
    }
    need(u(at + 10, 2) == 0, "the member is compressed");
    uint64_t local = u(at + 42, 4), skipped = (u(at + 20, 4) == wide) + (u(at + 24, 4) == wide);
    if (local == wide) local = u(at + 46 + name + 4 + 8 * skipped, 8); /* zip64 */
    return local + 30 + u(local + 26, 2) + u(local + 28, 2);
}

int main(int argc, char **argv) {
    FILE *in = argc == 2 || argc == 3 ? fopen(argv[1], "rb") : NULL;
    need(in && !fseek(in, 0, SEEK_END) && (file = malloc((length = ftell(in)) + 1)), "usage: read_array FILE [MEMBER]");
    rewind(in), need(fread(file, 1, length, in) == length, "the file cannot be read");
    uint64_t ra = argc == 3 ? find(argv[2]) : 0, eltype = u(ra + 16, 8), elbyte = u(ra + 24, 8), size = u(ra + 32, 8);
    need(u(ra, 8) == 0x7961727261776172 && !u(ra + 8, 8), "not a RawArray, or big-endian or encoded data");
    uint64_t part = eltype == 4 ? elbyte / 2 : elbyte, ndims = u(ra + 40, 8), data = ra + 48 + 8 * ndims, left = size;
    int is_empty = 0, is_known = part == 2 || part == 4 || part == 8 || (eltype <= 2 && part == 1);
    need(is_known && eltype >= 1 && eltype <= 4 && ndims <= 64, "the element type is not supported");
    for (uint64_t n = 0, dim; n < ndims; n++)
        if (!(dim = u(ra + 48 + 8 * n, 8))) is_empty = 1; else need(left % dim == 0, "the size is wrong"), left /= dim;
    need((is_empty ? size == 0 : left == elbyte) && data <= length && size <= length - data, "the size is wrong");
    printf("%" PRIu64 " %" PRIu64, eltype, elbyte);
    for (uint64_t n = 0; n < ndims; n++) printf(" %" PRIu64, u(ra + 48 + 8 * n, 8));
    for (uint64_t from = 0; from < size; from += part) {
        uint64_t bits = u(data + from, part); uint32_t low = bits; float single; double twice;
        /* A float of 2 bytes has the bits of one of 4 bytes, which is smaller because of the biases 127 and 15. */
        if (part == 2) low = (bits & 0x8000) << 16 | (bits & 0x7fff) << 13 | ((bits & 0x7c00) == 0x7c00) * 0x7f800000u;
        memcpy(&single, &low, 4), memcpy(&twice, &bits, 8);
        putchar(from % elbyte ? ' ' : '\n');
        if (eltype == 1) printf("%" PRId64, (int64_t)(bits << (64 - 8 * part)) >> (64 - 8 * part));
        else if (eltype == 2) printf("%" PRIu64, bits);
        else printf("%.17g", part == 8 ? twice : part == 2 ? single * 0x1p112 : single);
    }
    return putchar('\n') == EOF;
}
