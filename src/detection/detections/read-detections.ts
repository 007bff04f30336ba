import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import {
  readPageRequest,
  toPage,
  type PageCursor,
  type PageQuery,
  type PageRequest,
} from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { createPageCache, type CachedPage, type PageCache } from '../../platform/http/responses/cached-pages.ts';
import { mapInSlices, stringifyInSlices } from '../../platform/lib/concurrency/slices.ts';
import {
  listAgents,
  listDetections,
  listDismissed,
  readListVersion,
  listOpenSuggestions,
  type ViewScope,
  findAgent,
  lockAgent,
} from './detection-views.store.ts';
import type { AgentQuery, DetectionFilter } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import type { AgentView } from './record/detection-row.ts';
import type { AgentList, Detection, DetectionList, DismissedList, SuggestionList } from './record/detection.schema.ts';
import { resourceTypeOf } from './detections.store.ts';
import { appError } from '../../platform/lib/errors.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';

type ReadDetectionsDeps = { db: Db; clock: Clock };

function readViews<T>(
  { db, clock }: ReadDetectionsDeps,
  caller: Caller,
  work: (tx: Tx, scope: ViewScope) => Promise<T>,
): Promise<T> {
  return inOrg(db, caller.orgId, (tx) => work(tx, { orgId: caller.orgId, now: clock() }));
}

/** Returns a detection or suggestion, deleted or not. Throws 404 for any other id. */
export async function getDetection(deps: ReadDetectionsDeps, caller: Caller, id: string): Promise<Detection> {
  return toRecord(await readViews(deps, caller, (tx, scope) => readDetection(tx, scope, id)));
}

/** Returns whether a request is for all detections that match, not for a page of them. */
export const isWholeList = ({ limit, cursor }: DetectionFilter): boolean => limit === undefined && cursor === undefined;

/** Returns detections that are neither deleted nor suggestions, newest first. Returns all of them unless `limit` or `cursor` requests pages. */
export async function getDetections(
  deps: ReadDetectionsDeps,
  caller: Caller,
  filter: DetectionFilter,
): Promise<DetectionList> {
  const { enabled, ...whole } = wholeList(filter);
  if (isWholeList(filter)) {
    const query = { ...filter, enabled, ...whole };
    return {
      detections: (await readViews(deps, caller, (tx, scope) => listDetections(tx, scope, query))).map(toRecord),
    };
  }
  const { records, nextCursor } = await readPage(deps, caller, filter, (tx, scope, request) =>
    listDetections(tx, scope, { ...filter, enabled, ...request }),
  );
  return { detections: records, nextCursor };
}

export const createDetectionLists = (): PageCache => createPageCache(listsBytesMax, listsBytesMax);

const listsBytesMax = 96 * 1024 * 1024;

/** Returns the response of all detections that `getDetections` returns, which is built again when one of them or what is shown of it has changed. */
export function getDetectionList(
  deps: ReadDetectionsDeps & { detectionLists: PageCache },
  caller: Caller,
  filter: DetectionFilter,
): Promise<CachedPage> {
  const { detectionLists } = deps;
  return readViews(deps, caller, async (tx, scope) => {
    const key = JSON.stringify([scope.orgId, filter, await readListVersion(tx, scope)]);
    const known = detectionLists.get(key);
    if (known) return known;
    const views = await listDetections(tx, scope, { ...filter, ...wholeList(filter) });
    const detections = await mapInSlices(views, toRecord);
    return detectionLists.put(key, Buffer.from(await stringifyInSlices({ detections } satisfies DetectionList)));
  });
}

const wholeList = ({ enabled }: DetectionFilter) => ({
  enabled: enabled === undefined ? undefined : enabled === 'true',
  limit: null,
  after: null,
});

/** Returns open suggestions, newest first. */
export async function getSuggestions(
  deps: ReadDetectionsDeps,
  caller: Caller,
  query: PageQuery,
): Promise<SuggestionList> {
  const { records, nextCursor } = await readPage(deps, caller, query, listOpenSuggestions);
  return { suggestions: records, nextCursor };
}

