import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { pageOf, pageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { AgentView } from './record/detection-row.ts';
import type { DetectionFilter } from './record/detection-input.ts';
import { toRecord } from './record/detection-record.ts';
import type { AgentList, Detection, DetectionList, DismissedList, SuggestionList } from './record/detection.schema.ts';
import { detectionOr404 } from './update-detection.ts';
import {
  findAgent,
  listAgents,
  listDetections,
  listDismissed,
  listOpenSuggestions,
  type Scope,
} from './detection-views.store.ts';

type ReadDeps = Pick<Deps, 'db' | 'clock'>;

function read<T>({ db, clock }: ReadDeps, caller: Caller, work: (tx: Tx, scope: Scope) => Promise<T>): Promise<T> {
  return inOrg(db, caller.orgId, (tx) => work(tx, { orgId: caller.orgId, now: clock() }));
}

/** One detection or suggestion, deleted ones too. */
export async function getDetection(deps: ReadDeps, caller: Caller, id: string): Promise<Detection> {
  return toRecord(detectionOr404(await read(deps, caller, (tx, scope) => findAgent(tx, scope, id)), id));
}

/** Detections that are neither deleted nor suggestions, newest first. All of them, unless `limit` or `cursor` asks for pages. */
export async function getDetections(deps: ReadDeps, caller: Caller, filter: DetectionFilter): Promise<DetectionList> {
  const paged = filter.limit !== undefined || filter.cursor !== undefined;
  const { limit, after } = pageRequest(filter);
  const enabled = filter.enabled === undefined ? undefined : filter.enabled === 'true';
  const found = await read(deps, caller, (tx, scope) =>
    listDetections(tx, scope, { ...filter, enabled, limit: paged ? limit : null, after }),
  );
  if (!paged) return { detections: found.map(toRecord) };
  const { page, nextCursor } = pageOf(found, limit, markOf);
  return { detections: page.map(toRecord), nextCursor };
}

/** Open suggestions, newest first. */
export async function getSuggestions(deps: ReadDeps, caller: Caller, query: PageQuery): Promise<SuggestionList> {
  const { limit, after } = pageRequest(query);
  const found = await read(deps, caller, (tx, scope) => listOpenSuggestions(tx, scope, { limit, after }));
  const { page, nextCursor } = pageOf(found, limit, markOf);
  return { suggestions: page.map(toRecord), nextCursor };
}

/** Dismissed suggestions, latest dismissed first, all of them. */
export async function getDismissed(deps: ReadDeps, caller: Caller): Promise<DismissedList> {
  return { suggestions: (await read(deps, caller, listDismissed)).map(toRecord) };
}

/** Every agent that is not deleted, newest first. */
export async function getAgents(deps: ReadDeps, caller: Caller, query: PageQuery): Promise<AgentList> {
  const { limit, after } = pageRequest(query);
  const found = await read(deps, caller, (tx, scope) => listAgents(tx, scope, { limit, after }));
  const { page, nextCursor } = pageOf(found, limit, markOf);
  return { agents: page.map(toRecord), nextCursor };
}

const markOf = (agent: AgentView): { at: Date; id: string } => ({ at: agent.created_at, id: agent.id });
