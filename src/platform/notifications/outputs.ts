import { isIP } from 'node:net';
import { inOrg, type Db, type Tx } from '../db/db.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { toPage, readPageRequest, type PageQuery } from '../lib/page-request.ts';
import type { Secretbox } from '../lib/secretbox.ts';
import { auditRecord } from '../orgs/audit.store.ts';
import type { Caller } from '../http/caller.ts';
import { requireMatch } from '../orgs/record-version.ts';
import { destinationOf, openOutputSecrets, sealOutputSecrets } from './destinations.ts';
import type {
  CreateOutput,
  Output,
  OutputList,
  OutputWithSecret,
  RotateSecret,
  UpdateOutput,
} from './outputs.schema.ts';
import { requireReadable } from './event-types.ts';
import {
  deleteOutput,
  findOutput,
  insertOutput,
  findOutputs,
  findUnknownDetections,
  updateOutput,
  type OutputRow,
} from './outputs.store.ts';
import { isPublicAddress, validateOutboundUrl, withoutBrackets } from '../lib/outbound-http/addresses.ts';

export type OutputDeps = { db: Db; secrets: Secretbox; config: { fetchAllow: readonly string[] } };

/**
 * Creates a destination. A webhook's secret is returned only here. 400 for a URL that is not public or an unknown detection, and 403 for events
 * that the caller may not read.
 */
export async function createOutput(deps: OutputDeps, caller: Caller, input: CreateOutput): Promise<OutputWithSecret> {
  requireReadable(caller, input.eventTypes);
  const now = new Date();
  const id = uuidv7(now);
  const url = validateDestinationUrl(input.url, deps.config.fetchAllow);
  const destination = destinationOf(input.kind);
  const secret = destination.createSecret();
  const sealed = sealOutputSecrets(deps.secrets, { organization_id: caller.orgId, id }, { url, secret });
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await requireDetections(tx, caller, input.detectionIds);
    const row = await insertOutput(
      tx,
      { orgId: caller.orgId, id, now },
      {
        kind: input.kind,
        name: input.name,
        shown_url: destination.showUrl(url),
        sealed,
        event_types: [...new Set(input.eventTypes)],
        detection_ids: input.detectionIds,
        min_severity: input.minSeverity,
        enabled: input.enabled,
        disabled_reason: null,
      },
    );
    await auditRecord(tx, caller, 'output.created', { before: null, after: toOutput(row) });
    return { ...toOutput(row), secret };
  });
}

export async function listOutputs(
  { db }: Pick<OutputDeps, 'db'>,
  caller: Caller,
  query: PageQuery,
): Promise<OutputList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, (tx) => findOutputs(tx, caller.orgId, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  return { outputs: page.map(toOutput), nextCursor };
}

export async function getOutput({ db }: Pick<OutputDeps, 'db'>, caller: Caller, id: string): Promise<Output> {
  return toOutput(await inOrg(db, caller.orgId, (tx) => getOutputRow(tx, caller, id)));
}

/**
 * Changes the given fields. Enabling clears the reason why the service disabled the destination. Throws 412 if `ifMatch` is not the current ETag, and
 * 403 for new events, or all events at another address, that the caller may not read.
 */
export async function changeOutput(
  deps: OutputDeps,
  caller: Caller,
  id: string,
  { ifMatch, ...input }: UpdateOutput & { ifMatch?: string | undefined },
): Promise<Output> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await getOutputRow(tx, caller, id, { lock: true });
    await requireMatch(tx, ifMatch, toOutput(before), { resourceType: 'output', resourceId: id });
    if (input.detectionIds !== undefined) await requireDetections(tx, caller, input.detectionIds);
    const enabled = input.enabled ?? before.enabled;
    const address = changeUrl(deps, before, input.url);
    const types = input.eventTypes ?? before.event_types;
    requireReadable(caller, address ? types : types.filter((type) => !before.event_types.includes(type)));
    const after = {
      ...before,
      ...address,
      name: input.name ?? before.name,
      event_types: [...new Set(types)],
      detection_ids: input.detectionIds === undefined ? before.detection_ids : input.detectionIds,
      min_severity: input.minSeverity === undefined ? before.min_severity : input.minSeverity,
      enabled,
      disabled_reason: enabled ? null : before.disabled_reason,
      failures: enabled && !before.enabled ? 0 : before.failures,
    };
    const stored = await updateOutput(tx, after, new Date());
    await auditRecord(tx, caller, 'output.updated', { before: toOutput(before), after: toOutput(stored) });
    return toOutput(stored);
  });
}

