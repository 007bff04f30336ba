import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import { appError } from '../../platform/lib/errors.ts';
import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireModelAlias, type ModelAliases } from '../detections/record/build-detection.ts';
import { CreateAgent, type UpdateAgent } from '../detections/record/detection-input.schema.ts';
import type { Detection } from '../detections/record/detection.schema.ts';
import type { ViewScope } from '../detections/detection-views.store.ts';
import { updateAgent } from '../detections/built-in-agents.ts';
import { storeInstallSql, listInstalls, type LibraryInstall } from '../library/library-installs.store.ts';
import { diffFields, hashFields, mergeVersions, toAgentFields, toUpdateBody } from '../managed/file-fields.ts';
import { readFields } from '../managed/sync-detections.ts';
import { insertTriggers, type TriggerDeps } from './agent-triggers.ts';
import { insertResponseAgent, readResponseAgent } from './response-agents.ts';
import {
  ShippedTriggers,
  type AddShippedAgent,
  type ShippedAgent,
  type ShippedAgentList,
  type ShippedAgentUpdate,
} from './shipped-agents.schema.ts';
import { toRecord } from '../detections/record/detection-record.ts';

/** A response agent that ships with the service. `id` is the name of its file. */
type ShippedFile = { id: string; body: CreateAgent; triggers: ShippedTriggers; version: string };

const shippedDir = resolve(import.meta.dirname, '../../../agents');

let shipped: ReadonlyMap<string, ShippedFile> | undefined;

/** Returns every response agent that ships with the service by id. The files are read once. */
export function loadShippedAgents(): ReadonlyMap<string, ShippedFile> {
  shipped ??= new Map(
    readdirSync(shippedDir)
      .filter((name) => name.endsWith('.yaml'))
      .toSorted()
      .map((name) => {
        const { triggers, ...fields } = parse(readFileSync(join(shippedDir, name), 'utf8')) as Record<string, unknown>;
        const body = CreateAgent.parse(fields);
        const id = basename(name, '.yaml');
        const version = hashFields(toAgentFields(body)).slice(0, 12);
        return [id, { id, body, version, triggers: ShippedTriggers.parse(triggers ?? []) }] as const;
      }),
  );
  return shipped;
}

type ShippedDeps = TriggerDeps & { models?: ModelAliases };

/** Lists the response agents that ship with the service, with what became of each. */
export function listShippedAgents({ db, clock }: TriggerDeps, { orgId }: Caller): Promise<ShippedAgentList> {
  return inOrg(db, orgId, async (tx) => {
    const installs = await listInstalls(tx, orgId);
    const agents: ShippedAgent[] = [];
    for (const { id, body, triggers, version } of loadShippedAgents().values()) {
      const { name, description, systemPrompt, toolNames, inputs } = body;
      const install = installs.get(installKey(id));
      agents.push({
        id,
        name,
        description: description ?? '',
        version,
        systemPrompt,
        toolNames: toolNames ?? [],
        inputs: inputs ?? [],
        triggers,
        added: install ? await describeInstall(tx, { orgId, now: clock() }, install, version) : null,
      });
    }
    return { agents };
  });
}

async function describeInstall(
  tx: Tx,
  scope: ViewScope,
  { detectionId: agentId, version, fields }: LibraryInstall,
  current: string,
): Promise<NonNullable<ShippedAgent['added']>> {
  const own = (await readFields(tx, scope, agentId, false))!;
  const editedFields = diffFields(fields, own).map(({ field }) => field);
  return { agentId, version, isCurrent: version === current, editedFields: editedFields.filter(isShippedField) };
}

/** The model is the organization's choice. */
const isShippedField = (field: string): boolean => field !== 'modelAlias';

/** The installs of shipped detections have the names of files in `library/`. */
const installKey = (id: string): string => `agents/${id}`;

/**
 * Adds a shipped agent to the organization, with its triggers. Throws 404 for an unknown one, and 409 if the organization has it already or no model is
 * configured for the alias.
 */
export async function addShippedAgent(
  deps: ShippedDeps,
  caller: Caller,
  id: string,
  { modelAlias = 'default', enabled, filter, runsPerHourMax }: AddShippedAgent,
): Promise<Detection> {
  const { body, triggers, version } = requireShipped(id);
  requireModelAlias(deps.models, modelAlias);
  const { orgId } = caller;
  return inOrg(deps.db, orgId, async (tx) => {
    await lockName(tx, `shipped agents ${orgId}`);
    const before = (await listInstalls(tx, orgId)).get(installKey(id));
    if (before)
      throw appError('conflict', `The agent ${id} was added before, as ${before.detectionId}. Change or update that.`);
    const { agent } = await insertResponseAgent(tx, deps, caller, { ...body, modelAlias });
    const chosen = triggers.map((trigger) => ({
      ...trigger,
      enabled,
      filter: filter ?? trigger.filter,
      runsPerHourMax: runsPerHourMax ?? trigger.runsPerHourMax,
    }));
    await insertTriggers(tx, deps, caller, { agent, triggers: chosen });
    const install = { libraryId: installKey(id), detectionId: agent.id, version, fields: toAgentFields(body) };
    await storeInstallSql(orgId, { ...install, datasets: {} }, agent.created_at).execute(tx);
    return toRecord(await readResponseAgent(tx, { orgId, now: agent.created_at }, agent.id));
  });
}

/**
 * Brings an added agent to the shipped version, field by field. A field that the organization edited keeps its value and is reported. Its triggers stay as
 * they are. Throws 404 if the organization does not have it.
 */
export async function updateShippedAgent(deps: ShippedDeps, caller: Caller, id: string): Promise<ShippedAgentUpdate> {
  const { body, version } = requireShipped(id);
  const { orgId } = caller;
  const scope = { orgId, now: deps.clock() };
  const found = await inOrg(deps.db, orgId, async (tx) => {
    const install = (await listInstalls(tx, orgId)).get(installKey(id));
    return install && { install, current: (await readFields(tx, scope, install.detectionId, false))! };
  });
  if (!found) throw appError('not_found', `The agent ${id} was not added. Add it first.`);
  const { install, current } = found;
  const fields = toAgentFields(body);
  const { changes, kept } = mergeVersions(install.fields, fields, current);
  const next = { ...current, ...Object.fromEntries(changes.map(({ field, after }) => [field, after])) };
  const input = toUpdateBody(changes, next) as UpdateAgent;
  const { detectionId: agentId } = install;
  if (changes.length > 0) await updateAgent(deps, caller, { id: agentId, input }, undefined);
  await inOrg(deps.db, orgId, (tx) => storeInstallSql(orgId, { ...install, version, fields }, scope.now).execute(tx));
  return { agentId, version, changes, kept };
}

function requireShipped(id: string): ShippedFile {
  const agents = loadShippedAgents();
  const found = agents.get(id);
  if (!found) throw appError('not_found', `No agent ${id} ships with the service${didYouMean(id, agents.keys())}`);
  return found;
}
