import { inOrg, type Tx } from '../db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { pageOf, pageRequest, type PageQuery } from '../lib/page-request.ts';
import { insertAudit } from '../orgs/audit.store.ts';
import type { Caller } from '../orgs/caller.ts';
import { readAddress, shownAddress } from './destination-address.ts';
import type {
  CreateOutput,
  Output,
  OutputList,
  OutputWithSecret,
  RotateSecret,
  UpdateOutput,
} from './outputs.schema.ts';
import { newSecret, seal, unseal } from './output-secrets.ts';
import {
  deleteOutput,
  findOutput,
  insertOutput,
  listOutputs,
  unknownDetections,
  updateOutput,
  type OutputRow,
} from './outputs.store.ts';

type OutputDeps = Pick<Deps, 'db' | 'config' | 'secrets'>;

/** Makes a destination; the secret of a webhook is in this answer only. 400 for an address that is not public or a detection that is not there. */
export async function createOutput(deps: OutputDeps, caller: Caller, input: CreateOutput): Promise<OutputWithSecret> {
  const now = new Date();
  const ref = { orgId: caller.orgId, id: uuidv7(now), now };
  const url = readAddress(input.url, deps.config.fetchAllow);
  const secret = input.kind === 'webhook' ? newSecret() : null;
  const sealed = seal(deps.secrets, { organization_id: caller.orgId, id: ref.id }, { url, secret });
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await checkDetections(tx, caller, input.detectionIds);
    const made = await insertOutput(tx, ref, {
      kind: input.kind,
      name: input.name,
      shown_url: shownAddress(input.kind, url),
      sealed,
      event_types: [...new Set(input.eventTypes)],
      detection_ids: input.detectionIds,
      min_severity: input.minSeverity,
      enabled: input.enabled,
      disabled_reason: null,
    });
    await audit(tx, caller, 'output.created', { before: null, after: made });
    return { ...toOutput(made), secret };
  });
}

export async function getOutputs({ db }: Pick<Deps, 'db'>, caller: Caller, query: PageQuery): Promise<OutputList> {
  const request = pageRequest(query);
  const found = await inOrg(db, caller.orgId, (tx) => listOutputs(tx, caller.orgId, request));
  const { page, nextCursor } = pageOf(found, request.limit, (output) => ({ at: output.created_at, id: output.id }));
  return { outputs: page.map(toOutput), nextCursor };
}

export async function getOutput({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Output> {
  return toOutput(await inOrg(db, caller.orgId, (tx) => outputOr404(tx, caller, id)));
}

/** Changes what the body names. Enabling clears the reason why the service had switched it off. */
export async function changeOutput(deps: OutputDeps, caller: Caller, id: string, input: UpdateOutput): Promise<Output> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await outputOr404(tx, caller, id, true);
    if (input.detectionIds !== undefined) await checkDetections(tx, caller, input.detectionIds);
    const enabled = input.enabled ?? before.enabled;
    const after = {
      ...before,
      ...newAddress(deps, before, input.url),
      name: input.name ?? before.name,
      event_types: input.eventTypes ? [...new Set(input.eventTypes)] : before.event_types,
      detection_ids: input.detectionIds === undefined ? before.detection_ids : input.detectionIds,
      min_severity: input.minSeverity === undefined ? before.min_severity : input.minSeverity,
      enabled,
      disabled_reason: enabled ? null : before.disabled_reason,
      failures: enabled && !before.enabled ? 0 : before.failures,
    };
    const stored = await updateOutput(tx, after, new Date());
    await audit(tx, caller, 'output.updated', { before, after: stored });
    return toOutput(stored);
  });
}

function newAddress(deps: OutputDeps, before: OutputRow, url: string | undefined): Partial<OutputRow> {
  // What GET showed of a secret address says that it stays.
  if (url === undefined || url === before.shown_url) return {};
  const address = readAddress(url, deps.config.fetchAllow);
  const sealed = { ...unseal(deps.secrets, before), url: address };
  return { shown_url: shownAddress(before.kind, address), sealed: seal(deps.secrets, before, sealed) };
}

/** Gives a webhook a new secret; for a while deliveries carry signatures of both. 409 for the other kinds. */
export async function rotateSecret(
  deps: OutputDeps,
  caller: Caller,
  id: string,
  { overlapSeconds }: RotateSecret,
): Promise<OutputWithSecret> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await outputOr404(tx, caller, id, true);
    const { url, secret: old } = unseal(deps.secrets, before);
    if (old === null) throw appError('conflict', `Output ${id} signs nothing; only webhooks have a secret.`);
    const secret = newSecret();
    const until = new Date(Date.now() + overlapSeconds * 1000).toISOString();
    const sealed = seal(deps.secrets, before, { url, secret, previous: { secret: old, until } });
    const stored = await updateOutput(tx, { ...before, sealed }, new Date());
    await audit(tx, caller, 'output.rotated', { before, after: stored });
    return { ...toOutput(stored), secret };
  });
}

/** Removes a destination with what waits for it and its log. */
export async function removeOutput({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Output> {
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await outputOr404(tx, caller, id, true);
    await deleteOutput(tx, caller.orgId, id);
    await audit(tx, caller, 'output.deleted', { before, after: null });
    return toOutput(before);
  });
}

export async function outputOr404(tx: Tx, caller: Caller, id: string, lock = false): Promise<OutputRow> {
  const found = await findOutput(tx, caller.orgId, id, lock);
  if (!found) throw appError('not_found', `Output ${id} not found.`);
  return found;
}

async function checkDetections(tx: Tx, caller: Caller, ids: string[] | null): Promise<void> {
  const [unknown] = ids ? await unknownDetections(tx, caller.orgId, ids) : [];
  if (unknown) throw fieldError('/detectionIds', 'unknown_detection', `There is no detection ${unknown}.`);
}

function audit(
  tx: Tx,
  caller: Caller,
  action: string,
  { before, after }: { before: OutputRow | null; after: OutputRow | null },
): Promise<void> {
  const resourceId = (after ?? before)!.id;
  const shown = (output: OutputRow | null) => output && toOutput(output);
  return insertAudit(tx, caller, {
    action,
    resourceType: 'output',
    resourceId,
    before: shown(before),
    after: shown(after),
  });
}

export function toOutput(output: OutputRow): Output {
  return {
    id: output.id,
    kind: output.kind,
    name: output.name,
    url: output.shown_url,
    eventTypes: output.event_types,
    detectionIds: output.detection_ids,
    minSeverity: output.min_severity,
    enabled: output.enabled,
    disabledReason: output.disabled_reason,
    createdAt: output.created_at.toISOString(),
    updatedAt: output.updated_at.toISOString(),
  };
}
