import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { openJson, sealJson, type SealedColumn, type Secretbox } from '../../platform/lib/secretbox.ts';
import { createSigningSecret } from '../../platform/notifications/destination-secrets.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import { auditAgent } from '../detections/read-detections.ts';
import { lockResponseAgent, readResponseAgent } from './response-agents.ts';
import type { AgentRow } from '../detections/record/detection-row.ts';
import { readInputValues, type AgentInputs } from '../detections/record/input-values.ts';
import {
  deleteTrigger,
  findSchedule,
  insertTrigger,
  listTriggers,
  updateTrigger,
  type TriggerRow,
} from '../detections/triggers/agent-triggers.store.ts';
import type {
  AgentSchedule,
  AgentTrigger,
  AgentTriggerList,
  CreateTrigger,
  SetSchedule,
  TriggerSettings,
  UpdateTrigger,
} from '../detections/triggers/agent-triggers.schema.ts';

export type TriggerDeps = { db: Db; clock: Clock; secrets: Secretbox };

const kind = 'agent-trigger';
export const triggerSecretColumn: SealedColumn = { table: 'agent_triggers', column: 'sealed', kind };

const sealSecret = (secrets: Secretbox, organization_id: OrgId, id: string, secret: string): Buffer =>
  sealJson(secrets, kind, { organization_id, id }, secret);

/** Returns the secret of a webhook. */
export const openTriggerSecret = (
  secrets: Secretbox,
  organization_id: OrgId,
  { id, sealed }: Pick<TriggerRow, 'id' | 'sealed'>,
): string | undefined =>
  sealed === null ? undefined : openJson<string>(secrets, kind, { organization_id, id }, sealed);

/** `ifMatch` is the version that the caller saw. */
type TriggerKey = { id: string; triggerId: string; ifMatch?: string | undefined };

/** An agent needs few. A limit keeps each event cheap. */
const triggersMax = 20;

/** Returns the triggers of a response agent besides its schedule, oldest first. */
export async function getTriggers(deps: TriggerDeps, caller: Caller, id: string): Promise<AgentTriggerList> {
  const { orgId } = caller;
  const rows = await inOrg(deps.db, orgId, async (tx) => {
    await readResponseAgent(tx, { orgId, now: deps.clock() }, id);
    return listTriggers(tx, orgId, id);
  });
  return { triggers: rows.map(toRecord) };
}

/** Adds a trigger to a response agent. Throws 400 for inputs that the agent does not declare, and 409 if it has as many triggers as it may. */
export async function createTrigger(
  deps: TriggerDeps,
  caller: Caller,
  id: string,
  trigger: CreateTrigger,
): Promise<AgentTrigger> {
  const { orgId } = caller;
  return inOrg(deps.db, orgId, async (tx) => {
    const agent = await lockResponseAgent(tx, { orgId, now: deps.clock() }, id);
    if ((await listTriggers(tx, orgId, id)).length >= triggersMax)
      throw appError('conflict', `Agent ${id} has ${triggersMax} triggers, as many as it may have.`);
    const [created] = await insertTriggers(tx, deps, caller, { agent, triggers: [trigger] });
    return created!;
  });
}

/** Stores new triggers of a locked or new agent. Throws 400 for inputs that the agent does not declare. */
export async function insertTriggers(
  tx: Tx,
  deps: TriggerDeps,
  caller: Caller,
  { agent, triggers }: { agent: AgentRow; triggers: readonly CreateTrigger[] },
): Promise<AgentTrigger[]> {
  const { orgId } = caller;
  const { id } = agent;
  const now = deps.clock();
  const created: AgentTrigger[] = [];
  for (const { source, name, enabled, ...settings } of triggers) {
    checkInputs(agent, settings);
    const triggerId = uuidv7(now);
    const secret = source === 'webhook' ? createSigningSecret() : undefined;
    const row: TriggerRow = {
      id: triggerId,
      agentId: id,
      source,
      name: name ?? source,
      enabled,
      settings,
      sealed: secret === undefined ? null : sealSecret(deps.secrets, orgId, triggerId, secret),
      skipped: 0,
      createdAt: now,
      updatedAt: now,
    };
    await insertTrigger(tx, orgId, row);
    const after = toRecord(row);
    await auditAgent(tx, caller, agent, { action: 'agent_trigger.created', before: null, after });
    created.push({ ...after, ...(secret === undefined ? {} : { secret }) });
  }
  return created;
}

/** Changes a trigger. Absent fields are unchanged. Throws 412 if it is another version than `ifMatch`. */
export async function changeTrigger(
  deps: TriggerDeps,
  caller: Caller,
  key: TriggerKey,
  { name, enabled, rotateSecret, ...settings }: UpdateTrigger,
): Promise<AgentTrigger> {
  const now = deps.clock();
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const agent = await lockResponseAgent(tx, { orgId: caller.orgId, now }, key.id);
    const before = await getTrigger(tx, caller, key);
    const resource = {
      resourceType: 'agent',
      resourceId: key.id,
      action: 'agent_trigger.',
      fields: { id: key.triggerId },
    };
    await requireMatch(tx, key.ifMatch, toRecord(before), resource);
    if (rotateSecret && before.source !== 'webhook')
      throw fieldError('/rotateSecret', 'unused', 'Only a webhook has a secret.');
    const secret = rotateSecret ? createSigningSecret() : undefined;
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
    const row: TriggerRow = {
      ...before,
      name: name ?? before.name,
      enabled: enabled ?? before.enabled,
      settings: { ...before.settings, ...given },
      ...(secret === undefined ? {} : { sealed: sealSecret(deps.secrets, caller.orgId, key.triggerId, secret) }),
      updatedAt: new Date(Math.max(now.getTime(), before.updatedAt.getTime() + 1)),
    };
    checkInputs(agent, row.settings);
    await updateTrigger(tx, caller.orgId, row);
    const change = { before: toRecord(before), after: toRecord(row) };
    await auditAgent(tx, caller, agent, { action: 'agent_trigger.updated', ...change });
    return { ...change.after, ...(secret === undefined ? {} : { secret }) };
  });
}

