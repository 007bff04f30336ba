import fc from 'fast-check';
import { convertTask } from '../../../../src/detection/sigma/convert/convert-task.ts';
import type { SiemKind } from '../../../../src/detection/siem/connectors/registry.ts';

/** Windows of ten minutes, and events at whole minutes. */
const slotMs = 10 * 60_000;
const slots = 5;
const startMs = Date.UTC(2026, 0, 5);

/** An event of the table `acme_auth`. A host of null is missing. */
export type CorrelatedEvent = { minute: number; kind: 'a' | 'b'; user: string; host: string | null; bytes: number };

const event: fc.Arbitrary<CorrelatedEvent> = fc.record({
  // Around the bounds of a few slots, so that spans cross them.
  minute: fc.oneof(
    fc.integer({ min: 6, max: 14 }),
    fc.integer({ min: 17, max: 23 }),
    fc.integer({ min: 0, max: 10 * slots - 1 }),
  ),
  kind: fc.constantFrom('a', 'b'),
  user: fc.constantFrom('u', 'v'),
  host: fc.constantFrom('h1', 'h2', 'h3', null),
  bytes: fc.integer({ min: 1, max: 5 }),
});

/** Returns lists of random events, the same ones in every run. */
export const sampleEvents = (numRuns: number): CorrelatedEvent[][] =>
  fc.sample(fc.array(event, { minLength: 5, maxLength: 20 }), { numRuns, seed: 37 });

/** A correlation rule and a plain evaluation of it: whether the events of the time span that ends with `last` fulfill it. */
export type CorrelatedRule = {
  text: string;
  span: number;
  holds: (span: CorrelatedEvent[], last: CorrelatedEvent) => boolean;
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

/** A rule of each type. */
export const correlatedRules: CorrelatedRule[] = [
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
];

/** A correlation of a correlation, as documents: three events of `a` within five minutes, and then one of `b`. */
export const nestedCorrelation = {
  inner: `title: many\nname: many\ncorrelation: {type: event_count, rules: [a], ${correlationHead}: 5m, condition: {gte: 3}}\n---\n`,
  outer: `{type: temporal_ordered, rules: [many, b], ${correlationHead}: 15m}`,
};

const spanOf = (events: readonly CorrelatedEvent[], last: CorrelatedEvent, minutes: number): CorrelatedEvent[] =>
  events.filter(({ user, minute }) => user === last.user && minute <= last.minute && minute >= last.minute - minutes);
const slotOf = ({ minute }: CorrelatedEvent): number => Math.floor(minute / 10);
const keyOf = ({ minute, user }: CorrelatedEvent): string => `${user} ${minute}`;

/** Returns what each slot must return, by slot: a match whose events of the slot suffice, or whose span has no match of an earlier slot. */
export function expectedRows(events: readonly CorrelatedEvent[], { span, holds }: CorrelatedRule): string[][] {
  const matches = events.filter((one) => holds(spanOf(events, one, span), one));
  return Array.from({ length: slots }, (_, slot) => {
    const own = matches.filter((one) => slotOf(one) === slot);
    const returned = own.filter((one) => {
      const isAlone = holds(
        spanOf(events, one, span).filter((other) => slotOf(other) === slot),
        one,
      );
      return isAlone || !spanOf(matches, one, span).some((other) => slotOf(other) < slot);
    });
    return [...new Set(returned.map(keyOf))].toSorted();
  });
}

/** Returns the documents of the rule that finds the events of a kind. */
export const baseRule = (kind: string): string =>
  `title: ${kind}\nname: ${kind}\nlogsource: {product: acme, service: auth}\ndetection: {s: {kind: ${kind}}, condition: s}\n---\n`;

/** Converts a correlation of the rules `a`, `b` and those of `more`. */
export function convertCorrelation(rule: string, kind: SiemKind, more = ''): string {
  const text = `${baseRule('a')}${baseRule('b')}${more}title: c\ncorrelation: ${rule}\n`;
  const task = { rules: text, kind, datasets: null, mappingFolders: [], allowUnknown: true };
  const { result } = convertTask({ ...task, timeColumn: kind === 'local' ? '_time' : 'at' }).at(-1)!;
  if (result.query === null) throw new Error(JSON.stringify(result));
  return result.query;
}

/** Returns the time of a minute. */
export const timeOf = (minute: number): Date => new Date(startMs + minute * 60_000);

type SlotWindow = { from: Date; to: Date; clock: 'event' };
type Row = Record<string, unknown>;

/** Runs a query in each slot, and returns the user and the minute of its rows by slot. `time` is the column with the time. */
export async function searchSlots(
  time: string,
  search: (window: SlotWindow) => Promise<readonly Row[]>,
): Promise<string[][]> {
  const minuteOf = (row: Row): number => (new Date(row[time] as string | Date).getTime() - startMs) / 60_000;
  const found: string[][] = [];
  for (let slot = 0; slot < slots; slot++) {
    const from = startMs + slot * slotMs;
    const rows = await search({ from: new Date(from), to: new Date(from + slotMs), clock: 'event' });
    found.push([...new Set(rows.map((row) => `${String(row['user'])} ${minuteOf(row)}`))].toSorted());
  }
  return found;
}
