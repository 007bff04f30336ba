import { buildRule, type SoakRule, type SoakTimeline } from './scripted-events.ts';

export type SoakOptions = {
  detections: number;
  organizations: number;
  days: number;
  workers: number;
  /** The number of runs that one worker executes at the same time. */
  runsAtOnce: number;
  /** The number of organizations that use the embedded log store. All others query a SIEM over HTTP. */
  localOrganizations: number;
  /** The maximum wait for one hour's work before the clock advances. */
  waitMs: number;
};

/** The hours `[from, to)` in which the SIEM of some organizations or every model does not answer. */
type Outage = { what: 'siem' | 'model'; orgs: 'all' | number[]; from: number; to: number };
/** A user's change of a detection. `enable` follows a query error that disabled it. */
type Change = { hour: number; rule: number; what: 'delete' | 'restore' | 'enable' };

export type SoakPlan = {
  options: SoakOptions;
  timeline: SoakTimeline;
  rules: SoakRule[];
  outages: Outage[];
  /** Detections whose query fails in the hours `[from, to)`. */
  brokenQueries: { rules: number[]; from: number; to: number };
  changes: Change[];
  /** The hours in which one worker is killed. The first worker is never killed. */
  kills: { hour: number; worker: number }[];
  /** Forwarders of the embedded log store hold back the events of the hours `[from, to)` and send them at `until`. */
  catchUps: { from: number; to: number; until: number }[];
};

const start = new Date('2026-03-02T00:00:00Z');

/** Plans everything that happens in a soak. Depends on the options only. */
export function planSoak(options: SoakOptions): SoakPlan {
  const hours = options.days * 24;
  const isLong = hours >= 100;
  const world = { start, hours, rarity: isLong ? 29 : 5 };
  const rules = listOrganizationSizes(options).flatMap((size, org) => Array.from({ length: size }, () => org)).map((org, n) => buildRule(n, org)); // prettier-ignore
  const hourAt = (share: number): number => Math.round(hours * share);
  const pickRules = (every: number, offset: number): number[] => rules.flatMap(({ index }) => (index % every === offset ? [index] : [])); // prettier-ignore
  const seldom = isLong ? 200 : 8;
  const broken = { rules: pickRules(seldom, 5), from: hourAt(0.6), to: hourAt(0.6) + 6 };
  return {
    options,
    timeline: world,
    rules,
    outages: planOutages(options, { hours, isLong }),
    brokenQueries: broken,
    changes: [
      ...broken.rules.map((rule) => ({ hour: broken.to + 2, rule, what: 'enable' as const })),
      ...pickRules(seldom, 7).flatMap((rule) => [
        { hour: hourAt(0.55), rule, what: 'delete' as const },
        { hour: hourAt(0.55) + 5, rule, what: 'restore' as const },
      ]),
    ],
    kills: planKills(options, hours, isLong ? 8 : 9),
    catchUps: planCatchUps(hours, isLong ? 50 : 20),
  };
}

/** Returns the number of detections per organization. The first organization has half of them. */
function listOrganizationSizes({ detections, organizations }: SoakOptions): number[] {
  const big = organizations === 1 ? detections : Math.ceil(detections / 2);
  const others = organizations - 1;
  const share = (n: number): number => Math.floor(((n + 1) * (detections - big)) / others) - Math.floor((n * (detections - big)) / others); // prettier-ignore
  return [big, ...Array.from({ length: others }, (_, n) => share(n))];
}

function planOutages({ organizations }: SoakOptions, { hours, isLong }: { hours: number; isLong: boolean }): Outage[] {
  const hourAt = (share: number): number => Math.round(hours * share);
  const each = Array.from({ length: organizations }, (_, org): Outage => {
    const from = 16 + ((org * 37) % Math.max(1, hourAt(0.8) - 16));
    return { what: 'siem', orgs: [org], from, to: from + (isLong ? 3 : 2) };
  });
  const short: Outage[] = [
    ...each,
    { what: 'siem', orgs: 'all', from: hourAt(0.4), to: hourAt(0.4) + (isLong ? 2 : 1) },
    { what: 'model', orgs: 'all', from: hourAt(0.5), to: hourAt(0.5) + 3 },
  ];
  if (!isLong) return short;
  // Longer than the look-back for missed windows, and longer than candidates wait for a verdict.
  return [
    ...short,
    { what: 'siem', orgs: [1], from: hourAt(0.45), to: hourAt(0.45) + 30 },
    { what: 'model', orgs: 'all', from: hourAt(0.65), to: hourAt(0.65) + 30 },
  ];
}

/** The last held events are more than a quarter of an hour late, so that all of them count in their own hour. */
const planCatchUps = (hours: number, every: number): SoakPlan['catchUps'] =>
  Array.from({ length: Math.floor((hours - 8) / every) }, (_, n) => {
    const from = (n + 1) * every;
    return { from, to: from + 3, until: from + 4 };
  });

/** Returns the hour in which a forwarder of the embedded log store sends the held events of an hour, or undefined if it does not hold them. */
export const releaseHour = ({ catchUps }: SoakPlan, hour: number): number | undefined =>
  catchUps.find(({ from, to }) => hour >= from && hour < to)?.until;

function planKills({ workers }: SoakOptions, hours: number, every: number): SoakPlan['kills'] {
  if (workers < 2) return [];
  return Array.from({ length: Math.floor((hours - 1) / every) }, (_, n) => ({
    hour: (n + 1) * every,
    worker: 1 + (n % (workers - 1)),
  }));
}
