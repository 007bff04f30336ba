import type { BuiltinDetection } from '../detections/builtin/builtin.ts';
import type { ProofEngine, ProofRow } from '../detections/builtin/proof-engine.ts';
import { HOUR } from './calendar.ts';

/** What a replay of the demo's last hours would raise: an entity in the window that begins at `from` (epoch milliseconds). */
export type Found = { entity: string; from: number };

type Window = { from: number; rows: ProofRow[] };

const HISTORY_WINDOWS = 200;
const isWeekend = (at: number): boolean => [0, 6].includes(new Date(at).getUTCDay());

function median(sorted: number[]): number {
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Distance of a count from its samples as the detection pages define it. */
function robustZ(count: number, samples: number[]): number {
  const middle = median(samples.toSorted((a, b) => a - b));
  const spread = median(samples.map((sample) => Math.abs(sample - middle)).toSorted((a, b) => a - b));
  return (count - middle) / Math.max(1.4826 * spread, Math.sqrt(middle), 1);
}

const hourOf = (window: Window): number => new Date(window.from).getUTCHours();

function sameHours(past: Window[], window: Window): Window[] {
  const near = past.filter(({ from }) => isWeekend(from) === isWeekend(window.from));
  const apart = (other: Window) => Math.abs(hourOf(other) - hourOf(window));
  const samples = near.filter((other) => apart(other) <= 1 || apart(other) === 23);
  return samples.length >= 7 ? samples : past;
}

function unusual(detection: BuiltinDetection, past: Window[], window: Window): string[] {
  const countIn = ({ rows }: Window, entity: unknown) =>
    Number(rows.find((row) => row[detection.entityField] === entity)?.['count'] ?? 0);
  return window.rows.flatMap((row) => {
    const entity = row[detection.entityField];
    const first = past.findIndex(({ rows }) => rows.some((other) => other[detection.entityField] === entity));
    if (first === -1) return [];
    const samples = sameHours(past.slice(first), window).map((other) => countIn(other, entity));
    return robustZ(Number(row['count']), samples) >= 3.5 ? [String(entity)] : [];
  });
}

const authored = new Set(['technique', 'severity']);
const isNumberOrTime = (value: string): boolean => /^-?\d+(\.\d+)?$|^\d{4}-\d{2}-\d{2} /.test(value);

/** What a row says besides numbers, times and ids. */
function words(row: ProofRow): string {
  const told = Object.entries(row).filter(
    ([name, value]) =>
      !name.startsWith('_') && !authored.has(name) && typeof value === 'string' && !isNumberOrTime(value),
  );
  return JSON.stringify(told);
}

function firsts(detection: BuiltinDetection, past: Window[], window: Window): string[] {
  const seen = new Set(past.flatMap(({ rows }) => rows.map(words)));
  return window.rows.filter((row) => !seen.has(words(row))).map((row) => String(row[detection.entityField]));
}

const byTimeAndStep = (a: ProofRow, b: ProofRow): number =>
  String(a['_time']).localeCompare(String(b['_time'])) || Number(a['step']) - Number(b['step']);

function completed(detection: BuiltinDetection, past: Window[], window: Window): string[] {
  const rows = [...past.slice(-24), window].flatMap((each) => each.rows);
  const entities = new Set(window.rows.map((row) => String(row[detection.entityField])));
  return [...entities].filter((entity) => {
    const own = rows.filter((row) => row[detection.entityField] === entity).toSorted(byTimeAndStep);
    const next = own.reduce((step, row) => (Number(row['step']) === step ? step + 1 : step), 1);
    return next > Number(own[0]?.['steps']);
  });
}

function judge(detection: BuiltinDetection, past: Window[], window: Window): string[] {
  if (detection.category === 'baseline_anomaly') return unusual(detection, past, window);
  if (detection.category === 'first_occurrence') return firsts(detection, past, window);
  if (detection.category === 'sequence_pattern') return completed(detection, past, window);
  return [...new Set(window.rows.map((row) => String(row[detection.entityField])))];
}

/** Runs a detection hour by hour over the last `hours` full hours before `end`, with the history that a first run would fill. */
export async function replay(
  engine: ProofEngine,
  detection: BuiltinDetection,
  end: Date,
  hours = 36,
): Promise<Found[]> {
  const last = Math.floor(end.getTime() / HOUR) * HOUR;
  const history = ['privilege_escalation', 'custom'].includes(detection.category) ? 0 : HISTORY_WINDOWS;
  const past: Window[] = [];
  const found: Found[] = [];
  for (let from = last - (hours + history) * HOUR; from < last; from += HOUR) {
    await engine.setWindow(new Date(from), new Date(from + HOUR));
    const window = { from, rows: await engine.run(detection.query) };
    if (from >= last - hours * HOUR) found.push(...judge(detection, past, window).map((entity) => ({ entity, from })));
    past.push(window);
  }
  return found;
}
