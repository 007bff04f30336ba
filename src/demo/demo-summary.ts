import { listAll, type DemoClient } from './client.ts';
import type { Expectation } from './expected-hits.ts';

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
export type DemoDetection = { id: string; shippedId: string; name: string; category: string };
export type DetectionOutcome = { detected: DemoDetection; runs: RunFacts[]; hits: HitFacts[]; avgScore: number | null };
type Stats = {
  totalItems: number;
  severityBreakdown: Record<string, number>;
  recentItems: { severity: string; title: string }[];
};

/** What one detection did, read from the API. */
export async function readOutcome(call: DemoClient, detected: DemoDetection): Promise<DetectionOutcome> {
  const runs = await listAll<RunFacts>(call, `/api/detections/${detected.id}/runs`, 'runs');
  const hits = await listAll<HitFacts>(call, `/api/hits?detection=${detected.id}`, 'hits');
  const record = await call<{ avgEvalScore30d: number | null }>('GET', `/api/detections/${detected.id}`);
  return { detected, runs: runs.filter(({ status }) => status !== 'queued'), hits, avgScore: record.avgEvalScore30d };
}

const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0);

const isQuiet = ({ runs, hits }: DetectionOutcome): boolean =>
  hits.length === 0 && runs.every(({ status }) => status === 'completed');

/** One line for all detections that ran and found nothing. */
export function formatQuietDetections(outcomes: DetectionOutcome[]): string[] {
  const names = outcomes.filter(isQuiet).map(({ detected }) => detected.name);
  return names.length === 0 ? [] : ['', `Found nothing (${names.length}): ${names.join(' · ')}`];
}

/** A block of lines for one detection; none where it ran and found nothing. */
export function formatOutcome(outcome: DetectionOutcome): string[] {
  if (isQuiet(outcome)) return [];
  const { detected, runs, hits, avgScore } = outcome;
  const windows = runs.flatMap((run) => run.windows);
  const failed = runs.filter(({ status }) => status === 'failed');
  const figures = [
    `${windows.length} windows`,
    `${sum(runs.map((run) => run.rowsTotal))} rows`,
    `${sum(windows.map((window) => window.candidates))} candidates`,
    `${hits.length} ${hits.length === 1 ? 'hit' : 'hits'}`,
    `score ${avgScore ?? '–'}`,
  ];
  return [
    '',
    `${detected.name}  [${detected.category}]`,
    `  ${figures.join(' · ')}`,
    ...failed.slice(0, 1).map((run) => `  ${failed.length} runs failed: ${run.failure?.message ?? 'no reason given'}`),
    ...hits.flatMap(hitLines),
  ];
}

function hitLines(hit: HitFacts): string[] {
  const evidence = hit.evidence
    .slice(0, 3)
    .map(({ field, value }) => `${field}=${value.length > 80 ? `${value.slice(0, 79)}…` : value}`);
  return [
    `  ● ${hit.severity.padEnd(8)} ${hit.entity}: ${hit.headline}`,
    `             evidence: ${evidence.join(' · ')}`,
  ];
}

export function formatFeed(stats: Stats): string[] {
  const counts = ['critical', 'high', 'medium', 'low', 'none'].map(
    (severity) => `${stats.severityBreakdown[severity] ?? 0} ${severity}`,
  );
  return [
    '',
    `Threat feed: ${stats.totalItems} items`,
    `  ${counts.join(' · ')}`,
    ...stats.recentItems.slice(0, 3).map((item) => `  ● ${item.severity.padEnd(8)} ${item.title}`),
  ];
}

export const readFeedStats = (call: DemoClient): Promise<Stats> => call<Stats>('GET', '/stats');

/** What of the list of things to be found was missed, or found beyond it, in words; empty where the list holds. */
export function findUnmetExpectations(expected: Expectation[], outcomes: DetectionOutcome[]): string[] {
  return expected.flatMap((wanted) => {
    const outcome = outcomes.find(({ detected }) => detected.shippedId === wanted.detection);
    if (!outcome) return [`${wanted.detection} did not run.`];
    const own = outcome.hits.filter(({ entity }) => entity === wanted.entity).length;
    const beyond = outcome.hits.length - own;
    return [
      ...(own < wanted.hitsMin
        ? [`${wanted.detection}: ${own} of at least ${wanted.hitsMin} hits on ${wanted.entity} (${wanted.technique}).`]
        : []),
      ...(beyond > wanted.hitsMaxBeyond
        ? [`${wanted.detection}: ${beyond} hits beyond the intrusion, at most ${wanted.hitsMaxBeyond} are allowed.`]
        : []),
      ...listFailedRuns([outcome]),
    ];
  });
}

/** Detections of which a run failed, in words. */
export function listFailedRuns(outcomes: DetectionOutcome[]): string[] {
  return outcomes.flatMap(({ detected, runs }) =>
    runs
      .filter(({ status }) => status === 'failed')
      .map((run) => `${detected.name}: a run failed: ${run.failure?.message ?? ''}`),
  );
}
