import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createEventSplitter } from '../detection/log-ingest/body/split-events.ts';
import { parseEvent, type ParsedEvent } from '../detection/log-ingest/events/parse-event.ts';
import { parseTime } from '../detection/log-ingest/events/event-time.ts';
import { AppError } from '../platform/lib/errors.ts';
import type { LogEvent } from './company/shapes.ts';

const filesMax = 10_000;
const bytesMax = 256 * 1024 * 1024;

/**
 * Reads the logs below a directory (files of the forms that the log store accepts, plain or .gz), shifted in time so that the last event happens
 * at `end`. The dataset is `cloudtrail` for CloudTrail files, else the folder's name. Throws if there are no events.
 */
export function readRecordedLogs(directory: string, end: Date): LogEvent[] {
  const events: LogEvent[] = [];
  for (const path of listLogFiles(directory)) {
    for (const { value: event, timeMicros } of readEvents(path))
      if (timeMicros !== undefined)
        events.push({ at: new Date(timeMicros / 1000), dataset: findDataset(path, event), event });
  }
  if (events.length === 0) throw new Error(`No log events with a time were found below ${directory}.`);
  events.sort((a, b) => a.at.getTime() - b.at.getTime());
  const shiftMs = end.getTime() - 1 - events.at(-1)!.at.getTime();
  return events.map((event) => shiftEvent(event, shiftMs));
}

function listLogFiles(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(json|ndjson|jsonl)(\.gz)?$/.test(name) && !/(^|\/)(meta|index|manifest)\.json$/.test(name))
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();
  if (files.length > filesMax) throw new Error(`${directory} contains more than ${filesMax} log files.`);
  return files;
}

/** Returns the valid events of a file. A file whose JSON is damaged has none. */
function readEvents(path: string): ParsedEvent[] {
  const bytes = readFileSync(path);
  const plain = path.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: bytesMax }) : bytes;
  const splitter = createEventSplitter();
  try {
    return [...splitter.push(plain), ...splitter.end()].flatMap(({ bytes: json, tooLarge }) => {
      const event = tooLarge ? 'too large' : parseEvent(json, undefined);
      return typeof event === 'string' ? [] : [event];
    });
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

function findDataset(path: string, event: Record<string, unknown>): string {
  if ('eventSource' in event && 'awsRegion' in event) return 'cloudtrail';
  const name = basename(dirname(path))
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '_');
  return /^[a-z]/.test(name) ? name.slice(0, 60) : `logs_${name}`.slice(0, 60);
}

/** Shifts an event's time: every top-level field that contains it, or a new `@timestamp` if there is none. */
function shiftEvent({ at, dataset, event }: LogEvent, shiftMs: number): LogEvent {
  const later = new Date(at.getTime() + shiftMs).toISOString();
  const times = Object.keys(event).flatMap((key) => {
    const micros = parseTime(event[key]) ?? 0;
    if (Math.floor(micros / 1000) !== at.getTime()) return [];
    const rest = micros % 1000 === 0 ? '' : String(micros % 1000).padStart(3, '0');
    return [[key, later.replace('Z', `${rest}Z`)]];
  });
  const shifted = Object.fromEntries(times.length > 0 ? times : [['@timestamp', later]]) as Record<string, string>;
  return { at: new Date(later), dataset, event: { ...event, ...shifted } };
}
