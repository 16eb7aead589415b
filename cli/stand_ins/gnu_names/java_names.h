/* Names of C++ as GNU's demangler writes them in the style of Java, whose compiler in GCC (gone since GCC 7) mangled
 * its names so. */
#ifndef CALLSIGN_CLI_JAVA_NAMES_H
#define CALLSIGN_CLI_JAVA_NAMES_H

/* The name in GNU's words for C++ in those for Java: "int a::f<char>(char*)" is "a.f<byte>(byte)int". Takes `name`
 * from malloc(), gives one for free(); never NULL. */
char *java_name(char *name);

#endif
