import { AppError } from '../../platform/lib/errors.ts';

/** An invalid command line. The message is printed and the exit code is 2. */
export class UsageError extends Error {}

/** Formats an error for the command line: its message, followed by the invalid fields. An error of one field takes one line. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const fields = error instanceof AppError ? (error.errors ?? []) : [];
  const [only] = fields;
  if (only && fields.length === 1 && only.detail === message) return `${only.pointer}: ${only.detail}`;
  return [message, ...fields.map(({ pointer, detail }) => `  ${pointer}: ${detail}`)].join('\n');
}