/** Returns all dismissed suggestions, most recently dismissed first. */
export async function getDismissed(deps: ReadDetectionsDeps, caller: Caller): Promise<DismissedList> {
  return { suggestions: (await readViews(deps, caller, listDismissed)).map(toRecord) };
}

/** Returns every agent that is not deleted, or those of a kind, newest first. */
export async function getAgents(deps: ReadDetectionsDeps, caller: Caller, query: AgentQuery): Promise<AgentList> {
  const kinds = { isBuiltIn: query.builtIn === 'true', isResponse: query.type === 'response' };
  const { records, nextCursor } = await readPage(deps, caller, query, (tx, scope, page) =>
    listAgents(tx, scope, { ...page, ...kinds }),
  );
  return { agents: records, nextCursor };
}

async function readPage(
  deps: ReadDetectionsDeps,
  caller: Caller,
  query: PageQuery,
  list: (tx: Tx, scope: ViewScope, request: PageRequest) => Promise<AgentView[]>,
): Promise<{ records: Detection[]; nextCursor: string | null }> {
  const request = readPageRequest(query);
  const found = await readViews(deps, caller, (tx, scope) => list(tx, scope, request));
  const { page, nextCursor } = toPage(found, request.limit, toCursor);
  return { records: page.map(toRecord), nextCursor };
}

const toCursor = (agent: AgentView): PageCursor => ({ at: agent.created_at, id: agent.id });

/** Returns the agent if it is a detection or suggestion, deleted or not. Throws 404 for any other kind of agent. */
export function requireDetection(agent: AgentView | undefined, id: string): AgentView {
  if (agent?.agent_type !== 'detection') throw appError('not_found', `Detection ${id} not found.`);
  return agent;
}

/** Like `requireDetection`, but throws 409 if the detection is deleted. */
function requireEditable(agent: AgentView | undefined, id: string): AgentView {
  const detection = requireDetection(agent, id);
  if (detection.deleted_at !== null) throw appError('conflict', `Detection ${id} is deleted. Restore it first.`);
  return detection;
}

/** Reads a detection or suggestion, deleted or not. Throws 404 for any other id. */
export const readDetection = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireDetection(await findAgent(tx, scope, id), id);

/** Like `readDetection`, and locks it until the transaction ends. What belongs to a detection changes with the detection locked. */
export const lockDetection = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireDetection(await lockAgent(tx, scope, id), id);

/** Like `readDetection`, but throws 409 if the detection is deleted. */
export const readEditable = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireEditable(await findAgent(tx, scope, id), id);

/** Locks a detection or suggestion until the transaction ends. Throws 404 for any other id, and 409 if it is deleted. */
export const lockEditable = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireEditable(await lockAgent(tx, scope, id), id);

/** Returns the agent if an organization writes it: a detection, suggestion or response agent, deleted or not. Throws 404 for any other id. */
export function requireAuthored(agent: AgentView | undefined, id: string): AgentView {
  if (!agent || agent.is_built_in) throw appError('not_found', `Detection or response agent ${id} not found.`);
  return agent;
}

/** Like `requireAuthored`, and locks the agent until the transaction ends. Throws 409 if it is deleted. */
export async function lockAuthored(tx: Tx, scope: ViewScope, id: string): Promise<AgentView> {
  const agent = requireAuthored(await lockAgent(tx, scope, id), id);
  if (agent.deleted_at !== null) throw appError('conflict', `${id} is deleted. Restore it first.`);
  return agent;
}

/** Writes the audit row of a change that belongs to an agent of any kind but not to its record. */
export const auditAgent = (
  tx: Tx,
  caller: Caller,
  agent: Pick<AgentView, 'id' | 'agent_type'>,
  change: { action: string; before: unknown; after: unknown },
): Promise<void> => insertAudit(tx, caller, { ...change, resourceType: resourceTypeOf(agent), resourceId: agent.id });

/** Writes the audit row of a change that belongs to a detection but not to its record. */
export const auditDetection = (
  tx: Tx,
  caller: Caller,
  detectionId: string,
  change: { action: string; before: unknown; after: unknown },
): Promise<void> => insertAudit(tx, caller, { ...change, resourceType: 'detection', resourceId: detectionId });
