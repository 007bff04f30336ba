import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** Creates a logger that writes JSON lines to stderr, leaving stdout to command output. Keys and secrets are redacted. */
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
