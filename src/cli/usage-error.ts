/** An invalid command line. The message is printed and the exit code is 2. */
export class UsageError extends Error {}
