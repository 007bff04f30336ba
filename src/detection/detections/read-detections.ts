import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/clock.ts';
import { readPageRequest, toPage, type PageCursor, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import {
  findAgent,
  listAgents,
  listDetections,
  listDismissed,
  listOpenSuggestions,
  type ViewScope,
} from './detection-views.store.ts';
import type { DetectionFilter } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import type { AgentView } from './record/detection-row.ts';
import type { AgentList, Detection, DetectionList, DismissedList, SuggestionList } from './record/detection.schema.ts';
import { requireDetection } from './require-detection.ts';

export type ReadDetectionsDeps = { db: Db; clock: Clock };

function readViews<T>(
  { db, clock }: ReadDetectionsDeps,
  caller: Caller,
  work: (tx: Tx, scope: ViewScope) => Promise<T>,
): Promise<T> {
  return inOrg(db, caller.orgId, (tx) => work(tx, { orgId: caller.orgId, now: clock() }));
}

/** Returns a detection or suggestion, deleted or not. Throws 404 for any other id. */
export async function getDetection(deps: ReadDetectionsDeps, caller: Caller, id: string): Promise<Detection> {
  return toRecord(requireDetection(await readViews(deps, caller, (tx, scope) => findAgent(tx, scope, id)), id));
}

/** Returns detections that are neither deleted nor suggestions, newest first. Returns all of them unless `limit` or `cursor` requests pages. */
export async function getDetections(
  deps: ReadDetectionsDeps,
  caller: Caller,
  filter: DetectionFilter,
): Promise<DetectionList> {
  const isPaged = filter.limit !== undefined || filter.cursor !== undefined;
  const { limit, after } = readPageRequest(filter);
  const enabled = filter.enabled === undefined ? undefined : filter.enabled === 'true';
  const found = await readViews(deps, caller, (tx, scope) =>
    listDetections(tx, scope, { ...filter, enabled, limit: isPaged ? limit : null, after }),
  );
  if (!isPaged) return { detections: found.map(toRecord) };
  const { page, nextCursor } = toPage(found, limit, toCursor);
  return { detections: page.map(toRecord), nextCursor };
}

/** Returns open suggestions, newest first. */
export async function getSuggestions(
  deps: ReadDetectionsDeps,
  caller: Caller,
  query: PageQuery,
): Promise<SuggestionList> {
  const { limit, after } = readPageRequest(query);
  const found = await readViews(deps, caller, (tx, scope) => listOpenSuggestions(tx, scope, { limit, after }));
  const { page, nextCursor } = toPage(found, limit, toCursor);
  return { suggestions: page.map(toRecord), nextCursor };
}

/** Returns all dismissed suggestions, most recently dismissed first. */
export async function getDismissed(deps: ReadDetectionsDeps, caller: Caller): Promise<DismissedList> {
  return { suggestions: (await readViews(deps, caller, listDismissed)).map(toRecord) };
}

/** Returns every agent that is not deleted, newest first. */
export async function getAgents(deps: ReadDetectionsDeps, caller: Caller, query: PageQuery): Promise<AgentList> {
  const { limit, after } = readPageRequest(query);
  const found = await readViews(deps, caller, (tx, scope) => listAgents(tx, scope, { limit, after }));
  const { page, nextCursor } = toPage(found, limit, toCursor);
  return { agents: page.map(toRecord), nextCursor };
}

const toCursor = (agent: AgentView): PageCursor => ({ at: agent.created_at, id: agent.id });
