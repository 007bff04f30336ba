import { styleText } from 'node:util';
import { pino, type Logger as PinoLogger } from 'pino';
import { activeTraceId } from './spans.ts';
import { showLine, showText } from '../text/show-text.ts';

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

const levels: Record<number, [name: string, style: 'gray' | 'cyan' | 'yellow' | 'red']> = {
  10: ['trace', 'gray'],
  20: ['debug', 'gray'],
  30: ['info', 'cyan'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
};

/** Formats a JSON log line for people: time, level, message, fields, and the stack of an error below. Returns other lines unchanged. */
export function formatLogLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return showText(line);
  }
  const { level, time, msg, err, ...fields } = entry;
  const [name, style] = levels[Number(level)] ?? ['log', 'gray'];
  const values = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const { stack } = (err ?? {}) as { stack?: string };
  const shown = [msg, ...values].filter(Boolean).map((value) => showLine(String(value)));
  const text = [new Date(Number(time)).toISOString().slice(11, 23), styleText(style, name.padEnd(5)), ...shown];
  const below = stack === undefined ? '' : `  ${showText(stack).replaceAll('\n', '\n  ')}\n`;
  return `${text.join(' ')}\n${below}`;
}
