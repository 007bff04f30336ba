import { ruleOf, type Rule, type World } from './world.ts';

export type Options = {
  detections: number;
  organizations: number;
  days: number;
  workers: number;
  /** Runs that one worker executes at once. */
  runsAtOnce: number;
  /** Organizations whose events lie in the embedded log store; all others ask a SIEM over HTTP. */
  local: number;
  /** Longest time that one hour's work is waited for before the clock goes on, in milliseconds. */
  waitMs: number;
};

/** Hours `[from, to)` in which something does not answer: the SIEM of some organizations, or every model. */
type Outage = { what: 'siem' | 'model'; orgs: 'all' | number[]; from: number; to: number };
/** What people do to a detection; `enable`: after its query was in error. */
type Change = { hour: number; rule: number; what: 'delete' | 'restore' | 'enable' };

export type Plan = {
  options: Options;
  world: World;
  rules: Rule[];
  outages: Outage[];
  /** Detections whose query is in error in hours `[from, to)`. */
  brokenQueries: { rules: number[]; from: number; to: number };
  changes: Change[];
  /** Hours in which one worker is killed; the first worker never is. */
  kills: { hour: number; worker: number }[];
};

const start = new Date('2026-03-02T00:00:00Z');

/** What happens in a soak, all of it known beforehand: a function of the options. */
export function planSoak(options: Options): Plan {
  const hours = options.days * 24;
  const isLong = hours >= 100;
  const world = { start, hours, rarity: isLong ? 29 : 5 };
  const rules = sizesOf(options).flatMap((size, org) => Array.from({ length: size }, () => org)).map((org, n) => ruleOf(n, org)); // prettier-ignore
  const at = (share: number): number => Math.round(hours * share);
  const some = (every: number, offset: number): number[] => rules.flatMap(({ index }) => (index % every === offset ? [index] : [])); // prettier-ignore
  const broken = { rules: some(isLong ? 200 : 20, 13), from: at(0.6), to: at(0.6) + 6 };
  return {
    options,
    world,
    rules,
    outages: outagesOf(options, { hours, isLong }),
    brokenQueries: broken,
    changes: [
      ...broken.rules.map((rule) => ({ hour: broken.to + 2, rule, what: 'enable' as const })),
      ...some(isLong ? 200 : 20, 17).flatMap((rule) => [
        { hour: at(0.55), rule, what: 'delete' as const },
        { hour: at(0.55) + 5, rule, what: 'restore' as const },
      ]),
    ],
    kills: killsOf(options, hours, isLong ? 8 : 9),
  };
}

/** The first organization has half of all detections. */
function sizesOf({ detections, organizations }: Options): number[] {
  const big = organizations === 1 ? detections : Math.ceil(detections / 2);
  const others = organizations - 1;
  const share = (n: number): number => Math.floor(((n + 1) * (detections - big)) / others) - Math.floor((n * (detections - big)) / others); // prettier-ignore
  return [big, ...Array.from({ length: others }, (_, n) => share(n))];
}

function outagesOf({ organizations }: Options, { hours, isLong }: { hours: number; isLong: boolean }): Outage[] {
  const at = (share: number): number => Math.round(hours * share);
  const each = Array.from({ length: organizations }, (_, org): Outage => {
    const from = 16 + ((org * 37) % Math.max(1, at(0.8) - 16));
    return { what: 'siem', orgs: [org], from, to: from + (isLong ? 3 : 2) };
  });
  const short: Outage[] = [
    ...each,
    { what: 'siem', orgs: 'all', from: at(0.4), to: at(0.4) + (isLong ? 2 : 1) },
    { what: 'model', orgs: 'all', from: at(0.5), to: at(0.5) + 3 },
  ];
  if (!isLong) return short;
  // Longer than windows are looked back for, and longer than candidates wait for a verdict.
  return [
    ...short,
    { what: 'siem', orgs: [1], from: at(0.45), to: at(0.45) + 30 },
    { what: 'model', orgs: 'all', from: at(0.65), to: at(0.65) + 30 },
  ];
}

function killsOf({ workers }: Options, hours: number, every: number): Plan['kills'] {
  if (workers < 2) return [];
  return Array.from({ length: Math.floor((hours - 1) / every) }, (_, n) => ({
    hour: (n + 1) * every,
    worker: 1 + (n % (workers - 1)),
  }));
}
