#ifndef UTIL_H
#define UTIL_H
int util_sum(const int *values, int count);
int util_fail(int code) __attribute__((cold, noinline));
int util_unused(int x);
unsigned util_hash(const char *s);
#endif
