import { findEventTime, getValueAtPath } from './event-time.ts';

/** A parsed event: its text on one line, its value, and its own ID and time (in microseconds) if it has them. */
export type ParsedEvent = {
  text: string;
  value: Record<string, unknown>;
  id: string | undefined;
  timeMicros: number | undefined;
};

export const eventBytesMax = 1024 * 1024;
const depthMax = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses one event. Returns the reason as a string if it is not a JSON object in UTF-8 within the size and depth limits. */
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

/** Makes an event of a value that was composed from several parts of a request. Has the limits of `parseEvent`. */
export function composeEvent(value: Record<string, unknown>, timeMicros: number | undefined): ParsedEvent | string {
  if (isDeeper(value, depthMax)) return `nested deeper than ${depthMax}`;
  const text = wellFormed(JSON.stringify(value));
  if (Buffer.byteLength(text) > eventBytesMax) return `larger than ${eventBytesMax} bytes`;
  return { text, value, id: findEventId(value), timeMicros: timeMicros ?? findEventTime(value) };
}

// JSON only has these characters between tokens. Inside strings they are escaped.
function oneLine(text: string): string {
  return text.replace(/[\t\n\r]/g, ' ').trim();
}

/** Replaces escaped lone surrogates with U+FFFD. They are valid JSON, but the engine rejects them. */
function wellFormed(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(
    /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\./gs,
    (escape) => (escape.length === 6 ? '\\ufffd' : escape),
  );
}

/** Returns whether a value is nested deeper than `levels`, counting itself as the first level. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const child of Object.values(value) as unknown[]) {
    if (child !== null && typeof child === 'object' && isDeeper(child, levels - 1)) return true;
  }
  return false;
}

const idFields = [
  'eventID',
  'eventId',
  'event_id',
  'event.id',
  '_id',
  'metadata.uid',
  'metadata.event_uid',
  'uuid',
  'id',
];

/**
 * Returns the event's own ID: a string of 16 to 200 characters in one of the usual fields. Numbers and short strings in these fields mean
 * something else (the type of a Windows event, a user), as do security identifiers (`S-1-…`) and resource names (`arn:…`). The field `uid` is
 * none of them: in Zeek's logs, all events of a connection have the same.
 */
export function findEventId(event: Record<string, unknown>): string | undefined {
  for (const field of idFields) {
    const value = getValueAtPath(event, field);
    if (typeof value === 'string' && /^[\w\-.:+/=]{16,200}$/.test(value) && !/^(?:S-1-|arn:)/.test(value)) return value;
  }
  return undefined;
}
