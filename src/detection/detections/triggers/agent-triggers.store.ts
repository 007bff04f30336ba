import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { nextSlot, parseStoredCron } from '../../../platform/lib/time/cron.ts';
import { belongsTo, type Expiry } from '../../../platform/retention/organization-retention.store.ts';
import { isNotSuspended } from '../../../platform/orgs/orgs.store.ts';
import { zonedCron } from '../record/cron-schedule.ts';
import type { AgentRow } from '../record/detection-row.ts';
import type { TriggerSettings, TriggerSource } from './agent-triggers.schema.ts';

export type TriggerRow = {
  id: string;
  agentId: string;
  source: TriggerSource;
  name: string;
  enabled: boolean;
  settings: TriggerSettings;
  sealed: Buffer | null;
  skipped: number;
  createdAt: Date;
  updatedAt: Date;
};

const columns = sql`t.id, t.agent_id as "agentId", t.source, t.name, t.enabled, t.settings, t.sealed, t.skipped,
  t.created_at as "createdAt", t.updated_at as "updatedAt"`;

async function selectTriggers(tx: Tx, where: RawBuilder<unknown>): Promise<TriggerRow[]> {
  const rows = await queryRows<Omit<TriggerRow, 'settings'> & { settings: string }>(tx)`
      select ${columns} from agent_triggers t where ${where}`;
  return rows.map((row) => ({ ...row, settings: JSON.parse(row.settings) as TriggerSettings }));
}

/** Lists the triggers of an agent besides its schedule, oldest first. */
export const listTriggers = (tx: Tx, orgId: OrgId, agentId: string): Promise<TriggerRow[]> =>
  selectTriggers(
    tx,
    sql`t.organization_id = ${orgId} and t.agent_id = ${agentId} and t.source <> 'cron' order by t.created_at, t.id`,
  );

/** Returns the schedule of a response agent, which each has, whether or not it is active. */
export async function findSchedule(tx: Tx, orgId: OrgId, agentId: string): Promise<TriggerRow> {
  const isSchedule = sql`t.organization_id = ${orgId} and t.agent_id = ${agentId} and t.source = 'cron'`;
  return (await selectTriggers(tx, isSchedule))[0]!;
}

const firesOn = (orgId: OrgId, sources: readonly TriggerSource[]) => sql`t.organization_id = ${orgId}
  and t.source = any(${sources}::text[]) and t.enabled
  and t.agent_id in (select id from agents where organization_id = ${orgId} and deleted_at is null)`;

/** Lists the enabled triggers of live agents for some events. */
export const listEventTriggers = (tx: Tx, orgId: OrgId, sources: readonly TriggerSource[]): Promise<TriggerRow[]> =>
  selectTriggers(tx, firesOn(orgId, sources));

/** Locks those of some triggers that are still enabled, in the order of their IDs. */
export const lockEventTriggers = (tx: Tx, orgId: OrgId, triggers: readonly TriggerRow[]): Promise<TriggerRow[]> =>
  selectTriggers(
    tx,
    sql`${firesOn(
      orgId,
      triggers.map(({ source }) => source),
    )} and t.id = any(${triggers.map(({ id }) => id)}::uuid[]) order by t.id for no key update`,
  );

/** Returns a webhook of a live agent of any organization that is not suspended. */
export async function findWebhookAcrossOrgs(
  tx: Tx,
  id: string,
): Promise<{ orgId: OrgId; trigger: Pick<TriggerRow, 'id' | 'sealed'> } | undefined> {
  const found = await queryRow<{ orgId: OrgId; id: string; sealed: Buffer | null }>(tx)`
      select t.organization_id as "orgId", t.id, t.sealed from agent_triggers t
      join agents a on a.organization_id = t.organization_id and a.id = t.agent_id
      where t.id = ${id} and t.source = 'webhook' and a.deleted_at is null and ${isNotSuspended(sql`t.organization_id`)}`;
  return found && { orgId: found.orgId, trigger: { id: found.id, sealed: found.sealed } };
}

/** Locks a trigger, so that it handles one event at a time. */
export async function lockTrigger(tx: Tx, orgId: OrgId, id: string): Promise<TriggerRow | undefined> {
  const [trigger] = await selectTriggers(tx, sql`t.organization_id = ${orgId} and t.id = ${id} for no key update`);
  return trigger;
}

export async function insertTrigger(tx: Tx, orgId: OrgId, trigger: TriggerRow): Promise<void> {
  const { id, agentId, source, name, enabled, settings, sealed, createdAt, updatedAt } = trigger;
  await sql`
    insert into agent_triggers (organization_id, id, agent_id, source, name, enabled, settings, sealed, created_at, updated_at)
    values (${orgId}, ${id}, ${agentId}, ${source}, ${name}, ${enabled}, ${JSON.stringify(settings)}, ${sealed}, ${createdAt}, ${updatedAt})`.execute(
    tx,
  );
}

