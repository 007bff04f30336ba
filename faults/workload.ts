import type { Cluster } from '../test/support/cluster/cluster.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import type { WorkloadSize } from './options.ts';

/** Slot time begins half an hour before the first slot. */
export const startOfTime = new Date('2026-03-02T00:30:00Z');
export const hourAt = (n: number): Date => new Date(Date.UTC(2026, 2, 2, n));

export type Organization = { id: OrgId; key: string; detections: string[] };

type LogEvent = { id: string; timestamp: string; user: string; action: string; rule: number };

/** A detection of the workload. Rule `n` has the kind `n` modulo their number. */
type RuleKind = { category: string; isContinuous: boolean; isJudged: boolean };

const ruleKinds: readonly RuleKind[] = [
  { category: 'first_occurrence', isContinuous: false, isJudged: false },
  { category: 'privilege_escalation', isContinuous: false, isJudged: false },
  { category: 'custom', isContinuous: true, isJudged: false },
  { category: 'custom', isContinuous: false, isJudged: true },
];
const kindOf = (rule: number): RuleKind => ruleKinds[rule % ruleKinds.length]!;
const isFirstOccurrence = (rule: number): boolean => kindOf(rule).category === 'first_occurrence';
/** The hours in which detections of first occurrences learn. Many, because a clock that jumps puts the events of hours into one window. */
const learnedHours = 12;
const noisePerHour = 20;
const batchesPerHour = 3;

/** Returns the events of an hour: noise, values that the first-occurrence detections already know, and planted events, each a hit. */
export function eventsOf({ rules }: WorkloadSize, hour: number): { events: LogEvent[]; planted: LogEvent[] } {
  const timestamp = new Date(hourAt(hour).getTime() + 60_000).toISOString();
  const numbers = Array.from({ length: rules }, (_, rule) => rule);
  const noise = Array.from({ length: noisePerHour }, (_, n) => ({
    id: `event-of-noise-${hour}-${n}`,
    timestamp,
    user: `u${n}`,
    action: 'read',
    rule: -1,
  }));
  const known = numbers
    .filter(isFirstOccurrence)
    .map((rule) => ({ id: `event-known-${hour}-${rule}`, timestamp, user: `known${rule}`, action: 'sign-in', rule }));
  const planted = numbers
    .filter((rule) => (rule * 7 + hour * 3) % 5 === 0 && (!isFirstOccurrence(rule) || hour >= learnedHours))
    .map((rule) => {
      const id = `event-planted-${hour}-${rule}`;
      return isFirstOccurrence(rule)
        ? { id, timestamp, user: `known${rule}`, action: `new-${hour}`, rule }
        : { id, timestamp, user: `planted-${hour}-${rule}`, action: 'delete', rule };
    });
  return { events: [...noise, ...known, ...planted], planted };
}

export async function createDetections(cluster: Cluster, key: string, { rules }: WorkloadSize): Promise<string[]> {
  const ids: string[] = [];
  for (let rule = 0; rule < rules; rule += 1) {
    const { category, isContinuous, isJudged } = kindOf(rule);
    const body = JSON.stringify({
      name: `rule ${rule}`,
      detectionCategory: category,
      systemPrompt: 'Judge it.',
      detectionQuery: `SELECT _id, _time, "user", action FROM auth WHERE rule = ${rule}`,
      entityField: 'user',
      detectionCadence: 'hourly',
      suppressionMinutes: 0,
      // Prevents a slow machine from turning windows into gaps.
      lookbackMinutes: 100_000,
      ...(isContinuous && { continuous: true }),
      ...(isJudged && { modelAlias: 'm', planningMode: 'never' }),
    });
    ids.push(((await cluster.ask('POST', '/api/detections', { key, body })) as { id: string }).id);
  }
  return ids;
}

/** Sends the events of an hour in batches, and creates a detection that never runs. Returns its ID when all of it is acknowledged. */
export async function sendHour(cluster: Cluster, key: string, size: WorkloadSize, hour: number): Promise<string> {
  const { events } = eventsOf(size, hour);
  const headers = { 'content-type': 'application/x-ndjson' };
  for (let batch = 0; batch < batchesPerHour; batch += 1) {
    const lines = events.filter((_, n) => n % batchesPerHour === batch).map((event) => JSON.stringify(event));
    await cluster.ask('POST', '/api/logs/auth', { key, body: lines.join('\n'), headers });
  }
  const body = JSON.stringify({
    name: 'later',
    detectionCategory: 'custom',
    systemPrompt: 'p',
    detectionQuery: 'SELECT 1 AS n',
  });
  return ((await cluster.ask('POST', '/api/detections', { key, body })) as { id: string }).id;
}
