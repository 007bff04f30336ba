import fc from 'fast-check';
import { convertTask } from '../../../../src/detection/sigma/convert/convert-task.ts';
import type { SiemKind } from '../../../../src/detection/siem/connectors/registry.ts';

/** Events at whole minutes of three hours, which windows of any length divide. */
const minutesMax = 180;
const startMs = Date.UTC(2026, 0, 5);

/** An event of the table `acme_auth`. A host of null is missing. */
export type CorrelatedEvent = { minute: number; kind: 'a' | 'b'; user: string; host: string | null; bytes: number };

const event: fc.Arbitrary<CorrelatedEvent> = fc.record({
  // Around the hours, so that spans and correlations that go on cross them.
  minute: fc.oneof(
    fc.integer({ min: 48, max: 72 }),
    fc.integer({ min: 112, max: 128 }),
    fc.integer({ min: 0, max: minutesMax - 1 }),
  ),
  kind: fc.constantFrom('a', 'b'),
  user: fc.constantFrom('u', 'v'),
  host: fc.constantFrom('h1', 'h2', 'h3', null),
  bytes: fc.integer({ min: 1, max: 5 }),
});

/** Events, and the bounds of the windows that divide them, in minutes. */
export type CorrelatedStream = { events: CorrelatedEvent[]; bounds: number[] };

const stream: fc.Arbitrary<CorrelatedStream> = fc.record({
  events: fc.array(event, { minLength: 5, maxLength: 40 }),
  bounds: fc
    .uniqueArray(fc.integer({ min: 1, max: minutesMax - 1 }), { minLength: 1, maxLength: 6 })
    .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), minutesMax]),
});

/** Returns random events in random windows, the same ones in every run of a seed. */
export const sampleStreams = (numRuns: number): CorrelatedStream[] => fc.sample(stream, { numRuns, seed: sampleSeed });

const sampleSeed = Number(process.env['TOCSIN_PROPERTY_SEED'] ?? 37);

/**
 * A correlation rule and a plain evaluation of it: whether the events of the time span that ends with `last` fulfill it. `ofUser` are those of any time.
 * `inner` are the documents of a correlation that it uses.
 */
export type CorrelatedRule = {
  text: string;
  inner?: string;
  span: number;
  holds: (span: CorrelatedEvent[], last: CorrelatedEvent, ofUser: CorrelatedEvent[]) => boolean;
};

const ofKind = (list: readonly CorrelatedEvent[], kind: string): CorrelatedEvent[] =>
  list.filter((one) => one.kind === kind);
const sum = (list: readonly CorrelatedEvent[]): number => list.reduce((total, { bytes }) => total + bytes, 0);

const countHosts = (list: readonly CorrelatedEvent[]): number =>
  new Set(list.map(({ host }) => host).filter((host) => host !== null)).size;

/** Returns the value below which a share of the bytes lies, interpolated between the two nearest. */
function quantile(list: readonly CorrelatedEvent[], share: number): number {
  const sorted = list.map(({ bytes }) => bytes).toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place - Math.floor(place));
}

export const correlationHead = 'group-by: [user], timespan';
const overEventsOfA = (
  type: string,
  condition: string,
  fulfills: (span: CorrelatedEvent[]) => boolean,
): CorrelatedRule => ({
  text: `{type: ${type}, rules: [a], ${correlationHead}: 7m, condition: {${condition}}}`,
  span: 7,
  holds: (span, { kind }) => kind === 'a' && fulfills(ofKind(span, 'a')),
});

/**
 * A correlation of a correlation, as documents: three events of `a` within five minutes, and then one of `b`. Of the latter, `cases` have the minute
 * and the rows of each window.
 */
export const nestedCorrelation = {
  inner: `title: many\nname: many\ncorrelation: {type: event_count, rules: [a], ${correlationHead}: 5m, condition: {gte: 3}}\n---\n`,
  outer: `{type: temporal_ordered, rules: [many, b], ${correlationHead}: 15m}`,
  streamUntil: (minute: number): CorrelatedStream => {
    const rest = { user: 'u', host: 'h1', bytes: 1 };
    const events = [7, 8, 9].map((one): CorrelatedEvent => ({ minute: one, kind: 'a', ...rest }));
    return { events: [...events, { minute, kind: 'b', ...rest }], bounds: [0, 10, 20, 30] };
  },
  cases: [
    [12, [[], ['u 12'], []]],
    [24, [[], [], ['u 24']]],
    [25, [[], [], []]],
  ] as [number, string[][]][],
};

