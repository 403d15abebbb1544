/* Loaded before libc (LD_PRELOAD). Counts the calls that change files below a folder, records them, and lets one fail.
 *
 * `disk_faults_begin` starts that for the process; until then every call goes to libc unchanged. Processes that it
 * starts are not concerned. A record is a header of seven little-endian 64-bit numbers, the two paths and the data:
 *
 *     letter of the call, error it ended with (0: none), offset, size, bytes of path, bytes of second path, bytes of data
 *
 *     O open with O_CREAT (size: 1 where it makes the file empty)   W write at an offset   T truncate to a size
 *     R rename   M mkdir   U unlink   D rmdir   S fsync or fdatasync
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
enum { NO_FAULT = 0, SHORT = -1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls, fault_at;
static int fault, log_fd = -1;
static pid_t owner;
static char root[PATH_MAX], without[PATH_MAX];

/* Count calls below `folder`, but not below `folder`/`but`. The call number `at` (from 1; 0: none) fails with the error
 * number `error`; a write with SHORT ends after half of its bytes. Records go to the file `log`. */
void disk_faults_begin(const char *folder, const char *but, long at, int error, const char *log) {
  snprintf(root, sizeof root, "%s", folder);
  snprintf(without, sizeof without, "%s/%s", folder, but);
  fault_at = at;
  fault = error;
  calls = 0;
  log_fd = NEXT(open64)(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  owner = getpid();
}

static int is_in(const char *path, const char *folder) {
  size_t size = strlen(folder);
  return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

static int concerns(const char *path) {
  return owner && owner == getpid() && is_in(path, root) && !is_in(path, without);
}

/* The path that a descriptor has, or the path of `name` below it. A name may begin with an open folder (proc(5)). */
static int path_of(int fd, const char *name, char *path) {
  char link[64];
  int size_of_folder = 0;
  if (!owner) return 0;
  if (name && sscanf(name, "/proc/self/fd/%d/%n", &fd, &size_of_folder) == 1 && size_of_folder) name += size_of_folder;
  else if (name && (name[0] == '/' || fd == AT_FDCWD)) return snprintf(path, PATH_MAX, "%s", name) > 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, PATH_MAX - 1);
  if (size < 0) return 0;
  path[size] = 0;
  if (name) snprintf(path + size, PATH_MAX - size, "/%s", name);
  return 1;
}

/* What happens to this call: NO_FAULT, SHORT or an error number. Calls of several threads are recorded in their order,
 * because the lock is held until `done`. */
static int begin(void) {
  pthread_mutex_lock(&lock);
  return ++calls == fault_at ? fault : NO_FAULT;
}

static void done(char letter, int error, long offset, long size, const char *path, const char *second, const void *data) {
  long header[7] = {letter, error, offset, size, strlen(path), second ? strlen(second) : 0, data ? size : 0};
  __typeof__(&write) put = NEXT(write);
  if (put(log_fd, header, sizeof header) < 0 || put(log_fd, path, header[4]) < 0) abort();
  if (second && put(log_fd, second, header[5]) < 0) abort();
  if (data && size > 0 && put(log_fd, data, size) < 0) abort();
  pthread_mutex_unlock(&lock);
  errno = error ? error : errno;
}

/* A call that succeeds or fails as a whole. */
#define WHOLE(letter, path, second, size, call)                          \
  ({                                                                     \
    int fault_ = begin(), result_ = fault_ > 0 ? -1 : (call);            \
    int error_ = result_ < 0 ? (fault_ > 0 ? fault_ : errno) : NO_FAULT; \
    done(letter, error_, 0, size, path, second, NULL);                   \
    result_;                                                             \
  })

static ssize_t wrote(const char *path, int fd, const void *data, size_t size, off64_t offset, int at) {
  int fault_now = begin();
  if (fault_now == SHORT && size > 1) size /= 2;
  ssize_t result = fault_now > 0 ? -1 : at ? NEXT(pwrite64)(fd, data, size, offset) : NEXT(write)(fd, data, size);
  int error = result < 0 ? (fault_now > 0 ? fault_now : errno) : NO_FAULT;
  if (!at && result > 0) offset = lseek64(fd, 0, SEEK_CUR) - result;
  done('W', error, offset, result > 0 ? result : 0, path, NULL, result > 0 ? data : NULL);
  return result;
}

ssize_t write(int fd, const void *data, size_t size) {
  char path[PATH_MAX];
  if (path_of(fd, NULL, path) && concerns(path)) return wrote(path, fd, data, size, 0, 0);
  return NEXT(write)(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
  char path[PATH_MAX];
  if (path_of(fd, NULL, path) && concerns(path)) return wrote(path, fd, data, size, offset, 1);
  return NEXT(pwrite64)(fd, data, size, offset);
}

int fsync(int fd) {
  char path[PATH_MAX];
  if (path_of(fd, NULL, path) && concerns(path)) return WHOLE('S', path, NULL, 0, NEXT(fsync)(fd));
  return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
  char path[PATH_MAX];
  if (path_of(fd, NULL, path) && concerns(path)) return WHOLE('S', path, NULL, 0, NEXT(fdatasync)(fd));
  return NEXT(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t size) {
  char path[PATH_MAX];
  if (path_of(fd, NULL, path) && concerns(path)) return WHOLE('T', path, NULL, size, NEXT(ftruncate64)(fd, size));
  return NEXT(ftruncate64)(fd, size);
}

int rename(const char *from, const char *to) {
  char path[PATH_MAX], second[PATH_MAX];
  if (path_of(AT_FDCWD, from, path) && path_of(AT_FDCWD, to, second) && concerns(path))
    return WHOLE('R', path, second, 0, NEXT(rename)(from, to));
  return NEXT(rename)(from, to);
}

int mkdir(const char *name, mode_t mode) {
  char path[PATH_MAX];
  if (path_of(AT_FDCWD, name, path) && concerns(path)) return WHOLE('M', path, NULL, 0, NEXT(mkdir)(name, mode));
  return NEXT(mkdir)(name, mode);
}

int unlink(const char *name) {
  char path[PATH_MAX];
  if (path_of(AT_FDCWD, name, path) && concerns(path)) return WHOLE('U', path, NULL, 0, NEXT(unlink)(name));
  return NEXT(unlink)(name);
}

int rmdir(const char *name) {
  char path[PATH_MAX];
  if (path_of(AT_FDCWD, name, path) && concerns(path)) return WHOLE('D', path, NULL, 0, NEXT(rmdir)(name));
  return NEXT(rmdir)(name);
}

int unlinkat(int folder, const char *name, int flags) {
  char path[PATH_MAX];
  if (path_of(folder, name, path) && concerns(path))
    return WHOLE((flags & AT_REMOVEDIR) ? 'D' : 'U', path, NULL, 0, NEXT(unlinkat)(folder, name, flags));
  return NEXT(unlinkat)(folder, name, flags);
}

int open64(const char *name, int flags, ...) {
  char path[PATH_MAX];
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_CREAT) && path_of(AT_FDCWD, name, path) && concerns(path))
    return WHOLE('O', path, NULL, (flags & O_TRUNC) != 0, NEXT(open64)(name, flags, mode));
  return NEXT(open64)(name, flags, mode);
}
