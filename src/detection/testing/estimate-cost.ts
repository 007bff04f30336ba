import { type Db, inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { ConfiguredModel, Models } from '../../platform/models/models.ts';
import { findDefinition } from '../detections/history/history.store.ts';
import { buildDefinition, checkModelAlias } from '../detections/record/build-detection.ts';
import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import type { Estimate } from '../detections/record/detection.schema.ts';
import { type CandidateCost, measuredCosts, predictMonth, type Range, rangeOf, typicalCost } from './cost-ranges.ts';
import type { TestSubject } from './run-test-case.ts';
import {
  collectHitKeys,
  countRows,
  findOldestEvent,
  openTrialRun,
  simulateTimeRange,
  toQueryError,
  type TrialDeps,
} from './simulate-time-range.ts';
import type { SimulationResult } from './simulate.ts';
import { listVerdictDays, readVerdictSpend } from './spend-history.store.ts';
import type { CostEstimate } from './testing.schema.ts';

const dayMs = 86_400_000;
const pastDays = 30;
/** A past of fewer days says less than a preview of the query. */
const ownDaysMin = 7;
const verdictsMin = 5;

type CandidateBasis = CostEstimate['basis']['candidates'];
type TokenBasis = CostEstimate['basis']['tokens'];

/**
 * Estimates what a detection that is not stored yet will cost per month. Stores nothing. Throws the errors of a preview, and 422 if there are no events to
 * estimate from.
 */
export async function estimateNewDetection(
  deps: TrialDeps,
  caller: Caller,
  input: CreateDetection,
): Promise<CostEstimate> {
  const now = deps.clock();
  checkModelAlias(deps.models, input.modelAlias);
  const definition = buildDefinition(caller, input, now);
  return estimateCost(deps, { orgId: caller.orgId, detectionId: uuidv7(now), definition }, now);
}

/** Like `estimateNewDetection`, for a stored detection. Throws 404 if it does not exist, and 400 if its model alias is no longer configured. */
export async function estimateDetection(
  deps: TrialDeps,
  { orgId }: Caller,
  detectionId: string,
): Promise<CostEstimate> {
  const definition = await inOrg(deps.db, orgId, (tx) => findDefinition(tx, orgId, detectionId));
  if (!definition) throw appError('not_found', `Detection ${detectionId} not found.`);
  checkModelAlias(deps.models, definition.modelAlias);
  return estimateCost(deps, { orgId, detectionId, definition }, deps.clock());
}

async function estimateCost(deps: TrialDeps, subject: TestSubject, now: Date): Promise<CostEstimate> {
  const { counts, basis } = (await readOwnPast(deps, subject, now)) ?? (await previewCounts(deps, subject));
  const candidates = predictMonth(counts);
  const perCandidate = await readCandidateCosts(deps, subject, now);
  const aliases = perCandidate.costs.map(({ alias, calls, tokens, costUsd }) => ({
    alias,
    model: deps.models?.find(alias)?.name ?? null,
    calls: perMonth(candidates, calls, Math.round),
    tokens: perMonth(candidates, tokens, Math.round),
    costUsd: costUsd && perMonth(candidates, costUsd, toCents),
  }));
  const costs = aliases.map(({ costUsd }) => costUsd);
  return {
    modelAlias: subject.definition.modelAlias,
    candidates,
    aliases,
    costUsd: costs.every((cost) => cost !== null)
      ? rangeOf((bound) => toCents(costs.reduce((sum, cost) => sum + cost[bound], 0)))
      : null,
    basis: { candidates: basis, tokens: perCandidate.basis },
  };
}

const perMonth = (candidates: Range, each: Range, round: (value: number) => number): Range =>
  rangeOf((bound) => round(candidates[bound] * each[bound]));

const toCents = (usd: number): number => Math.round(usd * 100) / 100;

type PastCounts = { counts: number[]; basis: CandidateBasis };

/** Returns the verdicts of the last 30 days by day, with days without any, from the first run of the present query on. Undefined before a week of it. */
async function readOwnPast(deps: { db: Db }, subject: TestSubject, now: Date): Promise<PastCounts | undefined> {
  const since = new Date(now.getTime() - pastDays * dayMs);
  const query = subject.definition.detectionQuery;
  const rows = await inOrg(deps.db, subject.orgId, (tx) => listVerdictDays(tx, subject, { query, since }));
  const [first, last] = [rows[0], rows.at(-1)];
  if (!first || !last) return undefined;
  const days = (Date.parse(last.day) - Date.parse(first.day)) / dayMs + 1;
  if (days < ownDaysMin) return undefined;
  const byDay = new Map(rows.map(({ day, verdicts }) => [day, verdicts]));
  const counts = Array.from({ length: days }, (_, index) => {
    const day = new Date(Date.parse(first.day) + index * dayMs).toISOString().slice(0, 10);
    return byDay.get(day) ?? 0;
  });
  const to = new Date(Date.parse(last.day) + dayMs).toISOString();
  const basis = { source: 'runs', from: `${first.day}T00:00:00.000Z`, to, days, complete: true } as const;
  return { counts, basis: { ...basis, candidates: counts.reduce((sum, count) => sum + count, 0) } };
}

/** Returns the candidates that a preview would have judged, by day. */
async function previewCounts(deps: TrialDeps, subject: TestSubject): Promise<PastCounts> {
  const past = await simulateRecentPast(deps, subject);
  if (!past || past.result.windows.length === 0)
    throw appError('check_failed', 'There are no events that the query reads, so that nothing can be estimated.');
  const { from, to, result } = past;
  const days = Math.max(1, Math.round((to.getTime() - from.getTime()) / dayMs));
  const counts = Array.from({ length: days }, () => 0);
  for (const window of result.windows) {
    const judged = window.resolutions.filter(({ outcome }) => outcome === 'judged').length;
    const day = Math.min(days - 1, Math.max(0, Math.floor((window.from.getTime() - from.getTime()) / dayMs)));
    counts[day]! += judged;
  }
  return {
    counts,
    basis: {
      source: 'preview',
      from: from.toISOString(),
      to: to.toISOString(),
      days,
      candidates: counts.reduce((sum, count) => sum + count, 0),
      complete: result.complete,
    },
  };
}

/** Returns what a candidate costs by alias: measured on the detection itself, else on all detections with the alias, else by typical figures. */
async function readCandidateCosts(
  { db, models }: TrialDeps,
  { orgId, detectionId, definition }: TestSubject,
  now: Date,
): Promise<{ costs: CandidateCost[]; basis: TokenBasis }> {
  const alias = definition.modelAlias;
  const model = models?.find(alias);
  if (!models || !model) return { costs: [], basis: { source: 'analyst', verdicts: 0 } };
  const since = new Date(now.getTime() - pastDays * dayMs);
  for (const source of ['detection', 'organization'] as const) {
    const scope = source === 'detection' ? { alias, detectionId, since } : { alias, since };
    const spend = await inOrg(db, orgId, (tx) => readVerdictSpend(tx, orgId, scope));
    if (spend.verdicts >= verdictsMin && spend.byAlias.length > 0)
      return { costs: measuredCosts(spend), basis: { source, verdicts: spend.verdicts } };
  }
  const hasSentences = (definition.acceptanceCriteria ?? []).some((criterion) => typeof criterion === 'string');
  return { costs: typicalCosts(models, model, hasSentences), basis: { source: 'typical', verdicts: 0 } };
}

function typicalCosts(models: Models, model: ConfiguredModel, hasSentences: boolean): CandidateCost[] {
  const parts = [
    typicalCost('investigation', model),
    ...(model.entry.verifyClaims ? [typicalCost('verification', models.find('verifier') ?? model)] : []),
    ...(hasSentences ? [typicalCost('grading', models.find('judge') ?? model)] : []),
  ];
  return [...Map.groupBy(parts, ({ alias }) => alias).values()].map((same) => same.reduce(addCandidateCosts));
}

const addCandidateCosts = (a: CandidateCost, b: CandidateCost): CandidateCost => ({
  alias: a.alias,
  calls: addRanges(a.calls, b.calls),
  tokens: addRanges(a.tokens, b.tokens),
  costUsd: a.costUsd && b.costUsd && addRanges(a.costUsd, b.costUsd),
});

const addRanges = (a: Range, b: Range): Range => rangeOf((bound) => a[bound] + b[bound]);

const logStoreDays = 7;
/** Fewer days than for the log store, because another SIEM is queried window by window and may limit or charge for queries. */
const remoteDays = 1;
const oldestEventMs = 20_000;

/** A detection on its recent past: from where to where, and what it would have found. */
type RecentPast = { from: Date; to: Date; result: SimulationResult };

/**
 * Runs a detection on event time over the last seven days in the embedded log store or the last day in another SIEM. Returns null if there are no
 * events that the query reads. The built-in analyst gives the verdicts at no cost. Throws the same errors as `simulateTimeRange`.
 */
async function simulateRecentPast(deps: TrialDeps, subject: TestSubject): Promise<RecentPast | null> {
  const now = deps.clock();
  const definition = { ...subject.definition, modelAlias: 'analyst' };
  const run = await openTrialRun(deps, { ...subject, definition }, now);
  const signal = AbortSignal.timeout(oldestEventMs);
  const oldestEvent = await findOldestEvent(run.connection, definition.detectionQuery, signal).catch(
    (error: unknown) => {
      throw toQueryError(error);
    },
  );
  if (oldestEvent === null || oldestEvent >= now) return null;
  const daysMax = run.connection.id === undefined ? logStoreDays : remoteDays;
  const from = new Date(Math.max(oldestEvent.getTime(), now.getTime() - daysMax * dayMs));
  const result = await simulateTimeRange(deps, run, { range: { from, to: now }, now });
  return { from, to: result.windows.at(-1)?.to ?? from, result };
}

/**
 * Estimates what a detection would have raised on its recent past, or returns null without one. A model would raise fewer hits than the built-in analyst.
 */
export async function estimateNoise(deps: TrialDeps, subject: TestSubject): Promise<Estimate | null> {
  const past = await simulateRecentPast(deps, subject);
  if (!past) return null;
  const { from, to, result } = past;
  const resolutions = result.windows.flatMap((window) => window.resolutions);
  const hits = collectHitKeys(resolutions).size;
  const days = Math.max((to.getTime() - from.getTime()) / dayMs, 1);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    windows: result.windows.length,
    rowsTotal: countRows(result),
    candidates: resolutions.length,
    hits,
    hitsPerDay: Math.round((10 * hits) / days) / 10,
    complete: result.complete,
  };
}