/** Deletes a trigger. Its runs stay. */
export async function removeTrigger(deps: TriggerDeps, caller: Caller, key: TriggerKey): Promise<AgentTriggerList> {
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const agent = await lockResponseAgent(tx, { orgId: caller.orgId, now: deps.clock() }, key.id);
    const before = await getTrigger(tx, caller, key);
    await deleteTrigger(tx, caller.orgId, key.triggerId);
    await auditAgent(tx, caller, agent, { action: 'agent_trigger.deleted', before: toRecord(before), after: null });
  });
  return getTriggers(deps, caller, key.id);
}

/** Returns what the scheduled runs of a response agent are given, also if it has no schedule yet. */
export async function getSchedule(deps: TriggerDeps, caller: Caller, id: string): Promise<AgentSchedule> {
  const { orgId } = caller;
  return inOrg(deps.db, orgId, async (tx) => {
    await readResponseAgent(tx, { orgId, now: deps.clock() }, id);
    return toSchedule(await findSchedule(tx, orgId, id));
  });
}

/** Stores the input values of scheduled runs. Throws 400 for one that the agent does not declare or of another type, and for a missing required one. */
export async function setSchedule(
  deps: TriggerDeps,
  caller: Caller,
  { id, ifMatch }: { id: string; ifMatch: string | undefined },
  { inputs: given }: SetSchedule,
): Promise<AgentSchedule> {
  const { orgId } = caller;
  const now = deps.clock();
  return inOrg(deps.db, orgId, async (tx) => {
    const agent = await lockResponseAgent(tx, { orgId, now }, id);
    const row = await findSchedule(tx, orgId, id);
    const before = toSchedule(row);
    const resource = {
      resourceType: 'agent',
      resourceId: id,
      action: 'agent_schedule.',
      fields: { triggerId: row.id },
    };
    await requireMatch(tx, ifMatch, before, resource);
    const values = readInputValues(JSON.parse(agent.inputs) as AgentInputs, given);
    const inputs = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
    const updatedAt = new Date(Math.max(now.getTime(), row.updatedAt.getTime() + 1));
    const changed = { ...row, settings: { ...row.settings, inputs }, updatedAt };
    await updateTrigger(tx, orgId, changed);
    const after = toSchedule(changed);
    await auditAgent(tx, caller, agent, { action: 'agent_schedule.updated', before, after });
    return after;
  });
}

/** A schedule has no event that a value could come from. */
function toSchedule({ id: triggerId, enabled, settings, updatedAt }: TriggerRow): AgentSchedule {
  const values = Object.entries(settings.inputs).flatMap(([name, source]) =>
    'value' in source ? [[name, source.value] as const] : [],
  );
  return { triggerId, enabled, inputs: Object.fromEntries(values), updatedAt: updatedAt.toISOString() };
}

async function getTrigger(tx: Tx, { orgId }: Caller, { id, triggerId }: TriggerKey): Promise<TriggerRow> {
  const trigger = (await listTriggers(tx, orgId, id)).find((one) => one.id === triggerId);
  if (!trigger) throw appError('not_found', `Trigger ${triggerId} of agent ${id} not found.`);
  return trigger;
}

/** Throws 400 if a trigger sets an input that does not exist or to a value of another type, or leaves out a required one. */
function checkInputs({ inputs }: AgentRow, settings: TriggerSettings): void {
  const declared = JSON.parse(inputs) as AgentInputs;
  const sources = Object.entries(settings.inputs);
  for (const [name, source] of sources)
    if ('from' in source && !/^(?:\/(?:[^~/]|~[01])*)+$/.test(source.from))
      throw fieldError(`/inputs/${name}/from`, 'invalid_pointer', '`from` must be a JSON pointer such as `/entity`.');
  const fromEvent = new Set(sources.flatMap(([name, source]) => ('from' in source ? [name] : [])));
  const unknown = [...fromEvent].find((name) => !declared.some((input) => input.name === name));
  if (unknown !== undefined)
    throw fieldError(`/inputs/${unknown}`, 'unknown_input', `There is no input named "${unknown}".`);
  readInputValues(
    declared.filter(({ name }) => !fromEvent.has(name)),
    Object.fromEntries(sources.flatMap(([name, source]) => ('value' in source ? [[name, source.value]] : []))),
  );
}

function toRecord(row: TriggerRow): AgentTrigger {
  const { id, agentId, source, name, enabled, settings, skipped, createdAt, updatedAt } = row;
  return {
    id,
    agentId,
    name,
    enabled,
    ...settings,
    skipped,
    source: source as AgentTrigger['source'],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
