import { findEventId } from './event-id.ts';
import { findEventTime } from './event-time.ts';

/** An event as it is kept: its text on one line, what was read from it, and its id and time where it has them (microseconds). */
export type ParsedEvent = {
  text: string;
  value: Record<string, unknown>;
  id: string | undefined;
  timeMicros: number | undefined;
};

export const eventBytesMax = 1024 * 1024;
const depthMax = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads one event. Answers the reason instead when it is no JSON object in UTF-8 within the bounds. */
export function parseEvent(bytes: Uint8Array, timeField: string | undefined): ParsedEvent | string {
  if (bytes.length > eventBytesMax) return `larger than ${eventBytesMax} bytes`;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return 'not valid UTF-8';
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not valid JSON';
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'not a JSON object';
  if (isDeeper(value, depthMax)) return `nested deeper than ${depthMax}`;
  const event = value as Record<string, unknown>;
  return {
    text: oneLine(wellFormed(text)),
    value: event,
    id: findEventId(event),
    timeMicros: findEventTime(event, timeField),
  };
}

// Outside of texts JSON has no such characters but as space, and inside of them they are escaped.
function oneLine(text: string): string {
  return text.replace(/[\t\n\r]/g, ' ').trim();
}

/** Half of a surrogate pair, as an escape, is JSON to some and no text to the engine: the replacement character stands for it. */
function wellFormed(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(
    /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\./gs,
    (found) => (found.length === 6 ? '\\ufffd' : found),
  );
}

/** Whether a value holds more levels than that, itself counted. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const held of Object.values(value) as unknown[]) {
    if (held !== null && typeof held === 'object' && isDeeper(held, levels - 1)) return true;
  }
  return false;
}
