import { isObject } from '../../../platform/lib/json/json-values.ts';
import { parseTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent, eventBytesMax, type ParsedEvent } from '../../log-ingest/events/parse-event.ts';
import { createEventSplitter, type RawEvent } from '../../log-ingest/body/split-events.ts';
import { chooseDataset, addMissing, readTextEvent, type BodyDecoder, type DecodedEvent } from './body-decoder.ts';

/** Metadata of an event, or of a whole request, in its query. */
export type HecMetadata = {
  time?: unknown;
  host?: unknown;
  source?: unknown;
  sourcetype?: unknown;
  index?: unknown;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes events of Splunk's HTTP Event Collector: JSON objects with `event` and metadata. The keys of an `event` object become those of the
 * stored event, and a text becomes `message`. Metadata and `fields` are added where the event has no such key.
 */
export function createHecEventDecoder(defaults: HecMetadata): BodyDecoder {
  const splitter = createObjectSplitter();
  return {
    push: (slice) => splitter.push(slice).map((raw) => decodeEvent(raw, defaults)),
    end: () => splitter.end().map((raw) => decodeEvent(raw, defaults)),
  };
}

/** Decodes a raw body: every line is an event with the metadata of the request. */
export function createHecRawDecoder(defaults: HecMetadata): BodyDecoder {
  const splitter = createEventSplitter({ isText: true });
  const decode = ({ line, bytes, tooLarge }: RawEvent): DecodedEvent => {
    const text = tooLarge ? undefined : decodeUtf8(bytes);
    if (text === undefined) return { item: line, dataset: '', event: tooLarge ? 'too large' : 'not valid UTF-8' };
    return { item: line, ...describe(readTextEvent(text.replace(/\r$/, '')), defaults, {}) };
  };
  return {
    push: (slice) => splitter.push(slice).map(decode),
    end: () => splitter.end().map(decode),
  };
}

function decodeEvent({ line: item, bytes, tooLarge }: RawEvent, defaults: HecMetadata): DecodedEvent {
  const reject = (event: string): DecodedEvent => ({ item, dataset: '', event });
  if (tooLarge) return reject('Event is too large');
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    return reject('Invalid data format: not valid JSON in UTF-8');
  }
  if (!isObject(value)) return reject('Invalid data format: not an object');
  const { event, fields, ...metadata } = value;
  if (event === undefined || event === null) return reject('Event field is required');
  if (event === '') return reject('Event field cannot be blank');
  if (fields !== undefined && !isObject(fields))
    return reject('Error in handling indexed fields: fields is not an object');
  const content = isObject(event) ? event : readTextEvent(typeof event === 'string' ? event : JSON.stringify(event));
  return { item, ...describe(content, { ...defaults, ...metadata }, fields ?? {}) };
}

/** The dataset is that of an ECS event, otherwise the source type, the index, or `ocsf` or `splunk`. The time is that of the metadata. */
function describe(
  content: Record<string, unknown>,
  { time, host, source, sourcetype, index }: HecMetadata,
  fields: Record<string, unknown>,
): { dataset: string; event: ParsedEvent | string } {
  const named = [sourcetype, index].find((name) => typeof name === 'string' && name !== '') as string | undefined;
  const dataset = chooseDataset(content, named, 'splunk');
  const event = addMissing(addMissing(content, fields), { time, host, source, sourcetype, index });
  return { dataset, event: composeEvent(event, parseTime(time)) };
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Splits JSON objects that follow each other, with or without white space or commas between them, or in an array. */
function createObjectSplitter(): { push: (slice: Buffer) => RawEvent[]; end: () => RawEvent[] } {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let line = 0;

  function finish(): RawEvent {
    const tooLarge = pendingBytes > eventBytesMax;
    const raw = { line: (line += 1), bytes: Buffer.concat(pending), tooLarge };
    pending = [];
    pendingBytes = 0;
    return raw;
  }
  function keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    pendingBytes += bytes.length;
    // The start of a larger one is enough to report it.
    if (pendingBytes <= eventBytesMax) pending.push(bytes);
  }

  return {
    push(slice) {
      const found: RawEvent[] = [];
      let from = 0;
      for (let at = 0; at < slice.length; at += 1) {
        const byte = slice[at]!;
        if (isText) {
          if (isEscaped) isEscaped = false;
          else if (byte === 92) isEscaped = true;
          else if (byte === 34) isText = false;
        } else if (depth === 0 && pendingBytes === 0 && from === at && isSeparator(byte)) from = at + 1;
        else if (byte === 34) isText = true;
        else if (byte === 123 || byte === 91) depth += 1;
        else if (byte === 125 || byte === 93) {
          depth -= 1;
          if (depth > 0) continue;
          depth = 0;
          keep(slice.subarray(from, at + 1));
          found.push(finish());
          from = at + 1;
        }
      }
      keep(slice.subarray(from));
      return found;
    },
    end: () => (pendingBytes === 0 ? [] : [finish()]),
  };
}

/** Returns whether a byte is white space, a comma, or a bracket of an array around the objects. */
const isSeparator = (byte: number): boolean => [9, 10, 13, 32, 44, 91, 93].includes(byte);
