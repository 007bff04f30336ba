/** The result of one check. `advice` says what to do about a warning or failure. */
export type Check = { name: string; status: 'ok' | 'warning' | 'failed'; detail: string; advice?: string };

export const ok = (name: string, detail: string): Check => ({ name, status: 'ok', detail });
export const warning = (name: string, detail: string, advice: string): Check => ({
  name,
  status: 'warning',
  detail,
  advice,
});
export const failed = (name: string, detail: string, advice: string): Check => ({
  name,
  status: 'failed',
  detail,
  advice,
});

/** Returns the message of an error, or its code where a driver leaves the message empty. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code ?? error.name) : String(error);
