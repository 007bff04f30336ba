import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { listTags } from '../../platform/http/etag.ts';
import { appError, AppError, fieldError, staleError, toFailureReason } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { findPersonByName } from '../../platform/orgs/sessions/persons.store.ts';
import { emitHitEvents } from '../hits/hit-events.ts';
import { lockBatchHits, lockIncidentHits, storeStatuses, type LockedHit } from '../hits/hit-status.store.ts';
import type { HitStatus } from '../hits/hits.schema.ts';
import { announceIncidents, emitIncidentEvents, toIncident } from './incident-events.ts';
import type { ChangedIncidents, ChangeIncident, ChangeIncidents, IncidentDetail } from './incidents.schema.ts';
import {
  insertChange,
  listChanges,
  lockIncident,
  storeDecision,
  type ChangedField,
  type IncidentDecision,
  type LockedIncident,
} from './incidents.store.ts';
import { lockIncidents } from './place-hits.store.ts';
import { getIncident, withLink, type ReadIncidentsDeps } from './read-incidents.ts';
import { findIncident, readChangedFields } from './read-incidents.store.ts';
import { setWatching } from './discuss-incident.ts';

export type ChangeIncidentDeps = ReadIncidentsDeps & { db: Db; clock: Clock };

/** The revision that a request is based on, in its body or its If-Match header. */
export type SeenRevision = { expectedRevision?: number | undefined; ifMatch?: string | undefined };

/** The version of an incident, for its ETag. */
export const incidentVersion = ({ revision }: { revision: number }): { etag: string } => ({ etag: `"${revision}"` });

const changesMax = 50;

/** Locks an incident. Throws 404, and 409 or 412 with what changed if it has another revision than the request saw. */
export async function lockSeenIncident(
  tx: Tx,
  { orgId }: Caller,
  id: string,
  { expectedRevision, ifMatch }: SeenRevision,
): Promise<LockedIncident> {
  await lockIncidents(tx, orgId);
  const incident = await lockIncident(tx, orgId, id);
  if (!incident) throw appError('not_found', `Incident ${id} not found.`);
  const { revision } = incident;
  const { etag } = incidentVersion(incident);
  const isMatched = ifMatch === undefined || ifMatch.trim() === '*' || listTags(ifMatch).includes(etag);
  if (isMatched && (expectedRevision === undefined || expectedRevision === revision)) return incident;
  const seen = isMatched ? expectedRevision! : Number.parseInt((listTags(ifMatch)[0] ?? '').replaceAll('"', ''), 10);
  const after = Number.isSafeInteger(seen) ? seen : 0;
  const rows = await listChanges(tx, orgId, { incidentId: incident.id, after, limit: changesMax });
  const fields = await readChangedFields(
    tx,
    orgId,
    rows.map((row) => row.fields),
  );
  const changes = rows.map(({ at, keyId, actor, action }, index) => ({
    at: at.toISOString(),
    keyId,
    actor,
    action,
    subject: null,
    fields: fields[index]!,
  }));
  const detail = `The incident changed and its revision is now ${revision}. \`stale\` lists what changed.`;
  if (isMatched) throw staleError('/expectedRevision', detail, { current: revision, changes });
  throw appError('precondition_failed', detail, { stale: { current: etag, changes } });
}

/**
 * Sets state, owner and severity of an incident. Closing it gives the hits that nobody judged its resolution, and opening it again undoes that for
 * hits that did not change since. Throws 400 if a closed incident has no resolution or another one has.
 */
export async function changeIncident(
  deps: ChangeIncidentDeps,
  caller: Caller,
  id: string,
  { ifMatch, expectedRevision, ...input }: ChangeIncident & SeenRevision,
): Promise<IncidentDetail> {
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const incident = await lockSeenIncident(tx, caller, id, { ifMatch, expectedRevision });
    await storeChange(tx, deps, caller, { incident, input });
  });
  return getIncident(deps, caller, id);
}

/**
 * Changes incidents, each in its own transaction, and returns the outcome of each. `watching` sets whether the caller watches it, which does not
 * change the incident.
 */
export async function changeIncidents(
  deps: ChangeIncidentDeps,
  caller: Caller,
  { incidents }: ChangeIncidents,
): Promise<ChangedIncidents> {
  const results: ChangedIncidents['results'] = [];
  for (const { id, expectedRevision, watching, ...input } of incidents)
    try {
      const incident = await inOrg(deps.db, caller.orgId, async (tx) => {
        if (watching !== undefined && caller.personId === undefined)
          throw fieldError('/watching', 'not_allowed', 'Only a person can set watching, not a key.');
        const locked = await lockSeenIncident(tx, caller, id, { expectedRevision });
        if (Object.keys(input).length > 0) await storeChange(tx, deps, caller, { incident: locked, input });
        if (watching !== undefined) await setWatching(tx, caller, locked.id, { watching });
        return toIncident((await findIncident(tx, caller.orgId, id))!);
      });
      results.push({
        id,
        outcome: 'changed',
        incident: withLink(incident, deps.config.publicUrl),
        code: null,
        detail: null,
      });
    } catch (error) {
      const reason = toFailureReason(error);
      const stale = error instanceof AppError ? error.stale : undefined;
      results.push({ id, outcome: 'failed', incident: null, ...reason, ...(stale && { stale }) });
    }
  return { results };
}

