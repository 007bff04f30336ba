import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { lockSeenIncident, type ChangeIncidentDeps, type SeenRevision } from './change-incident.ts';
import { announceIncidents } from './incident-events.ts';
import type { IncidentDetail, MergeIncidents, MoveHits, NewIncident, SplitIncident } from './incidents.schema.ts';
import {
  assignAll,
  createIncident,
  markTouched,
  mergeEmptyIncidents,
  moveLinks,
  refreshIncidents,
} from './incidents.store.ts';
import { storeConnections } from './place-hits.ts';
import { assignHits, listHitPlaces, listHitsToPlace, lockIncidents, type HitPlaceRow } from './place-hits.store.ts';
import { insertFindings, type AttachedFinding } from './incident-findings.store.ts';
import { getIncident } from './read-incidents.ts';

/** Opens an incident from hits, which leave the incidents that they are in. Throws 400 for an unknown hit. */
export async function openIncident(
  deps: ChangeIncidentDeps,
  caller: Caller,
  { hitIds }: NewIncident,
): Promise<IncidentDetail> {
  const id = uuidv7(deps.clock());
  await inOrg(deps.db, caller.orgId, async (tx) => {
    await lockIncidents(tx, caller.orgId);
    await createIncident(tx, caller.orgId, { id, now: deps.clock(), isTouched: true });
    const places = await listPlaces(tx, caller, { pointer: '/hitIds', hitIds, now: deps.clock() });
    await storeMove(tx, deps, caller, { action: 'incident.opened', id, places, to: id });
  });
  return getIncident(deps, caller, id);
}

/** Makes hits of an incident an incident of their own. Throws 400 for a hit that is not in it. */
export async function splitIncident(
  deps: ChangeIncidentDeps,
  caller: Caller,
  id: string,
  { hitIds, ...seen }: SplitIncident & SeenRevision,
): Promise<IncidentDetail> {
  const newId = uuidv7(deps.clock());
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const source = await lockSeenIncident(tx, caller, id, seen);
    const places = await listPlaces(tx, caller, { pointer: '/hitIds', hitIds, within: source.id, now: deps.clock() });
    await createIncident(tx, caller.orgId, { id: newId, now: deps.clock(), isTouched: true });
    await storeMove(tx, deps, caller, { action: 'incident.split', id: source.id, places, to: newId });
  });
  return getIncident(deps, caller, newId);
}

/** Adds hits to an incident from wherever they are, and removes others, which then stand alone. Throws 400 for an unknown hit. */
export async function moveHits(
  deps: ChangeIncidentDeps,
  caller: Caller,
  id: string,
  { add = [], remove = [], ...seen }: MoveHits & SeenRevision,
): Promise<IncidentDetail> {
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const incident = await lockSeenIncident(tx, caller, id, seen);
    const added = await listPlaces(tx, caller, { pointer: '/add', hitIds: add, now: deps.clock() });
    const removed = await listPlaces(tx, caller, {
      pointer: '/remove',
      hitIds: remove,
      within: incident.id,
      now: deps.clock(),
    });
    const move = { action: 'incident.hits_moved', id: incident.id };
    if (added.length > 0) await storeMove(tx, deps, caller, { ...move, places: added, to: incident.id });
    if (removed.length > 0) await storeMove(tx, deps, caller, { ...move, places: removed, to: null });
  });
  return getIncident(deps, caller, id);
}

/** Moves all hits of other incidents into one. Their IDs stay valid for it. Throws 400 for an unknown incident. */
export async function mergeIncidents(
  deps: ChangeIncidentDeps,
  caller: Caller,
  id: string,
  { incidentIds, ...seen }: MergeIncidents & SeenRevision,
): Promise<IncidentDetail> {
  const { orgId } = caller;
  await inOrg(deps.db, orgId, async (tx) => {
    const target = await lockSeenIncident(tx, caller, id, seen);
    const merged: string[] = [];
    for (const [index, other] of incidentIds.entries()) {
      const source = await lockSeenIncident(tx, caller, other, {}).catch(() => {
        throw fieldError(`/incidentIds/${index}`, 'not_found', `Incident ${other} not found.`);
      });
      if (source.id !== target.id) merged.push(source.id);
    }
    if (merged.length === 0) return;
    const now = deps.clock();
    await assignAll(tx, orgId, { from: merged, to: target.id });
    await mergeEmptyIncidents(tx, orgId, new Map(merged.map((one) => [one, target.id])), now);
    await moveLinks(tx, orgId, merged, target.id);
    await markTouched(tx, orgId, [target.id]);
    const fields = [{ field: 'incidents', before: merged, after: target.id }];
    const { dueMs } = deps.config.incidents;
    await refreshIncidents(tx, orgId, [target.id], { dueMs, now, author: caller, action: 'incident.merged', fields });
    await announceIncidents(tx, orgId, [target.id]);
    await audit(tx, caller, { action: 'incident.merged', id: target.id, after: { merged } });
  });
  return getIncident(deps, caller, id);
}

type Attached = SeenRevision & { incidentId?: string | undefined; findings: readonly AttachedFinding[] };