function changeUrl(deps: OutputDeps, before: OutputRow, url: string | undefined): Partial<OutputRow> | undefined {
  // Clients may send back the masked URL that GET returned.
  if (url === undefined || url === before.shown_url) return undefined;
  const newUrl = validateDestinationUrl(url, deps.config.fetchAllow);
  const outputSecrets = { ...openOutputSecrets(deps.secrets, before), url: newUrl };
  return {
    shown_url: destinationOf(before.kind).showUrl(newUrl),
    sealed: sealOutputSecrets(deps.secrets, before, outputSecrets),
  };
}

/** Replaces a webhook's secret. During the overlap, deliveries are signed with both. 409 for other kinds. */
export async function rotateSecret(
  deps: OutputDeps,
  caller: Caller,
  id: string,
  { overlapSeconds }: RotateSecret,
): Promise<OutputWithSecret> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await getOutputRow(tx, caller, id, { lock: true });
    const { url, secret: oldSecret } = openOutputSecrets(deps.secrets, before);
    if (oldSecret === null) throw appError('conflict', `Output ${id} has no secret. Only webhooks are signed.`);
    const secret = destinationOf(before.kind).createSecret();
    const until = new Date(Date.now() + overlapSeconds * 1000).toISOString();
    const sealed = sealOutputSecrets(deps.secrets, before, { url, secret, previous: { secret: oldSecret, until } });
    const stored = await updateOutput(tx, { ...before, sealed }, new Date());
    await auditRecord(tx, caller, 'output.rotated', { before: toOutput(before), after: toOutput(stored) });
    return { ...toOutput(stored), secret };
  });
}

/** Deletes a destination with its pending deliveries and its log. */
export async function removeOutput({ db }: Pick<OutputDeps, 'db'>, caller: Caller, id: string): Promise<Output> {
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await getOutputRow(tx, caller, id, { lock: true });
    await deleteOutput(tx, caller.orgId, id);
    await auditRecord(tx, caller, 'output.deleted', { before: toOutput(before), after: null });
    return toOutput(before);
  });
}

export async function getOutputRow(tx: Tx, caller: Caller, id: string, options = { lock: false }): Promise<OutputRow> {
  const row = await findOutput(tx, caller.orgId, id, options);
  if (!row) throw appError('not_found', `Output ${id} not found.`);
  return row;
}

async function requireDetections(tx: Tx, caller: Caller, ids: string[] | null): Promise<void> {
  const [unknown] = ids ? await findUnknownDetections(tx, caller.orgId, ids) : [];
  if (unknown)
    throw fieldError('/detectionIds', 'unknown_detection', `detectionIds contains an unknown detection: ${unknown}.`);
}

function toOutput(output: OutputRow): Output {
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

/**
 * Validates a destination URL and returns it in canonical form. 400 unless it is https to a public host. Hosts listed in
 * TOCSIN_FETCH_ALLOW may be private and use http. Host names are resolved and checked at each delivery.
 */
function validateDestinationUrl(text: string, allow: readonly string[]): string {
  const { url, isAllowed } = validateOutboundUrl(text, allow);
  const host = withoutBrackets(url.hostname);
  if (isIP(host) && !isPublicAddress(host) && !isAllowed)
    throw fieldError('/url', 'private_address', `${host} is not a public address. TOCSIN_FETCH_ALLOW can permit it.`);
  url.hash = '';
  return url.href;
}