type Change = { incident: LockedIncident; input: ChangeIncident };

/** Stores what a person decided about a locked incident, and what follows for its hits. */
async function storeChange(
  tx: Tx,
  { clock, config }: ChangeIncidentDeps,
  caller: Caller,
  { incident, input }: Change,
): Promise<void> {
  const now = clock();
  const { orgId } = caller;
  const owner = input.owner === undefined ? incident : await findOwner(tx, caller, input.owner);
  const next = decide(incident, input, { owner, now });
  const { dueMs } = config.incidents;
  const { revision, severity } = await storeDecision(tx, orgId, incident.id, { ...next, dueMs, now });
  const fields = listChangedFields(incident, { ...next, severity });
  await insertChange(tx, orgId, {
    incidentId: incident.id,
    at: now,
    author: caller,
    action: 'incident.changed',
    fields,
    revision,
  });
  await settleHits(tx, caller, { before: incident, after: next, reason: input.reason ?? null, now });
  if (next.closeBatch !== null && next.closeBatch !== incident.closeBatch)
    await announceIncidents(tx, orgId, [incident.id], { isClosed: true });
  else await emitIncidentEvents(tx, orgId, [incident.id]);
  const pick = (side: 'before' | 'after') => Object.fromEntries(fields.map((field) => [field.field, field[side]]));
  await insertAudit(tx, caller, {
    action: 'incident.changed',
    resourceType: 'incident',
    resourceId: incident.id,
    before: pick('before'),
    after: pick('after'),
  });
}

type Owner = Pick<LockedIncident, 'owner' | 'ownerId'>;

/** Returns the person that a name refers to, which may be the caller. */
async function findOwner(tx: Tx, { orgId, personId, subject }: Caller, name: string | null): Promise<Owner> {
  if (name === null) return { owner: null, ownerId: null };
  if (personId !== undefined && name === subject) return { owner: name, ownerId: personId };
  const person = await findPersonByName(tx, orgId, name);
  return { owner: person?.name ?? name, ownerId: person?.id ?? null };
}

/** Returns what an incident is after a change. */
function decide(
  incident: LockedIncident,
  input: ChangeIncident,
  { owner: { owner, ownerId }, now }: { owner: Owner; now: Date },
): IncidentDecision {
  const state = input.state ?? incident.state;
  const resolution = input.resolution ?? (state === 'closed' ? incident.resolution : null);
  if (state === 'closed' && resolution === null)
    throw fieldError('/resolution', 'required', 'resolution is required to close an incident.');
  if (state !== 'closed' && input.resolution !== undefined)
    throw fieldError('/resolution', 'not_allowed', 'resolution is for closed incidents. Set state to closed as well.');
  const kept = incident.severitySet ? incident.severity : null;
  const isClosedNow = state === 'closed' && (incident.state !== 'closed' || resolution !== incident.resolution);
  return {
    state,
    resolution,
    owner,
    ownerId,
    severity: input.severity === undefined ? kept : input.severity,
    closeBatch: isClosedNow ? uuidv7(now) : state === 'closed' ? incident.closeBatch : null,
  };
}

const changeableFields = ['state', 'resolution', 'owner', 'severity'] as const;

/** A person who was renamed is still the owner. */
const listChangedFields = (before: LockedIncident, after: IncidentDecision): ChangedField[] =>
  changeableFields
    .filter((field) => before[field] !== after[field] && !(field === 'owner' && isSamePerson(before, after)))
    .map((field) => ({
      field,
      before: before[field],
      after: after[field],
      ...(field === 'owner' && { beforeId: before.ownerId, afterId: after.ownerId }),
    }));

const isSamePerson = (before: Owner, after: Owner): boolean =>
  before.ownerId !== null && before.ownerId === after.ownerId;

type Settled = { before: LockedIncident; after: IncidentDecision; reason: string | null; now: Date };

/** Gives the hits of an incident that closed its resolution, and takes back that of one that is open again. */
async function settleHits(tx: Tx, caller: Caller, { before, after, reason, now }: Settled): Promise<void> {
  const { orgId } = caller;
  const { resolution, closeBatch } = after;
  if (closeBatch === before.closeBatch) return;
  const undone =
    before.closeBatch === null ? [] : ((await lockBatchHits(tx, orgId, { batchId: before.closeBatch })) ?? []);
  const changes: { hit: LockedHit; to: HitStatus }[] = undone.map((hit) => ({ hit, to: resolution ?? 'open' }));
  if (resolution !== null)
    for (const hit of await lockIncidentHits(tx, orgId, before.id))
      if (hit.status === 'open') changes.push({ hit, to: resolution });
  for (const ofDetection of Map.groupBy(changes, ({ hit }) => hit.detectionId).values())
    for (const [to, list] of Map.groupBy(ofDetection, (change) => change.to)) {
      const hits = list.map(({ hit }) => hit);
      await storeStatuses(tx, orgId, hits, {
        to,
        reason,
        author: caller,
        now,
        ...(closeBatch && { batchId: closeBatch }),
      });
    }
  await emitHitEvents(
    tx,
    orgId,
    changes.map(({ hit }) => hit.id),
  );
}
