import { isObject } from '../../../platform/lib/json/json-values.ts';
import type { LogReceipt } from './log-receipt.schema.ts';
import { parseTime } from './event-time.ts';
import type { ParsedEvent } from './parse-event.ts';
import { shippedFields } from './shipped-fields.ts';

type LogWarning = LogReceipt['warnings'][number];

/** Collects what makes accepted events hard to use. */
export type EventWarnings = { note: (event: ParsedEvent, line: number) => void; list: () => LogWarning[] };

/** A list of objects inside an event. `path` has the dotted keys that lead to it. */
type ObjectList = { path: string; length: number };

// Ordinary events are smaller, so that only few dated ones are searched for a long list.
const largeTextChars = 64 * 1024;
const longListMin = 100;
const depthMax = 3;
const keysMax = 200;
// The longest `timeField`.
const timeFieldCharsMax = 200;
const namesListedMax = 5;
const nameCharsMax = 50;

export function createEventWarnings(): EventWarnings {
  let undated: LogWarning | undefined;
  let listed: LogWarning | undefined;
  let unknown: LogWarning | undefined;
  return {
    note(event, line) {
      if (!hasShippedField(event.value)) {
        unknown ??= { code: 'no_known_field', events: 0, line, detail: describeUnknown(event.value) };
        unknown.events += 1;
      }
      const isUndated = event.timeMicros === undefined;
      if (isUndated) {
        undated ??= { code: 'undated', events: 0, line, detail: describeUndated(event.value) };
        undated.events += 1;
      }
      if (!isUndated && event.text.length < largeTextChars) return;
      const list = findLongestList(event.value, depthMax);
      if (list === undefined || list.length < (isUndated ? 2 : longListMin)) return;
      listed ??= { code: 'list_in_event', events: 0, line, detail: describeList(list) };
      listed.events += 1;
    },
    list: () => [undated, listed, unknown].filter((warning) => warning !== undefined),
  };
}

function hasShippedField(event: Record<string, unknown>): boolean {
  for (const key of Object.keys(event)) if (shippedFields.has(key) || shippedFields.has(key.toLowerCase())) return true;
  return false;
}

function describeUnknown(event: Record<string, unknown>): string {
  const names = Object.keys(event).slice(0, namesListedMax);
  const found = names.length === 0 ? 'no fields' : names.map((name) => `\`${name.slice(0, nameCharsMax)}\``).join(', ');
  return `No shipped detection or Sigma mapping reads a field of the events (${found}), so that only queries of your own and the search for indicators cover them. If the fields are inside a text, send them as JSON.`;
}

function describeUndated(event: Record<string, unknown>): string {
  const path = findTimePath(event, depthMax);
  const field = path !== undefined && path.length <= timeFieldCharsMax ? path : undefined;
  const advice =
    field === undefined
      ? 'Add the time of each event, for example as `@timestamp`.'
      : `If \`${field}\` is their time, send such events with \`?timeField=${encodeURIComponent(field)}\`.`;
  return `The events have no usable time and were stored with the time of their arrival. ${advice}`;
}

const describeList = ({ path, length }: ObjectList): string =>
  `A list was stored as a single event: \`${path}\` has ${length} elements. If they are events, send them one per line, or as a JSON array.`;

/** Returns the dotted path of the first field that has a time, searching outer fields first. */
function findTimePath(event: Record<string, unknown>, levels: number): string | undefined {
  const entries = Object.entries(event).slice(0, keysMax);
  const own = entries.find(([, value]) => parseTime(value) !== undefined);
  if (own || levels === 1) return own?.[0];
  for (const [key, value] of entries) {
    const inner = isObject(value) ? findTimePath(value, levels - 1) : undefined;
    if (inner !== undefined) return `${key}.${inner}`;
  }
  return undefined;
}

function findLongestList(event: Record<string, unknown>, levels: number): ObjectList | undefined {
  let longest: ObjectList | undefined;
  for (const [key, value] of Object.entries(event)) {
    let found: ObjectList | undefined;
    if (Array.isArray(value)) found = isObject(value[0]) ? { path: key, length: value.length } : undefined;
    else if (levels > 1 && isObject(value)) {
      const inner = findLongestList(value, levels - 1);
      found = inner && { ...inner, path: `${key}.${inner.path}` };
    }
    if (found && found.length > (longest?.length ?? 0)) longest = found;
  }
  return longest;
}
