import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Author } from '../../../platform/http/caller.ts';
import {
  countRecentRuns,
  findHandledEvents,
  insertHandledEvents,
  type TriggerRow,
} from '../../detections/triggers/agent-triggers.store.ts';
import { insertResponseEntries } from '../../scheduling/run-queue.store.ts';
import type { ResponseKind } from '../../scheduling/run-claim.ts';
import type { RunEvent } from '../run-model/runs.schema.ts';

/** A run of a response agent to start. `question` is what a person asks. */
type ResponseRun = { runId: string; event: RunEvent; question?: string | undefined };

/** Stores and queues runs of one response agent. `author` is a person who asked for them. */
export async function insertResponseRuns(
  tx: Tx,
  { orgId, agentId, kind, now }: { orgId: OrgId; agentId: string; kind: ResponseKind; now: Date },
  runs: readonly ResponseRun[],
  author?: Author,
): Promise<void> {
  if (runs.length === 0) return;
  const agent = await queryRow<{ modelAlias: string }>(tx)`
      select model_alias as "modelAlias" from agents where organization_id = ${orgId} and id = ${agentId}`;
  const runIds = runs.map(({ runId }) => runId);
  await insertResponseEntries(tx, kind, { orgId, agentId, modelAlias: agent!.modelAlias, runIds, dueAt: now });
  await sql`
    insert into runs (organization_id, id, detection_id, due_at, trigger, status, event, incident_id, custom_instructions, key_id, actor)
    select ${orgId}::uuid, id, ${agentId}::uuid, ${now}::timestamptz, ${kind}::text, 'queued', event, incident_id, question, ${author?.keyId ?? null}::text,
      ${author?.subject ?? null}::text
    from unnest(${runIds}::uuid[], ${runs.map(({ event }) => JSON.stringify(event))}::text[], ${runs.map(({ event }) => findWholeIncident(event))}::uuid[],
      ${runs.map(({ question }) => question ?? null)}::text[]) as r (id, event, incident_id, question)`.execute(tx);
}

/** Returns the incident that a run looks into as a whole. A run about one of its hits has that as its case. */
export const findWholeIncident = ({ hitId, incidentId }: RunEvent): string | null =>
  hitId === null ? (incidentId ?? null) : null;

/** Returns JSON of the inputs that an agent declares. */
export async function readAgentInputs(tx: Tx, orgId: OrgId, agentId: string): Promise<string> {
  const agent = await queryRow<{ inputs: string }>(tx)`
      select inputs from agents where organization_id = ${orgId} and id = ${agentId}`;
  return agent?.inputs ?? '[]';
}

/** An event that concerns a trigger. `key` identifies it, so that it starts one run at most. */
export type TriggerEvent = { key: string } & Pick<RunEvent, 'hitId' | 'incidentId' | 'inputs'>;

/**
 * Starts a run for each event that a locked trigger has not handled, as many as it may start in an hour. Stores them with the events in the caller's
 * transaction, so that each starts exactly one. Returns the run of each event, null for one that starts none.
 */
export async function startTriggeredRuns(
  tx: Tx,
  orgId: OrgId,
  { trigger: { id, agentId, source, settings }, events }: { trigger: TriggerRow; events: readonly TriggerEvent[] },
  now: Date,
): Promise<Map<string, string | null>> {
  const handled = await findHandledEvents(tx, orgId, { id, keys: events.map(({ key }) => key) });
  const fresh = events.filter(({ key }) => !handled.has(key));
  if (fresh.length === 0) return handled;
  const places = settings.runsPerHourMax - (await countRecentRuns(tx, orgId, id, now));
  const started = fresh.map((event, index) => ({ ...event, runId: index < places ? uuidv7(now) : null }));
  await insertHandledEvents(tx, orgId, { id, events: started }, now);
  const runs = started.flatMap(({ runId, hitId, incidentId, inputs }) =>
    runId === null
      ? []
      : [{ runId, event: { source, triggerId: id, hitId, ...(incidentId && { incidentId }), inputs } }],
  );
  await insertResponseRuns(tx, { orgId, agentId, kind: 'response', now }, runs);
  return new Map([...handled, ...started.map(({ key, runId }) => [key, runId] as const)]);
}
