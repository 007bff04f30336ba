import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Tuning } from '../analysis/tuning.schema.ts';
import { findContinuousObstacle } from '../detections/check-detection.ts';
import type { EventFilter, FieldPath } from '../log-engine/inspection/event-filter.ts';
import { inspectQuery, distinctDatasets } from '../log-query/search/inspect-query.ts';
import {
  createLogRuleSet,
  findMatches,
  planMatches,
  type LogRuleSet,
  type LogRule,
} from '../log-query/search/match-logs.ts';
import { searchLogs, type SearchLogsDeps } from '../log-query/search/search-logs.ts';
import { isReservedName, textColumn } from '../log-store/catalog/catalog.ts';
import { listFields } from '../matching/expression.ts';
import { chooseGuards } from '../matching/rule-set.ts';
import { toExpression } from '../portable-queries/to-expression.ts';
import type { TimeRange } from '../scheduling/timeline.ts';
import { SiemError, type QueryWindow, selectsLogStore } from '../siem/connector.ts';
import type { RuleQuery } from '../siem/dialects/dialect.ts';
import { canShare, toLogRule } from '../sigma/rule-sets.ts';
import { digestQuery, listRuleQueries } from '../sigma/sigma-imports.store.ts';
import {
  listMatchedDetections,
  listQueries,
  type DetectionRevision,
  type MatchCount,
  listUnknownDetectionsAcrossOrgs,
  storeEligibility,
  type ContinuousDetectionRow,
  type Eligibility,
} from './continuous-detections.store.ts';

/** A detection with its condition. `query` is the query that decides about events for which the condition is true. Null: the condition decides. */
type IndexedDetection = DetectionRevision & { condition: EventRule['rule'] | undefined; query: string | null };

/** The detections of a dataset, whose conditions are prepared once until one of them changes. */
export type RuleIndex = {
  /** What `readMatchedKey` returned. */
  key: string;
  detections: readonly IndexedDetection[];
  /** The detections with a condition, in the order of the rules of the set. */
  conditional: readonly IndexedDetection[];
  ruleSet: LogRuleSet;
};

/** A dataset of an organization. */
export type DatasetKey = { orgId: OrgId; dataset: string };

/** Reads the detections of a dataset. Reuses those of an earlier index that have not changed. */
export async function readIndex(
  deps: SearchLogsDeps,
  { orgId, dataset }: DatasetKey,
  key: string,
  earlier: RuleIndex | undefined,
): Promise<RuleIndex> {
  const known = new Map(earlier?.detections.map((one) => [idOf(one), one]));
  const { revisions, added, ruleQueries } = await inOrg(deps.db, orgId, async (tx) => {
    const revisions = await listMatchedDetections(tx, orgId, dataset);
    const unknown = revisions.filter((one) => !known.has(idOf(one)));
    const added = unknown.length > 0 ? await listQueries(tx, orgId, unknown) : [];
    const digests = added.map(({ query }) => digestQuery(query));
    const ruleQueries = added.length > 0 ? await listRuleQueries(tx, orgId, dataset, digests) : new Map();
    return { revisions, added, ruleQueries };
  });
  for (const { query, ...revision } of added) {
    const ruleQuery = ruleQueries.get(digestQuery(query));
    const rule = (ruleQuery && planSigmaRule(ruleQuery)) ?? (await readFilter(deps, { orgId, dataset }, query));
    known.set(idOf(revision), { ...revision, condition: rule?.rule, query: rule?.isExact ? null : query });
  }
  const detections = revisions.flatMap((one) => known.get(idOf(one)) ?? []);
  const conditional = detections.filter(({ condition }) => condition !== undefined);
  return { key, detections, conditional, ruleSet: createLogRuleSet(conditional.map(({ condition }) => condition!)) };
}

const idOf = ({ detectionId, revision }: DetectionRevision): string => `${detectionId}:${revision}`;

async function readFilter(
  deps: SearchLogsDeps,
  { orgId, dataset }: DatasetKey,
  query: string,
): Promise<EventRule | undefined> {
  const { inspection } = await inspectQuery(deps, orgId, query);
  const filter = inspection.filters[dataset];
  return filter && planFilter(filter);
}

/**
 * Returns the detections that match events of a window by arrival, with the number of these events. The events are read once for all detections.
 * Runs the query of a detection whose query decides, but only if its condition is true of an event. Calls `onSearch` before each search. After
 * `searchMs` of searches, the others are left to runs.
 */
export async function matchEvents(
  deps: SearchLogsDeps,
  { detections, conditional, ruleSet }: RuleIndex,
  { orgId, dataset, window, searchMs = 10_000 }: DatasetKey & { window: TimeRange; searchMs?: number },
  onSearch: () => Promise<void>,
): Promise<MatchCount[]> {
  const queryWindow: QueryWindow = { ...window, clock: 'ingest' };
  const found = await findConditions(deps, { orgId, dataset, window: queryWindow }, ruleSet);
  const events = new Map(conditional.map((one, index) => [one, found?.get(index)]));
  const isDecided = (one: IndexedDetection): boolean =>
    found !== undefined && events.has(one) && (one.query === null || !events.get(one));
  const counts = detections.flatMap((one) =>
    isDecided(one) && events.get(one) ? [{ ...toRevision(one), events: events.get(one)! }] : [],
  );
  const undecided = await withQueries(
    deps,
    orgId,
    detections.filter((one) => !isDecided(one)),
  );
  const began = performance.now();
  for (const { query, ...revision } of undecided) {
    // Other events must not wait for many slow queries.
    const isLate = performance.now() - began > searchMs;
    if (!isLate) await onSearch();
    const matched = isLate ? 1 : await countEvents(deps, orgId, query, queryWindow);
    if (matched > 0) counts.push({ ...revision, events: matched });
  }
  return counts;
}

