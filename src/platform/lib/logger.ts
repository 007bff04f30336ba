import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** Structured lines on stderr, so that stdout stays for what a command answers. Keys and secrets are cut wherever they stand. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: ['req.headers.authorization', 'headers.authorization', '*.key', '*.secret', '*.password'],
        censor: '[redacted]',
      },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
