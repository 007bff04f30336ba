import { LRUCache } from 'lru-cache';
import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { inspectQuery } from '../log-query/search/inspect-query.ts';
import { matchLogs, planMatches, type MatchedRules } from '../log-query/search/match-logs.ts';
import { searchLogs, type SearchLogsDeps } from '../log-query/search/search-logs.ts';
import type { TimeRange } from '../scheduling/timeline.ts';
import { SiemError, type QueryWindow } from '../siem/connector.ts';
import { digestQuery, listRuleQueries } from '../sigma/sigma-imports.store.ts';
import type { MatchCount, MatchedDetection } from './continuous-detections.store.ts';
import { planFilter, planSigmaRule, type EventRule } from './plan-rules.ts';

/** The conditions of the detections of a dataset, compiled once until one of them changes. */
type RuleIndex = { detections: readonly MatchedDetection[]; rules: readonly (EventRule | undefined)[]; key: string };

/** The indexes of the datasets that this process has matched last. */
export type RuleIndexes = LRUCache<string, RuleIndex>;

const datasetsMax = 500;

export const createRuleIndexes = (): RuleIndexes => new LRUCache({ max: datasetsMax });

type Dataset = { orgId: OrgId; dataset: string };

/** Returns the index of detections, which are in the same order whenever they are the same. */
async function findIndex(
  deps: SearchLogsDeps,
  indexes: RuleIndexes,
  { orgId, dataset }: Dataset,
  detections: readonly MatchedDetection[],
): Promise<RuleIndex> {
  const place = `${orgId}/${dataset}`;
  const key = detections.map(({ detectionId, revision }) => `${detectionId}:${revision}`).join();
  const known = indexes.get(place);
  if (known?.key === key) return known;
  const ruleQueries = await inOrg(deps.db, orgId, (tx) => listRuleQueries(tx, orgId, dataset));
  const rules: (EventRule | undefined)[] = [];
  for (const { query } of detections) {
    const ruleQuery = ruleQueries.get(digestQuery(query));
    rules.push((ruleQuery && planSigmaRule(ruleQuery)) ?? (await readFilter(deps, orgId, dataset, query)));
  }
  const index = { detections, rules, key };
  indexes.set(place, index);
  return index;
}

async function readFilter(
  deps: SearchLogsDeps,
  orgId: OrgId,
  dataset: string,
  query: string,
): Promise<EventRule | undefined> {
  const { inspection } = await inspectQuery(deps, orgId, query);
  const filter = inspection.filters[dataset];
  return filter && planFilter(filter);
}

/**
 * Returns the detections with the number of their events in a window by arrival. The events are read once for all detections. Those whose condition
 * is true of more events than their query returns are searched, but only if it is true of one. `onSearch` is called before each search.
 */
export async function matchEvents(
  deps: SearchLogsDeps,
  indexes: RuleIndexes,
  { window, detections, ...dataset }: Dataset & { window: TimeRange; detections: readonly MatchedDetection[] },
  onSearch: () => Promise<void>,
): Promise<MatchCount[]> {
  const { orgId } = dataset;
  const { rules } = await findIndex(deps, indexes, dataset, detections);
  const queryWindow: QueryWindow = { ...window, clock: 'ingest' };
  const found = await matchRules(deps, { ...dataset, window: queryWindow }, rules);
  const counts: MatchCount[] = [];
  for (const [index, { detectionId, query }] of detections.entries()) {
    const result = found?.[index];
    const isExact = result !== undefined && result !== null && rules[index]?.isExact === true;
    if (isExact || result?.total === 0) {
      counts.push({ detectionId, events: result!.total });
      continue;
    }
    await onSearch();
    counts.push({ detectionId, events: await countEvents(deps, orgId, query, queryWindow) });
  }
  return counts;
}

/** Evaluates the conditions on the events of a window. Returns undefined for each without one, and for all if they cannot be evaluated together. */
async function matchRules(
  deps: SearchLogsDeps,
  { orgId, ...input }: Dataset & { window: QueryWindow },
  rules: readonly (EventRule | undefined)[],
): Promise<(MatchedRules[number] | undefined)[] | undefined> {
  const known = rules.flatMap((one) => one?.rule ?? []);
  if (known.length === 0) return undefined;
  try {
    const plan = await planMatches(deps, orgId, input, new AbortController().signal);
    const results = plan && (await matchLogs(deps, orgId, plan, known))[Symbol.iterator]();
    return results && rules.map((one) => (one ? results.next().value : undefined));
  } catch (error) {
    // A value or the size of the events makes the evaluation fail. Then each detection is searched alone.
    if (error instanceof SiemError && error.failure.blame !== 'service') return undefined;
    throw error;
  }
}

/** More matches than a detection may have in a minute are not counted exactly. */
const rowsMax = 10_000;

/** Returns the number of events that a query returns. None if it fails: then its slot examines them, and reports why. */
async function countEvents(deps: SearchLogsDeps, orgId: OrgId, query: string, window: QueryWindow): Promise<number> {
  try {
    const limits = { rowsMax, groupsMax: rowsMax, timeoutMs: 30_000 };
    const { rows, truncated } = await searchLogs(deps, orgId, { query, window, limits });
    return truncated ? rowsMax : new Set(rows.map((row) => row['_id'])).size;
  } catch (error) {
    if (error instanceof SiemError && error.failure.blame !== 'service') return 0;
    throw error;
  }
}
