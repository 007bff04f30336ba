import { styleText } from 'node:util';
import { showLine, showText } from '../text/show-text.ts';

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
