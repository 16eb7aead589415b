/* Response files of GNU's and LLVM's tools: an argument @FILE stands for the words of the file. */
#ifndef CALLSIGN_CLI_RESPONSE_FILES_H
#define CALLSIGN_CLI_RESPONSE_FILES_H

/* Replaces @FILE in argv, which may then be a copy that lives to the end of the process. A file that cannot be read leaves the
 * argument as it is. Exits with 1 where GNU's tools do: a folder, or files that contain each other. */
void gnu_expand_arguments(int *argc, char ***argv);

/* The same of LLVM's tools, whose rules of quoting differ. */
void llvm_expand_arguments(int *argc, char ***argv);

/* Splits `text` into words by the rules of a shell, GNU's way, and appends them to *words of *count. */
void split_words(const char *text, char ***words, int *count);

#endif
