import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { inOrg } from '../../platform/db/db.ts';
import { createSharedCalls, type SharedCalls, untilAborted } from '../../platform/lib/concurrency/shared-calls.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import {
  createLogRuleSet,
  matchLogs,
  planMatches,
  type LogRule,
  type LogRuleSet,
  type MatchedRules,
  type MatchPlan,
} from '../log-query/search/match-logs.ts';
import type { SearchLogsDeps } from '../log-query/search/search-logs.ts';
import { createLateCheck } from '../log-query/search/search-together.ts';
import {
  SiemError,
  type QueryWindow,
  type SearchLimits,
  type SearchResult,
  type SharedRequest,
  type SharedResult,
  type SiemConnection,
} from '../siem/connector.ts';
import type { RuleQuery } from '../siem/dialects/dialect.ts';
import { localColumnNames } from '../siem/dialects/duckdb.ts';
import { digestQuery, listRuleDatasets, listRuleQueries } from './sigma-imports.store.ts';
import { quoteIdentifier, duck } from '../log-engine/sql/sql-text.ts';

/** Runs imported rules of one dataset together, so that a slot reads the events of a window once for all of them. */
type RuleSets = {
  /** Returns the dataset of an imported rule's query, or undefined for any other query. */
  datasetOf: (orgId: OrgId, query: string) => Promise<string | undefined>;
  /** Returns the results of queries from those of their sets, and undefined for each query that must run alone. */
  search: (
    orgId: OrgId,
    input: { queries: readonly string[]; window: QueryWindow; limits: SearchLimits },
    signal: AbortSignal,
  ) => Promise<(SearchResult | undefined)[]>;
};

const organizationsMax = 1000;
const datasetsMs = 60_000;
const rereadMs = 250;
const setsMs = 5 * 60_000;
const setsBytesMax = 192 * 1024 * 1024;
const neverAborted = new AbortController().signal;
/** A day becomes windows of three hours. */
const halvingsMax = 3;
/** Fewer rules run faster as queries. */
const rulesMin = 3;

/** The results of a set by the digest of the query. Undefined: the set failed, and its rules run alone. */
type SetResults = Map<string, SearchResult | null> | undefined;

type RuleSetState = {
  deps: SearchLogsDeps;
  /** The dataset of each rule of an organization, by the digest of its query, and when it was read, by `performance.now()`. */
  datasets: LRUCache<OrgId, { readAt: number; byDigest: Promise<Map<string, string>> }>;
  /** The sets that run, and the results of finished ones, by the digest of their plan. */
  running: Map<string, Promise<SetResults>>;
  finished: LRUCache<string, { results: SetResults }>;
  sharePlan: SharedCalls<MatchPlan | undefined>;
};

export function createRuleSets(deps: SearchLogsDeps): RuleSets {
  const state: RuleSetState = {
    deps,
    datasets: new LRUCache({ max: organizationsMax, ttl: datasetsMs }),
    running: new Map(),
    finished: new LRUCache({ maxSize: setsBytesMax, ttl: setsMs, sizeCalculation: ({ results }) => sizeOf(results) }),
    sharePlan: createSharedCalls(),
  };
  return {
    datasetOf: (orgId, query) => findDataset(state, orgId, query),
    search: (orgId, input, signal) => searchSets(state, orgId, input, signal),
  };
}

async function searchSets(
  state: RuleSetState,
  orgId: OrgId,
  { queries, window, limits }: { queries: readonly string[]; window: QueryWindow; limits: SearchLimits },
  signal: AbortSignal,
): Promise<(SearchResult | undefined)[]> {
  if (!isSealed(window)) return queries.map(() => undefined);
  const sets = new Map<string, SetResults>();
  const found: (SearchResult | undefined)[] = [];
  for (const query of queries) {
    const dataset = await findDataset(state, orgId, query);
    if (dataset !== undefined && !sets.has(dataset))
      sets.set(dataset, await findResults(state, orgId, { dataset, window }, signal));
    const result = dataset === undefined ? undefined : sets.get(dataset)?.get(digestQuery(query));
    found.push(result && result.total <= limits.rowsMax ? result : undefined);
  }
  return found;
}

