import { listAll, type DemoClient } from './client.ts';
import { intrusion } from './company/intrusion.ts';

type RunFacts = {
  status: string;
  rowsTotal: number;
  score: number | null;
  windows: { candidates: number }[];
  failure: { message: string } | null;
};
type HitFacts = {
  entity: string;
  severity: string;
  headline: string;
  evidence: { field: string; value: string }[];
  occurrences: number;
};
export type DemoDetection = { id: string; builtInId: string; name: string; category: string };
export type DetectionOutcome = { detected: DemoDetection; runs: RunFacts[]; hits: HitFacts[]; avgScore: number | null };
type Stats = {
  totalItems: number;
  severityBreakdown: Record<string, number>;
  recentItems: { severity: string; title: string }[];
};

/** Reads the runs, hits and score of a detection from the API. */
export async function readOutcome(call: DemoClient, detected: DemoDetection): Promise<DetectionOutcome> {
  const runs = await listAll<RunFacts>(call, `/api/detections/${detected.id}/runs`, 'runs');
  const hits = await listAll<HitFacts>(call, `/api/hits?detection=${detected.id}`, 'hits');
  const record = await call<{ avgEvalScore30d: number | null }>('GET', `/api/detections/${detected.id}`);
  return { detected, runs: runs.filter(({ status }) => status !== 'queued'), hits, avgScore: record.avgEvalScore30d };
}

const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0);

const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const isQuiet = ({ runs, hits }: DetectionOutcome): boolean =>
  hits.length === 0 && runs.every(({ status }) => status === 'completed');

/** Formats one line for all detections that completed without hits. */
export function formatQuietDetections(outcomes: DetectionOutcome[]): string[] {
  const names = outcomes.filter(isQuiet).map(({ detected }) => detected.name);
  return names.length === 0 ? [] : ['', `No hits (${names.length}): ${names.join(' · ')}`];
}

/** Formats the lines of one detection. Returns none if it completed without hits. */
export function formatOutcome(outcome: DetectionOutcome): string[] {
  if (isQuiet(outcome)) return [];
  const { detected, runs, hits, avgScore } = outcome;
  const windows = runs.flatMap((run) => run.windows);
  const failed = runs.filter(({ status }) => status === 'failed');
  const figures = [
    formatCount(windows.length, 'window'),
    formatCount(sum(runs.map((run) => run.rowsTotal)), 'row'),
    formatCount(sum(windows.map((window) => window.candidates)), 'candidate'),
    formatCount(hits.length, 'hit'),
    `score ${avgScore ?? '–'}`,
  ];
  return [
    '',
    `${detected.name}  [${detected.category}]`,
    `  ${figures.join(' · ')}`,
    ...failed
      .slice(0, 1)
      .map((run) => `  ${formatCount(failed.length, 'run')} failed: ${run.failure?.message ?? 'unknown reason'}`),
    ...hits.flatMap(formatHit),
  ];
}

function formatHit(hit: HitFacts): string[] {
  const evidence = hit.evidence
    .slice(0, 3)
    .map(({ field, value }) => `${field}=${value.length > 80 ? `${value.slice(0, 79)}…` : value}`);
  return [`  ● ${hit.severity.padEnd(8)} ${hit.headline}`, `             evidence: ${evidence.join(' · ')}`];
}

export function formatFeed(stats: Stats): string[] {
  const counts = ['critical', 'high', 'medium', 'low', 'none'].map(
    (severity) => `${stats.severityBreakdown[severity] ?? 0} ${severity}`,
  );
  return [
    '',
    `Threat feed: ${formatCount(stats.totalItems, 'item')}`,
    `  ${counts.join(' · ')}`,
    ...stats.recentItems.slice(0, 3).map((item) => `  ● ${item.severity.padEnd(8)} ${item.title}`),
  ];
}

export const readFeedStats = (call: DemoClient): Promise<Stats> => call<Stats>('GET', '/api/feed/stats');

/** Returns a sentence for each expectation that was not met. */
export function findUnmetExpectations(expected: Expectation[], outcomes: DetectionOutcome[]): string[] {
  return expected.flatMap((wanted) => {
    const outcome = outcomes.find(({ detected }) => detected.builtInId === wanted.detection);
    if (!outcome) return [`${wanted.detection} did not run.`];
    const { detection, entity, technique, hitsMin, otherHitsMax } = wanted;
    const hits = outcome.hits.filter((hit) => hit.entity === entity).length;
    const otherHits = outcome.hits.length - hits;
    return [
      ...(hits < hitsMin ? [`${detection}: ${hits} of at least ${hitsMin} hits on ${entity} (${technique}).`] : []),
      ...(otherHits > otherHitsMax
        ? [`${detection}: ${otherHits} hits outside the intrusion. At most ${otherHitsMax} are expected.`]
        : []),
      ...listFailedRuns([outcome]),
    ];
  });
}

/** Returns a sentence for each failed run. */
export function listFailedRuns(outcomes: DetectionOutcome[]): string[] {
  return outcomes.flatMap(({ detected, runs }) =>
    runs
      .filter(({ status }) => status === 'failed')
      .map((run) => `${detected.name}: a run failed: ${run.failure?.message ?? ''}`),
  );
}

/** The required result of a detection on the company's logs: at least `hitsMin` hits on the entity, and at most `otherHitsMax` on all others together. */
type Expectation = {
  detection: string;
  stage: string;
  entity: string;
  technique: string;
  hitsMin: number;
  otherHitsMax: number;
};

function expect(detection: string, stage: string, otherHitsMax: number): Expectation {
  const step = intrusion.find((candidate) => candidate.stage === stage);
  if (step === undefined) throw new Error(`The intrusion has no stage ${stage}`);
  return { detection, stage, entity: step.entity, technique: step.technique, hitsMin: 1, otherHitsMax };
}

/** The demo's detections, one per category. Hits on other entities come from the harmless events in `company/company.ts`. */
export const expectedHits: Expectation[] = [
  expect('sign-in-new-country', 'sign-in', 2),
  expect('account-takeover', 'access-key', 0),
  expect('aws-admin-policy-attached', 'privilege-escalation', 1),
  expect('aws-discovery-burst', 'discovery', 1),
  expect('recovery-inhibited', 'recovery-inhibited', 0),
];

/** The findings of further built-in detections in the same logs. */
export const additionalExpectedHits: Expectation[] = [
  expect('password-spray', 'password-spray', 0),
  expect('aws-secrets-harvested', 'secrets', 0),
  expect('upload-to-new-domain', 'exfiltration', 1),
  expect('aws-cloudtrail-disabled', 'log-tampering', 0),
];