/** Stores what a person can change of a trigger. */
export async function updateTrigger(tx: Tx, orgId: OrgId, trigger: TriggerRow): Promise<void> {
  const { id, name, enabled, settings, sealed, updatedAt } = trigger;
  await sql`
    update agent_triggers set name = ${name}, enabled = ${enabled}, settings = ${JSON.stringify(settings)}, sealed = ${sealed}, updated_at = ${updatedAt}
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

export async function deleteTrigger(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from agent_triggers where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

const cronSettings = JSON.stringify({
  filter: {},
  inputs: {},
  about: 'hit',
  runsPerHourMax: 60,
} satisfies TriggerSettings);

/** Makes the schedule of a response agent start its next run at the first slot after `now`, or none if it is disabled or deleted. */
export async function storeCronTrigger(tx: Tx, agent: AgentRow, now: Date): Promise<void> {
  const cron = zonedCron(agent);
  const isActive = cron !== null && agent.enabled && agent.deleted_at === null;
  const nextAt = isActive ? nextSlot(parseStoredCron(cron), now) : null;
  await sql`
    insert into agent_triggers as t (organization_id, id, agent_id, source, name, enabled, settings, next_at, created_at, updated_at)
    values (${agent.organization_id}, ${agent.trigger_id}, ${agent.id}, 'cron', 'Schedule', ${isActive}, ${cronSettings}, ${nextAt}, ${now}, ${now})
    on conflict (organization_id, id) do update
      set enabled = excluded.enabled, next_at = excluded.next_at, updated_at = excluded.updated_at`.execute(tx);
}

const hourMs = 3_600_000;

/** Returns how many runs a locked trigger started in the hour before `now`. */
export async function countRecentRuns(tx: Tx, orgId: OrgId, id: string, now: Date): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
      select count(*) as n from trigger_events
      where organization_id = ${orgId} and trigger_id = ${id} and at > ${new Date(now.getTime() - hourMs)} and run_id is not null`;
  return row!.n;
}

/** Returns the runs of those events that a locked trigger has handled. */
export async function findHandledEvents(
  tx: Tx,
  orgId: OrgId,
  { id, keys }: { id: string; keys: readonly string[] },
): Promise<Map<string, string | null>> {
  const rows = await queryRows<{ key: string; runId: string | null }>(tx)`
      select event_key as key, run_id as "runId" from trigger_events
      where organization_id = ${orgId} and trigger_id = ${id} and event_key = any(${keys}::text[])`;
  return new Map(rows.map(({ key, runId }) => [key, runId]));
}

/** An event that a trigger handles, with the run that it starts, or null if it starts none. */
export type HandledEvent = { key: string; runId: string | null };

/** Stores that a locked trigger has handled events, and counts those that started no run. */
export async function insertHandledEvents(
  tx: Tx,
  orgId: OrgId,
  { id, events }: { id: string; events: readonly HandledEvent[] },
  now: Date,
): Promise<void> {
  const skipped = events.filter(({ runId }) => runId === null).length;
  await sql`
    with counted as (
      update agent_triggers set skipped = skipped + ${skipped}::int where organization_id = ${orgId} and id = ${id} and ${skipped > 0}
    )
    insert into trigger_events (organization_id, trigger_id, event_key, run_id, at)
    select ${orgId}::uuid, ${id}::uuid, key, run_id, ${now}::timestamptz
    from unnest(${events.map(({ key }) => key)}::text[], ${events.map(({ runId }) => runId)}::uuid[]) as e (key, run_id)`.execute(
    tx,
  );
}

/** A schedule of a response agent that is due, locked. `slotAt` is the slot. */
export type DueSlot = { orgId: OrgId; trigger: TriggerRow; slotAt: Date; cron: string };

type DueRow = Omit<TriggerRow, 'settings'> & {
  settings: string;
  orgId: OrgId;
  slotAt: Date;
  custom_cron_schedule: string | null;
  detection_cadence: AgentRow['detection_cadence'];
  cron_timezone: string | null;
};

/** Locks up to `limit` schedules of response agents whose next slot has come, the earliest first. */
export async function lockDueSlotsAcrossOrgs(tx: Tx, now: Date, limit: number): Promise<DueSlot[]> {
  const rows = await queryRows<DueRow>(tx)`
      select t.organization_id as "orgId", t.next_at as "slotAt", a.custom_cron_schedule, a.detection_cadence, a.cron_timezone, ${columns}
      from agent_triggers t join agents a on a.organization_id = t.organization_id and a.id = t.agent_id
      where t.next_at <= ${now} and ${isNotSuspended(sql`t.organization_id`)}
      order by t.next_at limit ${limit} for update of t skip locked`;
  return rows.map(({ orgId, slotAt, custom_cron_schedule, detection_cadence, cron_timezone, settings, ...row }) => ({
    orgId,
    slotAt,
    cron: zonedCron({ custom_cron_schedule, detection_cadence, cron_timezone })!,
    trigger: { ...row, settings: JSON.parse(settings) as TriggerSettings },
  }));
}

/** Sets the next slot of a locked schedule. Slots that passed meanwhile are left out: a response has no past to make up for. */
export async function advanceSlot(tx: Tx, { orgId, trigger, cron }: DueSlot, now: Date): Promise<void> {
  const nextAt = nextSlot(parseStoredCron(cron), now);
  await sql`
    update agent_triggers set next_at = ${nextAt} where organization_id = ${orgId} and id = ${trigger.id}`.execute(tx);
}

/** Deletes at most `limit` events whose runs have expired. */
export async function deleteOldEventsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<void> {
  await sql`
    delete from trigger_events where (organization_id, trigger_id, event_key) in (
      select organization_id, trigger_id, event_key from trigger_events
        where at < ${expiry.before} and ${belongsTo(expiry)} limit ${limit})`.execute(tx);
}
