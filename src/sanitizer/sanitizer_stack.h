/* A stack of its own for what names addresses: a sanitizer reports a stack overflow on an alternate stack of 32 KB,
 * and a conversion and a demangled name may take up to 2 MB. */
#ifndef CSNI_SANITIZER_STACK_H
#define CSNI_SANITIZER_STACK_H

/* Calls run(context) on that stack; on machines that it does not know, on the caller's. */
void csni_sanitizer_run(void run(void *), void *context);

#endif
