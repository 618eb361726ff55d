/*
 * Loaded into ra-pack with LD_PRELOAD: faults of reads and writes that are rare on a real system.
 * Affects only regular files whose path begins with FAULT_BELOW.
 *
 * FAULT_MOST=n      each call reads or writes at most n bytes
 * FAULT_AT=n        at the nth read, counted over all threads, do what FAULT_WHAT says:
 *   error           this read and all later ones fail with EIO
 *   once            only this read fails with EIO
 *   truncate        FAULT_FILE is truncated to half of its length before the read
 *   append          FAULT_FILE becomes longer
 *   overwrite       a byte in the middle of FAULT_FILE changes
 *   replace         FAULT_OTHER replaces FAULT_FILE
 * FAULT_MARK        a file that is created after the fault
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long reads;

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static int concerns(int fd)
{
    char link[64], path[4096];
    const char *below = setting("FAULT_BELOW");
    struct stat status;
    int error = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    int is = length > 0 && *below && !fstat(fd, &status) && S_ISREG(status.st_mode);
    path[length > 0 ? length : 0] = 0;
    errno = error;
    return is && !strncmp(path, below, strlen(below));
}

static size_t most(size_t count)
{
    size_t limit = strtoul(setting("FAULT_MOST"), NULL, 10);
    return limit && limit < count ? limit : count;
}

static void change(const char *what)
{
    const char *path = setting("FAULT_FILE");
    struct stat status;
    int fd = open(path, O_WRONLY);
    if (fd < 0 || fstat(fd, &status))
        abort();
    if (!strcmp(what, "truncate") && ftruncate(fd, status.st_size / 2))
        abort();
    if (!strcmp(what, "append") && ftruncate(fd, status.st_size + 1000))
        abort();
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    if (!strcmp(what, "overwrite") && real(fd, "\x5a\xa5", 2, status.st_size / 2) != 2)
        abort();
    if (!strcmp(what, "replace") && rename(setting("FAULT_OTHER"), path))
        abort();
    close(fd);
}

/* Counts a read. Returns whether it must fail. */
static int fails(void)
{
    long at = strtol(setting("FAULT_AT"), NULL, 10), now = atomic_fetch_add(&reads, 1) + 1;
    const char *what = setting("FAULT_WHAT");
    if (!at || now < at)
        return 0;
    if (now == at) {
        int error = errno;
        close(open(setting("FAULT_MARK"), O_WRONLY | O_CREAT, 0600));
        if (strcmp(what, "error"))
            change(what);
        errno = error;
    }
    return !strcmp(what, "error") || (now == at && !strcmp(what, "once"));
}

#define READ(name, parameters, arguments)                             \
    ssize_t name parameters                                           \
    {                                                                 \
        static ssize_t(*real) parameters;                             \
        if (!real)                                                    \
            real = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name);    \
        if (concerns(fd)) {                                           \
            if (fails()) {                                            \
                errno = EIO;                                          \
                return -1;                                            \
            }                                                         \
            count = most(count);                                      \
        }                                                             \
        return real arguments;                                        \
    }

#define WRITE(name, parameters, arguments)                            \
    ssize_t name parameters                                           \
    {                                                                 \
        static ssize_t(*real) parameters;                             \
        if (!real)                                                    \
            real = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name);    \
        if (concerns(fd))                                             \
            count = most(count);                                      \
        return real arguments;                                        \
    }

READ(read, (int fd, void *to, size_t count), (fd, to, count))
READ(pread64, (int fd, void *to, size_t count, off64_t at), (fd, to, count, at))
WRITE(write, (int fd, const void *from, size_t count), (fd, from, count))
WRITE(pwrite64, (int fd, const void *from, size_t count, off64_t at), (fd, from, count, at))