/** A rule of each type, one whose time span is longer than an hour, and a correlation of a correlation. */
export const correlatedRules: CorrelatedRule[] = [
  {
    text: '{type: event_count, rules: [a], group-by: [user], timespan: 75m, condition: {gte: 6}}',
    span: 75,
    holds: (span, { kind }) => kind === 'a' && ofKind(span, 'a').length >= 6,
  },
  overEventsOfA('event_count', 'gte: 3', (span) => span.length >= 3),
  overEventsOfA('value_count', 'field: host, gte: 2', (span) => countHosts(span) >= 2),
  overEventsOfA('value_sum', 'field: bytes, gt: 6', (span) => sum(span) > 6),
  overEventsOfA('value_avg', 'field: bytes, gt: 3.5', (span) => sum(span) / span.length > 3.5),
  overEventsOfA('value_median', 'field: bytes, lt: 2', (span) => quantile(span, 0.5) < 2),
  overEventsOfA('value_percentile', 'field: bytes, percentile: 90, gte: 4', (span) => quantile(span, 0.9) >= 4),
  {
    text: `{type: temporal, rules: [a, b], ${correlationHead}: 6m}`,
    span: 6,
    holds: (span) => ofKind(span, 'a').length > 0 && ofKind(span, 'b').length > 0,
  },
  {
    text: `{type: temporal_ordered, rules: [a, b], ${correlationHead}: 12m}`,
    span: 12,
    holds: (span, { kind }) => kind === 'b' && ofKind(span, 'a').length > 0,
  },
  {
    text: nestedCorrelation.outer,
    inner: nestedCorrelation.inner,
    span: 15,
    holds: (span, { kind }, ofUser) =>
      kind === 'b' && ofKind(span, 'a').some((one) => ofKind(spanOf(ofUser, one, 5), 'a').length >= 3),
  },
];

const spanOf = (events: readonly CorrelatedEvent[], last: CorrelatedEvent, minutes: number): CorrelatedEvent[] =>
  events.filter(({ user, minute }) => user === last.user && minute <= last.minute && minute >= last.minute - minutes);

/** The beginning of the hour of a correlation that is raised, or of its time span if that is longer, by its number. */
export const periodOf = (minute: number, { span }: Pick<CorrelatedRule, 'span'>): number =>
  Math.floor((startMs / 60_000 + minute) / Math.max(60, span));

/**
 * Returns the correlations of events that are raised: a match without another one in its time span, and the first match in each period for which the
 * events of the period suffice, if it goes on.
 */
export function listRaised(
  events: readonly CorrelatedEvent[],
  rule: CorrelatedRule,
): { user: string; minute: number }[] {
  const { span, holds } = rule;
  return ['u', 'v'].flatMap((user) => {
    const ofUser = events.filter((one) => one.user === user);
    const matches = ofUser.filter((one) => holds(spanOf(ofUser, one, span), one, ofUser));
    const minutes = [...new Set(matches.map(({ minute }) => minute))].toSorted((a, b) => a - b);
    const isAlone = (at: number): boolean => {
      const ofPeriod = ofUser.filter(({ minute }) => periodOf(minute, rule) === periodOf(at, rule));
      return matches.some((one) => one.minute === at && holds(spanOf(ofPeriod, one, span), one, ofUser));
    };
    const isRaised = (minute: number, index: number): boolean => {
      const before = minutes[index - 1];
      if (before === undefined || minute - before > span) return true;
      return isAlone(minute) && !(periodOf(before, rule) === periodOf(minute, rule) && isAlone(before));
    };
    return minutes.filter(isRaised).map((minute) => ({ user, minute }));
  });
}

/** Returns the users and minutes of the correlations that each window must return, whatever the windows. */
export const expectedRows = ({ events, bounds }: CorrelatedStream, rule: CorrelatedRule): string[][] => {
  const raised = listRaised(events, rule);
  return listWindows(bounds).map(([from, to]) =>
    raised
      .filter(({ minute }) => minute >= from && minute < to)
      .map(({ user, minute }) => `${user} ${minute}`)
      .toSorted(),
  );
};

const listWindows = (bounds: readonly number[]): [from: number, to: number][] =>
  bounds.slice(1).map((to, index) => [bounds[index]!, to]);

/** Returns the documents of the rule that finds the events of a kind. */
export const baseRule = (kind: string): string =>
  `title: ${kind}\nname: ${kind}\nlogsource: {product: acme, service: auth}\ndetection: {s: {kind: ${kind}}, condition: s}\n---\n`;

/** Returns the documents of a correlation of the rules `a`, `b` and those of `more`. */
export const writeRules = (rule: string, more = '', title = 'c'): string =>
  `${baseRule('a')}${baseRule('b')}${more}title: ${title}\ncorrelation: ${rule}\n`;

/** Converts a correlation of the rules `a`, `b` and those of `more`. */
export function convertCorrelation(rule: string, kind: SiemKind, more = ''): string {
  const text = writeRules(rule, more);
  const task = { rules: text, kind, datasets: null, mappingFolders: [], allowUnknown: true };
  const { result } = convertTask({ ...task, timeColumn: kind === 'local' ? '_time' : 'at' }).at(-1)!;
  if (result.query === null) throw new Error(JSON.stringify(result));
  return result.query;
}

/** Returns the time of a minute. */
export const timeOf = (minute: number): Date => new Date(startMs + minute * 60_000);

type SlotWindow = { from: Date; to: Date; clock: 'event' };
type Row = Record<string, unknown>;

/** Runs a query in each window, and returns the user and the minute of its rows by window. `time` is the column with the time. */
export async function searchWindows(
  bounds: readonly number[],
  time: string,
  search: (window: SlotWindow) => Promise<readonly Row[]>,
): Promise<string[][]> {
  const minuteOf = (row: Row): number => (new Date(row[time] as string | Date).getTime() - startMs) / 60_000;
  const found: string[][] = [];
  for (const [from, to] of listWindows(bounds)) {
    const rows = await search({ from: timeOf(from), to: timeOf(to), clock: 'event' });
    found.push([...new Set(rows.map((row) => `${String(row['user'])} ${minuteOf(row)}`))].toSorted());
  }
  return found;
}
