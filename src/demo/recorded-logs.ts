import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { findEventTime, parseTime } from '../detection/logs/ingestion/events/event-time.ts';
import type { LogEvent } from './company/shapes.ts';

const filesMax = 10_000;
const bytesMax = 256 * 1024 * 1024;

/**
 * Reads the logs below a directory (CloudTrail files, JSON arrays or NDJSON, plain or .gz), shifted in time so that the last event happens
 * at `end`. The dataset is `cloudtrail` for CloudTrail files, else the folder's name. Throws if there are no events.
 */
export function readRecordedLogs(directory: string, end: Date): LogEvent[] {
  const events: LogEvent[] = [];
  for (const path of listLogFiles(directory)) {
    for (const event of readEvents(path)) {
      const at = findEventTime(event);
      if (at !== undefined) events.push({ at: new Date(at / 1000), dataset: findDataset(path, event), event });
    }
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

function readEvents(path: string): Record<string, unknown>[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: bytesMax }) : bytes).toString('utf8');
  return parseEvents(text).filter(
    (event): event is Record<string, unknown> => typeof event === 'object' && event !== null && !Array.isArray(event),
  );
}

function parseEvents(text: string): unknown[] {
  try {
    const whole: unknown = JSON.parse(text);
    if (Array.isArray(whole)) return whole;
    const records = (whole as { Records?: unknown }).Records;
    return Array.isArray(records) ? records : [whole];
  } catch {
    return text.split('\n').filter(Boolean).flatMap(parseLine);
  }
}

function parseLine(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
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
  const later = new Date(at.getTime() + shiftMs);
  const timeFields = Object.keys(event).filter(
    (key) => Math.floor((parseTime(event[key]) ?? 0) / 1000) === at.getTime(),
  );
  const times = Object.fromEntries(
    (timeFields.length > 0 ? timeFields : ['@timestamp']).map((key) => [key, later.toISOString()]),
  );
  return { at: later, dataset, event: { ...event, ...times } };
}