/**
 * Copies rows that hunts found into an incident, or opens one of severity `medium` from them. Rows that the incident has already stay as they are.
 * Throws 404, and 409 if the incident has another revision than the request saw.
 */
export async function attachFindings(
  deps: ChangeIncidentDeps,
  caller: Caller,
  { incidentId, findings, ...seen }: Attached,
): Promise<IncidentDetail> {
  const { orgId } = caller;
  const now = deps.clock();
  const { dueMs } = deps.config.incidents;
  const id = await inOrg(deps.db, orgId, async (tx) => {
    const id = incidentId === undefined ? uuidv7(now) : (await lockSeenIncident(tx, caller, incidentId, seen)).id;
    if (incidentId === undefined) {
      const subject = { ...describeFindings(findings, now), severity: 'medium' as const, dueMs };
      await createIncident(tx, orgId, { id, now, isTouched: true, subject });
    }
    const added = await insertFindings(tx, caller, { incidentId: id, findings, now });
    if (added === 0) return id;
    await markTouched(tx, orgId, [id]);
    const action = incidentId === undefined ? 'incident.opened_from_findings' : 'incident.findings_added';
    const fields = [{ field: 'findings', before: null, after: added }];
    await refreshIncidents(tx, orgId, [id], { dueMs, now, author: caller, action, fields });
    await announceIncidents(tx, orgId, [id]);
    await audit(tx, caller, {
      action,
      id,
      after: { findings: added, hunts: [...new Set(findings.map((one) => one.huntId))] },
    });
    return id;
  });
  return getIncident(deps, caller, id);
}

/** Returns the title of an incident that findings open, and the time that they span. */
function describeFindings(findings: readonly AttachedFinding[], now: Date): { title: string; from: Date; to: Date } {
  const [first, ...others] = [...new Set(findings.flatMap(({ entity }) => entity ?? []))];
  const times = findings.map(({ at }) => (at ?? now).getTime());
  const who = first === undefined ? '' : `${first}${others.length > 0 ? ` and ${others.length} more` : ''}: `;
  return {
    title: `${who}${findings.length} ${findings.length === 1 ? 'row' : 'rows'} of the hunt ${findings[0]!.huntName}`,
    from: new Date(Math.min(...times)),
    to: new Date(Math.max(...times)),
  };
}

type Places = { pointer: string; hitIds: readonly string[]; within?: string; now: Date };

/** Lists where hits are, also those that were not placed yet. Throws 400 for an unknown hit, or one outside of `within`. */
async function listPlaces(tx: Tx, { orgId }: Caller, { pointer, hitIds, within, now }: Places): Promise<HitPlaceRow[]> {
  if (hitIds.length === 0) return [];
  const placed = new Set((await listHitPlaces(tx, orgId, hitIds)).map(({ hitId }) => hitId));
  const others = await listHitsToPlace(
    tx,
    orgId,
    hitIds.filter((id) => !placed.has(id)),
  );
  if (others.length > 0)
    await storeConnections(
      tx,
      orgId,
      others.map(({ id }) => id),
      now,
    );
  const places = await listHitPlaces(tx, orgId, hitIds);
  const found = new Map(places.map((place) => [place.hitId, place]));
  for (const [index, id] of hitIds.entries()) {
    const place = found.get(id);
    if (!place) throw fieldError(`${pointer}/${index}`, 'not_found', `Hit ${id} not found.`);
    if (within !== undefined && place.incidentId !== within)
      throw fieldError(`${pointer}/${index}`, 'not_in_incident', `Hit ${id} is not in the incident.`);
  }
  return places;
}

type Move = { action: string; id: string; places: readonly HitPlaceRow[]; to: string | null };

/** Stores that a person moved hits. The incidents that they leave and join are touched from then on. */
async function storeMove(
  tx: Tx,
  deps: ChangeIncidentDeps,
  caller: Caller,
  { action, id, places, to }: Move,
): Promise<void> {
  const { orgId } = caller;
  const now = deps.clock();
  const hitIds = places.map(({ hitId }) => hitId);
  const left = [...new Set(places.flatMap(({ incidentId }) => incidentId ?? []))].filter((one) => one !== to);
  await assignHits(tx, orgId, { hitIds, incidentId: to, isPinned: true });
  const changed = [...left, ...(to === null ? [] : [to])];
  await markTouched(tx, orgId, changed);
  if (to !== null) {
    await moveLinks(tx, orgId, [], to);
    await mergeEmptyIncidents(tx, orgId, new Map(left.map((one) => [one, to])), now);
  }
  const { dueMs } = deps.config.incidents;
  const fields = [{ field: 'moved', before: left, after: to }];
  await refreshIncidents(tx, orgId, changed, { dueMs, now, author: caller, action, fields });
  await announceIncidents(tx, orgId, changed);
  await audit(tx, caller, { action, id, after: { hits: hitIds.length, from: left, to } });
}

function audit(
  tx: Tx,
  caller: Caller,
  { action, id, after }: { action: string; id: string; after: object },
): Promise<void> {
  return insertAudit(tx, caller, { action, resourceType: 'incident', resourceId: id, before: null, after });
}
