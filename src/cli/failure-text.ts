import { AppError } from '../platform/lib/errors.ts';

/** What the command line says of a failure: its message, and under it the fields that are wrong. An error of one field says both in one line. */
export function failureText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const fields = error instanceof AppError ? (error.errors ?? []) : [];
  const [only] = fields;
  if (only && fields.length === 1 && only.detail === message) return `${only.pointer}: ${only.detail}`;
  return [message, ...fields.map(({ pointer, detail }) => `  ${pointer}: ${detail}`)].join('\n');
}
