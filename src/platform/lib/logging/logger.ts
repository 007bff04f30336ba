import { pino, type Logger as PinoLogger } from 'pino';
import { formatLogLine } from './log-line.ts';
import { activeTraceId } from '../tracing/spans.ts';

export type Logger = PinoLogger;

/**
 * Creates a logger that writes to stderr, leaving stdout to command output: JSON lines, or readable ones if stderr is a terminal. Keys and
 * secrets are redacted.
 */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      mixin: () => {
        const traceId = activeTraceId();
        return traceId === undefined ? {} : { traceId };
      },
      redact: {
        paths: ['req.headers.authorization', 'headers.authorization', '*.key', '*.secret', '*.password'],
        censor: '[redacted]',
      },
    },
    process.stderr.isTTY
      ? { write: (line) => void process.stderr.write(formatLogLine(line)) }
      : pino.destination({ fd: 2, sync: true }),
  );
}