/** A rule that is not known may have been imported or enabled since, so the rules are read again, but not for every query that is no rule. */
async function findDataset({ deps, datasets }: RuleSetState, orgId: OrgId, query: string): Promise<string | undefined> {
  const digest = digestQuery(query);
  const known = datasets.get(orgId);
  const dataset = (await known?.byDigest)?.get(digest);
  if (dataset !== undefined || (known && performance.now() - known.readAt < rereadMs)) return dataset;
  const current = datasets.get(orgId);
  if (current !== undefined && current !== known) return (await current.byDigest).get(digest);
  const byDigest = inOrg(deps.db, orgId, (tx) => listRuleDatasets(tx, orgId));
  datasets.set(orgId, { readAt: performance.now(), byDigest });
  byDigest.catch(() => datasets.delete(orgId));
  return (await byDigest).get(digest);
}

/** Returns the results of the rules of a dataset in a window. */
async function findResults(
  state: RuleSetState,
  orgId: OrgId,
  { dataset, window }: { dataset: string; window: QueryWindow },
  signal: AbortSignal,
): Promise<SetResults> {
  const request = JSON.stringify([orgId, dataset, window]);
  // Runs that share a plan do not share the signal of one of them.
  const planning = state.sharePlan(request, () => planMatches(state.deps, orgId, { dataset, window }, neverAborted));
  const plan = await untilAborted(planning, signal);
  return plan && untilAborted(shareSet(state, orgId, plan), signal);
}

/** Runs a set unless it is running or its results are known. */
function shareSet({ deps, running, finished }: RuleSetState, orgId: OrgId, plan: MatchPlan): Promise<SetResults> {
  const key = createHash('sha256').update(plan.key).digest('base64');
  const known = finished.get(key);
  if (known) return Promise.resolve(known.results);
  const started = running.get(key);
  if (started) return started;
  const run = runSet(deps, orgId, plan)
    .then((results) => {
      finished.set(key, { results });
      return results;
    })
    .finally(() => running.delete(key));
  running.set(key, run);
  return run;
}

async function runSet(deps: SearchLogsDeps, orgId: OrgId, plan: MatchPlan): Promise<SetResults> {
  const queries = await inOrg(deps.db, orgId, (tx) => listRuleQueries(tx, orgId, plan.dataset));
  const rules = [...queries].filter(([, query]) => canShare(query));
  if (rules.length < rulesMin) return undefined;
  const ruleSet = createLogRuleSet(rules.map(([, query]) => toLogRule(query)));
  const results = await matchWindow(deps, orgId, { plan, ruleSet }, 0);
  return results && new Map(rules.map(([digest], index) => [digest, results[index]!]));
}

type Matching = { plan: MatchPlan; ruleSet: LogRuleSet };

/** Evaluates rules on a window, or on its halves if it has too many events. Returns undefined if the smallest part fails as well. */
async function matchWindow(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { plan, ruleSet }: Matching,
  depth: number,
): Promise<MatchedRules | undefined> {
  try {
    return await matchLogs(deps, orgId, plan, ruleSet);
  } catch (error) {
    if (!(error instanceof SiemError)) throw error;
    const { window, dataset } = plan;
    const middle = new Date(Math.floor((window.from.getTime() + window.to.getTime()) / 2));
    const isTooMuch = ['query_timeout', 'query_memory'].includes(error.failure.kind);
    if (!isTooMuch || depth >= halvingsMax || middle <= window.from) return undefined;
    let all: MatchedRules | undefined;
    for (const half of [
      { ...window, to: middle },
      { ...window, from: middle },
    ]) {
      const part = await planMatches(deps, orgId, { dataset, window: half }, neverAborted);
      const found = part && (await matchWindow(deps, orgId, { plan: part, ruleSet }, depth + 1));
      if (!found) return undefined;
      all = all ? all.map((one, index) => joinResults(one, found[index]!)) : found;
    }
    return all;
  }
}

/** Returns the result of a rule in two windows that follow each other, or null if the rule must run alone. */
function joinResults(first: SearchResult | null, second: SearchResult | null): SearchResult | null {
  if (!first || !second) return null;
  const warnings = [...(first.warnings ?? []), ...(second.warnings ?? [])];
  return {
    ...second,
    rows: [...first.rows, ...second.rows],
    total: first.total + second.total,
    early: second.early === true,
    ms: first.ms + second.ms,
    warnings: [...new Map(warnings.map((warning) => [JSON.stringify(warning), warning])).values()],
  };
}