const toRevision = ({ detectionId, revision }: DetectionRevision): DetectionRevision => ({ detectionId, revision });

/** Returns the queries of detections. Those whose condition decides are read, because the index does not have them. */
async function withQueries(
  { db }: SearchLogsDeps,
  orgId: OrgId,
  detections: readonly IndexedDetection[],
): Promise<(DetectionRevision & { query: string })[]> {
  const known = detections.flatMap((one) => (one.query === null ? [] : { ...toRevision(one), query: one.query }));
  const others = detections.filter(({ query }) => query === null);
  return others.length === 0 ? known : [...known, ...(await inOrg(db, orgId, (tx) => listQueries(tx, orgId, others)))];
}

/** Returns the number of events for which each condition is true, by its index in the set. Undefined if they cannot be evaluated together. */
async function findConditions(
  deps: SearchLogsDeps,
  { orgId, ...input }: DatasetKey & { window: QueryWindow },
  ruleSet: LogRuleSet,
): Promise<Map<number, number> | undefined> {
  if (ruleSet.rules.length === 0) return new Map();
  try {
    const plan = await planMatches(deps, orgId, input, new AbortController().signal);
    const found = plan && (await findMatches(deps, orgId, plan, ruleSet));
    return found && new Map([...found].map(([index, rows]) => [index, rows?.length ?? rowsMax]));
  } catch (error) {
    // A value or the size of the events makes the evaluation fail. Then each detection is searched alone.
    if (error instanceof SiemError && error.failure.blame !== 'service') return undefined;
    throw error;
  }
}

/** Matches above the limit per minute are not counted exactly. */
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

/**
 * A condition on single events that is true at least of those that a detection matches. `isExact`: of no others, so that the query need not be
 * searched.
 */
type EventRule = { rule: LogRule; isExact: boolean };

/** Returns the condition of an imported Sigma rule. Undefined if its query must be read instead. */
const planSigmaRule = (ruleQuery: RuleQuery): EventRule | undefined =>
  canShare(ruleQuery) ? { rule: { ...toLogRule(ruleQuery), columns: [], constants: {} }, isExact: true } : undefined;

/** Returns the condition that the filter of a query stands for. Undefined: every event may match. */
export function planFilter(filter: EventFilter): EventRule | undefined {
  const where = toExpression(filter, { nameOf, canWrite: () => true });
  if (!where) return undefined;
  const fields = new Map(listFields(where).map((field) => [field!, [field!]]));
  return { rule: { where, fields, columns: [], constants: {} }, isExact: false };
}

/** Returns whether no text is known that an event must have to match, so that the condition is evaluated for every event. */
const isExpensive = (rule: EventRule | undefined): boolean =>
  rule === undefined || chooseGuards(rule.rule.where, () => 0) === undefined;

/** Returns how the log store calls a path of an event, or undefined if it has no name for it. An exact path is read as text, whatever its type. */
function nameOf({ keys, isExact }: FieldPath): string | undefined {
  if (keys.some((key) => key.includes('.') || key === '') || isReservedName(keys[0]!)) return undefined;
  return isExact ? [textColumn, ...keys].join('.') : keys.join('.');
}

const detectionsMax = 200;

/** Finds out which of the new and changed continuous detections can be matched, and stores it. Returns whether there were any. */
export async function checkNewDetections(deps: SearchLogsDeps): Promise<boolean> {
  const rows = await listUnknownDetectionsAcrossOrgs(deps.db, detectionsMax);
  for (const [orgId, own] of Map.groupBy(rows, (row) => row.orgId)) {
    const checked: Eligibility[] = [];
    for (const row of own) checked.push({ ...row, ...(await checkEligibility(deps, row)) });
    await inOrg(deps.db, orgId, async (tx) => {
      for (const one of checked) await storeEligibility(tx, one, deps.clock());
    });
  }
  return rows.length > 0;
}

async function checkEligibility(
  deps: SearchLogsDeps,
  row: ContinuousDetectionRow,
): Promise<Pick<Eligibility, 'dataset' | 'obstacle' | 'expensive'>> {
  const { orgId, category, query } = row;
  const parts = {
    category,
    isScheduled: true,
    isLocal: selectsLogStore(orgId, row),
    tuning: row.tuning === null ? null : (JSON.parse(row.tuning) as Tuning),
  };
  const obstacle = findContinuousObstacle({ ...parts, crossEventPart: undefined });
  if (obstacle !== null) return notMatched(obstacle);
  try {
    const { inspection, sources } = await inspectQuery(deps, orgId, query);
    const found = findContinuousObstacle({ ...parts, crossEventPart: inspection.crossEventPart });
    if (found !== null) return notMatched(found);
    const dataset = distinctDatasets(sources)[0]!;
    return { dataset, obstacle: null, expensive: isExpensive(planFilter(inspection.filters[dataset]!)) };
  } catch (error) {
    if (!(error instanceof SiemError) || error.failure.blame !== 'author') throw error;
    return notMatched(`The query cannot run: ${error.failure.message}`);
  }
}

const notMatched = (obstacle: string) => ({ dataset: null, obstacle, expensive: false });
