import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSampleEngine, type SampleEvent } from '../../src/demo/sample-engine.ts';
import { isSeverityAtLeast } from '../../src/detection/analysis/candidate.ts';
import type { QualityFigure } from '../figures.ts';
import type { NaiveDetection } from './noise-detections.ts';
import { hourMs, readHours, replayHours } from './noise-replay.ts';
import { readRecordedJson, readRecordedRows, requireData } from '../recorded-inputs.ts';

/** Each recording lasts at most an hour, so its time is stretched to as many hours, of which the first half only fills memory. */
const stretchedHours = 60;

type Recording = { dataset: string; events: Record<string, unknown>[] };

/**
 * Counts the candidates of untuned detections on recorded simulations of attacks, in the second half of each. The recordings do not tell benign
 * from malicious rows, and most rows are the noise of a laboratory, so the figure is an upper limit of the benign ones.
 */
export async function measureRecordedNoise(detections: readonly NaiveDetection[]): Promise<QualityFigure[]> {
  const counts = new Map<NaiveDetection, { severe: number; all: number; recordings: number }>();
  for (const { dataset, events } of listRecordings()) {
    const own = detections.filter(({ query }) => new RegExp(`FROM ${dataset}\\b`).test(query));
    const engine = await openSampleEngine(stretch(dataset, events));
    const end = Math.ceil(baseMs / hourMs + stretchedHours) * hourMs;
    const rows = await readHours(engine, own, { end, hours: stretchedHours });
    engine.close();
    for (const [detection, hours] of rows) {
      const candidates = replayHours(detection, hours, stretchedHours / 2).flatMap((hour) => hour.candidates);
      const { severe, all, recordings } = counts.get(detection) ?? { severe: 0, all: 0, recordings: 0 };
      counts.set(detection, {
        severe: severe + candidates.filter(({ severity }) => isSeverityAtLeast(severity, 'medium')).length,
        all: all + candidates.length,
        recordings: recordings + 1,
      });
    }
  }
  return [...counts].map(([{ name }, { severe, all, recordings }]) => ({
    name: `${name}, on recorded logs: candidates of medium or above`,
    measured: `${severe} of ${all}, in the second half of ${recordings} recording${recordings === 1 ? '' : 's'}`,
  }));
}

/** Returns the recorded events of an attack on an AWS account. */
export function readCloudTrail(): Record<string, unknown>[] {
  const cloudtrail = join(requireData(), 'logs/cloudtrail');
  const files = readdirSync(cloudtrail, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.gz'));
  return files.flatMap(
    (name) => readRecordedJson<{ Records: Record<string, unknown>[] }>(`logs/cloudtrail/${name}`).Records,
  );
}

function listRecordings(): Recording[] {
  const windows = readdirSync(join(requireData(), 'logs/windows')).toSorted();
  return [
    { dataset: 'cloudtrail', events: readCloudTrail() },
    ...windows.map((name) => ({
      dataset: 'windows',
      events: readRecordedRows<Record<string, unknown>>(`logs/windows/${name}/events.ndjson.gz`),
    })),
  ];
}

const baseMs = Date.UTC(2030, 0, 7);

/** Stretches the time of events so that the first is at `baseMs` and the last almost `stretchedHours` later. */
function stretch(dataset: string, events: readonly Record<string, unknown>[]): SampleEvent[] {
  const times = events.map(readTime);
  const known = times.filter(Number.isFinite);
  const first = Math.min(...known);
  const factor = (stretchedHours * hourMs - 1) / Math.max(Math.max(...known) - first, 1);
  return events.map((event, index) => {
    const ms = Number.isFinite(times[index]) ? (times[index]! - first) * factor : 0;
    const time = new Date(baseMs + Math.floor(ms)).toISOString();
    return { dataset, event: { ...event, eventID: `event-${index}`, eventTime: time, '@timestamp': time } };
  });
}

const readTime = (event: Record<string, unknown>): number =>
  Date.parse(String(event['@timestamp'] ?? event['eventTime'] ?? event['TimeCreated'] ?? event['EventTime']));
