import type { QueryRow } from '../../src/detection/siem/connector.ts';
import type { AnalysisDefinition } from '../../src/detection/analysis/analysis-definition.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** An event of one of the scenario files, with its number as its id. `time` is in epoch milliseconds. */
export type ScenarioEvent = { id: string; time: number; values: Record<string, string | number> };

export const scenarioFiles = ['auth', 'api', 'net', 'proxy'] as const;
export type ScenarioFile = (typeof scenarioFiles)[number];

/** A detection of the scenarios. `toRows` computes what its query would return for the events of one window. */
export type ScenarioDetection = Pick<AnalysisDefinition, 'category' | 'entityField'> & {
  name: string;
  file: ScenarioFile;
  slotMs: number;
  toRows: (events: readonly ScenarioEvent[]) => QueryRow[];
};

const isSuccess = ({ values }: ScenarioEvent): boolean => values['outcome'] === 'success';
const isFailure = (event: ScenarioEvent): boolean => !isSuccess(event);

/** Returns rows with the id, the time and some columns of each event. */
const select =
  (...columns: string[]) =>
  (events: readonly ScenarioEvent[]): QueryRow[] =>
    events.map(({ id, time, values }) => ({
      _id: id,
      _time: new Date(time).toISOString(),
      ...Object.fromEntries(columns.map((column) => [column, values[column]])),
    }));

/** Returns one row per value of a column with an aggregate of its events. */
function groupBy(
  column: string,
  events: readonly ScenarioEvent[],
  aggregate: (events: readonly ScenarioEvent[]) => QueryRow,
): QueryRow[] {
  return [...Map.groupBy(events, ({ values }) => values[column])].map(([value, list]) => ({
    [column]: value,
    ...aggregate(list),
  }));
}

const countDistinct = (column: string, events: readonly ScenarioEvent[]): number =>
  new Set(events.map(({ values }) => values[column])).size;

const usersWithFailures = (events: readonly ScenarioEvent[]): QueryRow[] =>
  groupBy('src_ip', events.filter(isFailure), (list) => ({ count: countDistinct('user', list) }));

const bytesPerHost = (events: readonly ScenarioEvent[]): QueryRow[] =>
  groupBy('host', events, (list) => ({
    value: list.reduce((sum, { values }) => sum + Number(values['bytes_out']), 0),
  }));

/** Sign-ins in the order of a sequence: five failures and a success of one user. */
const failuresThenSuccess = (events: readonly ScenarioEvent[]): QueryRow[] =>
  [...Map.groupBy(events, ({ values }) => values['user']).values()].flatMap((list) => {
    let failures = 0;
    return list.flatMap((event) => {
      const [row] = select('user', 'src_ip', 'outcome')([event]);
      failures = isFailure(event) ? failures + 1 : 0;
      if (isFailure(event)) return failures <= 5 ? [{ ...row, step: failures, steps: 6 }] : [];
      return [{ ...row, step: 6, steps: 6 }];
    });
  });

const beaconRequestsMin = 10;
const beaconVariationMax = 0.2;

/** Hosts that ask a domain ten times an hour or more, with gaps that hardly vary. */
const regularRequests = (events: readonly ScenarioEvent[]): QueryRow[] =>
  [...Map.groupBy(events, ({ values }) => `${values['host']} ${values['domain']}`).values()].flatMap((list) => {
    const gaps = list.slice(1).map(({ time }, index) => time - list[index]!.time);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
    if (list.length < beaconRequestsMin || Math.sqrt(variance) > beaconVariationMax * mean) return [];
    const { host, domain } = list[0]!.values;
    return [{ host, domain, count: list.length, seconds: Math.round(mean / 1000) }];
  });

/** Detections for the four files, as a detection engineer would write them. */
export const scenarioDetections: readonly ScenarioDetection[] = [
  {
    name: 'successful sign-ins by user and country',
    file: 'auth',
    category: 'first_occurrence',
    entityField: 'user',
    slotMs: hourMs,
    toRows: (events) => select('user', 'country')(events.filter(isSuccess)),
  },
  {
    name: 'successful sign-ins by user and address',
    file: 'auth',
    category: 'first_occurrence',
    entityField: 'user',
    slotMs: hourMs,
    toRows: (events) => select('user', 'src_ip')(events.filter(isSuccess)),
  },
  {
    name: 'users with a failed sign-in from an address, hourly',
    file: 'auth',
    category: 'baseline_anomaly',
    entityField: 'src_ip',
    slotMs: hourMs,
    toRows: usersWithFailures,
  },
  {
    name: 'users with a failed sign-in from an address, daily',
    file: 'auth',
    category: 'baseline_anomaly',
    entityField: 'src_ip',
    slotMs: dayMs,
    toRows: usersWithFailures,
  },
  {
    name: 'ten users with a failed sign-in from an address',
    file: 'auth',
    category: 'custom',
    entityField: 'src_ip',
    slotMs: hourMs,
    toRows: (events) => usersWithFailures(events).filter(({ count }) => Number(count) >= 10),
  },
  {
    name: 'failed sign-ins of a user',
    file: 'auth',
    category: 'baseline_anomaly',
    entityField: 'user',
    slotMs: hourMs,
    toRows: (events) => groupBy('user', events.filter(isFailure), (list) => ({ count: list.length })),
  },
  {
    name: 'five failed sign-ins, then a successful one',
    file: 'auth',
    category: 'sequence_pattern',
    entityField: 'user',
    slotMs: hourMs,
    toRows: failuresThenSuccess,
  },
  {
    name: 'API calls by role',
    file: 'api',
    category: 'first_occurrence',
    entityField: 'role',
    slotMs: hourMs,
    toRows: select('role', 'eventName'),
  },
  {
    name: 'bytes sent by a host, hourly',
    file: 'net',
    category: 'baseline_anomaly',
    entityField: 'host',
    slotMs: hourMs,
    toRows: bytesPerHost,
  },
  {
    name: 'bytes sent by a host, daily',
    file: 'net',
    category: 'baseline_anomaly',
    entityField: 'host',
    slotMs: dayMs,
    toRows: bytesPerHost,
  },
  {
    name: 'web requests at regular intervals',
    file: 'proxy',
    category: 'custom',
    entityField: 'host',
    slotMs: hourMs,
    toRows: regularRequests,
  },
  {
    name: 'domains by host',
    file: 'proxy',
    category: 'first_occurrence',
    entityField: 'host',
    slotMs: hourMs,
    toRows: select('host', 'domain'),
  },
];