/** Returns whether a window is a slot's and final: no event can appear in it any more, so all runs of a slot read the same events. */
const isSealed = ({ clock, to, ingestedBefore }: QueryWindow): boolean =>
  clock === 'slot' && ingestedBefore?.getTime() === to.getTime();

/** Returns whether a rule can run in a set. In a query, a path that begins like the table or its CTE refers to that table. */
export const canShare = ({ table, fields }: RuleQuery): boolean =>
  fields.every(({ names }) => names.every((name) => !['logs', table].includes(name.split('.')[0]!.toLowerCase())));

/** Returns the rule of the log store that corresponds to the query of a rule. */
export function toLogRule({ fields, columns, constants, where }: RuleQuery): LogRule {
  const names = localColumnNames(fields);
  return {
    where,
    fields: new Map(fields.map((field) => [field.name, field.names])),
    columns: columns.map((field) => ({ name: names.get(field)!, field })),
    constants,
  };
}

const sizeOf = (results: SetResults): number =>
  [...(results?.values() ?? [])].reduce(
    (sum, result) =>
      sum + 1000 + (result ? result.rows.reduce((bytes, row) => bytes + JSON.stringify(row).length, 0) : 0),
    1000,
  );

type RulesConnection = { connection: SiemConnection; sets: RuleSets; orgId: OrgId };

/** Searches imported rules as sets, and all other queries as the connection searches them. */
async function searchRulesTogether(
  { connection, sets, orgId }: RulesConnection,
  requests: readonly SharedRequest[],
  limits: SearchLimits,
  signal: AbortSignal,
): Promise<(SharedResult | undefined)[]> {
  const found: (SharedResult | undefined)[] = requests.map(() => undefined);
  const hasLate = createLateCheck((query, arrival) => connection.lateEvents?.find(query, arrival, signal));
  for (const same of Map.groupBy(requests.keys(), (at) => JSON.stringify(requests[at]!.window)).values()) {
    const queries = same.map((at) => requests[at]!.query);
    const results = await sets.search(orgId, { queries, window: requests[same[0]!]!.window, limits }, signal);
    for (const [index, at] of same.entries()) {
      const result = results[index];
      const dataset = result && (await sets.datasetOf(orgId, requests[at]!.query));
      if (result && dataset !== undefined) found[at] = { result, hasLate: await hasLate(requests[at]!, [dataset]) };
    }
  }
  const others = [...requests.keys()].filter((at) => !found[at]);
  if (others.length === 0 || !connection.searchTogether) return found;
  const rest = await connection.searchTogether(
    others.map((at) => requests[at]!),
    limits,
    signal,
  );
  for (const [index, at] of others.entries()) found[at] = rest[index];
  return found;
}

/** Returns the embedded log store's connection on which imported rules run as sets, with the same results as alone. */
export function withRuleSets(connection: SiemConnection, sets: RuleSets, orgId: OrgId): SiemConnection {
  const { lateEvents } = connection;
  return {
    ...connection,
    search: async (query, window, limits, signal) => {
      // A set returns every field, and nothing about its columns.
      if (limits.hidden) return connection.search(query, window, limits, signal);
      const [result] = await sets.search(orgId, { queries: [query], window, limits }, signal);
      return result ?? connection.search(query, window, limits, signal);
    },
    searchTogether: (requests, limits, signal) =>
      searchRulesTogether({ connection, sets, orgId }, requests, limits, signal),
    ...(lateEvents
      ? {
          lateEvents: {
            ...lateEvents,
            find: async (query, window, signal, lagMsMin) => {
              const dataset = await sets.datasetOf(orgId, query);
              const reading = dataset === undefined ? query : duck`SELECT _id FROM ${quoteIdentifier(dataset)}`;
              return lateEvents.find(reading, window, signal, lagMsMin);
            },
            groupsEvents: async (query, signal) =>
              (await sets.datasetOf(orgId, query)) === undefined && lateEvents.groupsEvents(query, signal),
          },
        }
      : {}),
  };
}
