/* Standard output of the stand-ins: flushed after each answer, since clients wait for it; a failure is kept until the end. */
#ifndef CALLSIGN_CLI_ANSWER_OUTPUT_H
#define CALLSIGN_CLI_ANSWER_OUTPUT_H

/* Flushes standard output, and keeps why it cannot be written. */
void flush_answers(void);
/* An errno: why standard output could not be written; 0: it could. */
int answer_output_error(void);

#endif
