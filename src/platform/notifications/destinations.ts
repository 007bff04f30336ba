import { isIP } from 'node:net';
import { inOrg, type Db, type Tx } from '../db/db.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { toPage, readPageRequest, type PageQuery } from '../lib/page-request.ts';
import type { Secretbox } from '../lib/secretbox.ts';
import { auditRecord } from '../orgs/audit.store.ts';
import type { Caller } from '../http/caller.ts';
import { requireMatch } from '../orgs/record-version.ts';
import { kindOf, showUrl, type DestinationKind } from './destination-kinds.ts';
import { parseFields } from '../lib/kind-fields.ts';
import { createSigningSecret, openSecrets, sealSecrets } from './destination-secrets.ts';
import type {
  CreateDestination,
  Destination,
  DestinationList,
  DestinationWithSecret,
  RotateSecret,
  UpdateDestination,
} from './destinations.schema.ts';
import { requireReadable } from './event-types.ts';
import {
  deleteDestination,
  findDestination,
  insertDestination,
  findDestinations,
  findUnknownDetections,
  findUnknownLists,
  updateDestination,
  type DestinationRow,
} from './destinations.store.ts';
import { isPublicAddress, validateOutboundUrl, withoutBrackets } from '../lib/outbound-http/addresses.ts';

export type DestinationDeps = { db: Db; secrets: Secretbox; config: { fetchAllow: readonly string[] } };

/**
 * Creates a destination. A webhook's secret is returned only here. 400 for a URL that is not public or an unknown detection, and 403 for events
 * that the caller may not read.
 */
export async function createDestination(
  deps: DestinationDeps,
  caller: Caller,
  input: CreateDestination,
): Promise<DestinationWithSecret> {
  const definition = kindOf(input.kind);
  const eventTypes = input.eventTypes ?? definition.defaultEvents;
  requireReadable(caller, eventTypes);
  const now = new Date();
  const id = uuidv7(now);
  const given = input.url ?? definition.defaultUrl;
  if (given === null) throw fieldError('/url', 'required', `url is required. ${definition.urlHint}`);
  const url = validateUrl(input.kind, given, deps.config.fetchAllow);
  const settings = parseFields(definition.settings, input.settings, '/settings');
  const credentials = parseFields(definition.credentials, input.credentials, '/credentials');
  const secret = definition.isSigned ? createSigningSecret() : null;
  const sealed = sealSecrets(
    deps.secrets,
    { organization_id: caller.orgId, id },
    { url, secret, ...(Object.keys(credentials).length > 0 && { credentials }) },
  );
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await requireDetections(tx, caller, input.detectionIds);
    await requireLists(tx, caller, input.entityLists);
    const row = await insertDestination(tx, caller.orgId, {
      id,
      kind: input.kind,
      name: input.name,
      shown_url: showUrl(input.kind, url),
      settings,
      sealed,
      event_types: [...new Set(eventTypes)],
      detection_ids: input.detectionIds,
      min_severity: input.minSeverity,
      tags: input.tags,
      entity_lists: input.entityLists,
      hours: input.hours,
      enabled: input.enabled,
      disabled_reason: null,
      created_at: now,
    });
    await audit(tx, caller, 'created', { before: null, after: row });
    return { ...toDestination(row), secret };
  });
}

export async function listDestinations(
  { db }: DestinationDeps,
  caller: Caller,
  query: PageQuery,
): Promise<DestinationList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, (tx) => findDestinations(tx, caller.orgId, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  return { destinations: page.map(toDestination), nextCursor };
}

export async function getDestination({ db }: DestinationDeps, caller: Caller, id: string): Promise<Destination> {
  return toDestination(await inOrg(db, caller.orgId, (tx) => getRow(tx, caller, id)));
}

/**
 * Changes the given fields. Enabling clears the reason why the service disabled the destination. Throws 412 if `ifMatch` is not the current ETag, and
 * 403 for new events, or all events at another address, that the caller may not read. Another host requires the credentials again, so that stored ones are never
 * sent to it.
 */
export async function changeDestination(
  deps: DestinationDeps,
  caller: Caller,
  id: string,
  { ifMatch, ...input }: UpdateDestination & { ifMatch?: string | undefined },
): Promise<Destination> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await getRow(tx, caller, id, { lock: true });
    await requireMatch(tx, ifMatch, toDestination(before), { resourceType: 'destination', resourceId: id });
    if (input.detectionIds !== undefined) await requireDetections(tx, caller, input.detectionIds);
    if (input.entityLists !== undefined) await requireLists(tx, caller, input.entityLists);
    const enabled = input.enabled ?? before.enabled;
    const address = changeAddress(deps, before, input);
    const types = input.eventTypes ?? before.event_types;
    requireReadable(caller, address ? types : types.filter((type) => !before.event_types.includes(type)));
    const after = {
      ...before,
      ...address,
      settings:
        input.settings === undefined
          ? before.settings
          : parseFields(kindOf(before.kind).settings, input.settings, '/settings'),
      name: input.name ?? before.name,
      event_types: [...new Set(types)],
      detection_ids: input.detectionIds === undefined ? before.detection_ids : input.detectionIds,
      min_severity: input.minSeverity === undefined ? before.min_severity : input.minSeverity,
      tags: input.tags === undefined ? before.tags : input.tags,
      entity_lists: input.entityLists === undefined ? before.entity_lists : input.entityLists,
      hours: input.hours === undefined ? before.hours : input.hours,
      enabled,
      disabled_reason: enabled ? null : before.disabled_reason,
      failures: enabled && !before.enabled ? 0 : before.failures,
    };
    const stored = await updateDestination(tx, after, new Date());
    await audit(tx, caller, 'updated', { before, after: stored });
    return toDestination(stored);
  });
}

function changeAddress(deps: DestinationDeps, before: DestinationRow, input: UpdateDestination) {
  // Clients may send back the masked URL that GET returned.
  const isSameUrl = input.url === undefined || input.url === before.shown_url;
  if (isSameUrl && input.credentials === undefined) return undefined;
  const old = openSecrets(deps.secrets, before);
  const url = isSameUrl ? old.url : validateUrl(before.kind, input.url!, deps.config.fetchAllow);
  if (input.credentials === undefined && old.credentials !== undefined && new URL(url).host !== new URL(old.url).host)
    throw fieldError('/credentials', 'required', 'credentials must be sent again because the host changes.');
  const credentials =
    input.credentials === undefined
      ? old.credentials
      : parseFields(kindOf(before.kind).credentials, input.credentials, '/credentials');
  const sealed = sealSecrets(deps.secrets, before, { ...old, url, ...(credentials && { credentials }) });
  return { shown_url: showUrl(before.kind, url), sealed };
}

/** Replaces a webhook's secret. During the overlap, deliveries are signed with both. 409 for other kinds. */
export async function rotateSecret(
  deps: DestinationDeps,
  caller: Caller,
  id: string,
  { overlapSeconds }: RotateSecret,
): Promise<DestinationWithSecret> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await getRow(tx, caller, id, { lock: true });
    const { secret: oldSecret, ...opened } = openSecrets(deps.secrets, before);
    if (oldSecret === null) throw appError('conflict', `Destination ${id} has no secret. Only webhooks are signed.`);
    const secret = createSigningSecret();
    const until = new Date(Date.now() + overlapSeconds * 1000).toISOString();
    const previous = { secret: oldSecret, until };
    const sealed = sealSecrets(deps.secrets, before, { ...opened, secret, previous });
    const stored = await updateDestination(tx, { ...before, sealed }, new Date());
    await audit(tx, caller, 'rotated', { before, after: stored });
    return { ...toDestination(stored), secret };
  });
}

/** Deletes a destination with its pending deliveries and its log. */
export async function removeDestination({ db }: DestinationDeps, caller: Caller, id: string): Promise<Destination> {
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await getRow(tx, caller, id, { lock: true });
    await deleteDestination(tx, caller.orgId, id);
    await audit(tx, caller, 'deleted', { before, after: null });
    return toDestination(before);
  });
}

export async function getRow(tx: Tx, caller: Caller, id: string, options = { lock: false }): Promise<DestinationRow> {
  const row = await findDestination(tx, caller.orgId, id, options);
  if (!row) throw appError('not_found', `Destination ${id} not found.`);
  return row;
}

type Change = { before: DestinationRow | null; after: DestinationRow | null };

const audit = (tx: Tx, caller: Caller, change: string, { before, after }: Change): Promise<void> =>
  auditRecord(tx, caller, `destination.${change}`, {
    before: before && toDestination(before),
    after: after && toDestination(after),
  });

async function requireDetections(tx: Tx, caller: Caller, ids: string[] | null): Promise<void> {
  const [unknown] = ids ? await findUnknownDetections(tx, caller.orgId, ids) : [];
  if (unknown)
    throw fieldError('/detectionIds', 'unknown_detection', `detectionIds contains an unknown detection: ${unknown}.`);
}

async function requireLists(tx: Tx, caller: Caller, names: string[] | null): Promise<void> {
  const [unknown] = names ? await findUnknownLists(tx, caller.orgId, names) : [];
  if (unknown) throw fieldError('/entityLists', 'unknown_list', `The value list ${unknown} does not exist.`);
}

function toDestination(destination: DestinationRow): Destination {
  return {
    id: destination.id,
    kind: destination.kind,
    name: destination.name,
    url: destination.shown_url,
    settings: destination.settings,
    eventTypes: destination.event_types,
    detectionIds: destination.detection_ids,
    minSeverity: destination.min_severity,
    tags: destination.tags,
    entityLists: destination.entity_lists,
    hours: destination.hours,
    enabled: destination.enabled,
    disabledReason: destination.disabled_reason,
    ticketsError: destination.tickets_error,
    createdAt: destination.created_at.toISOString(),
    updatedAt: destination.updated_at.toISOString(),
  };
}

/**
 * Validates a destination URL and returns it in canonical form. 400 unless it is https, or an encrypted scheme of the kind, to a public host. Hosts listed
 * in TOCSIN_FETCH_ALLOW may be private and use http or an unencrypted scheme. Host names are resolved and checked at each delivery.
 */
function validateUrl(kind: DestinationKind, given: string, allow: readonly string[]): string {
  const { schemes, urlPattern, urlHint } = kindOf(kind);
  const [, scheme = '', authority = '', port = ''] = /^([a-z]+):(\/\/[^/]+:(\d+))\/?$/.exec(given) ?? [];
  if (schemes && !Object.hasOwn(schemes, scheme))
    throw fieldError('/url', 'invalid_url', `url must have a host and a port. ${urlHint}`);
  if (urlPattern && !urlPattern.test(given))
    throw fieldError('/url', 'invalid_url', `url has another form. ${urlHint}`);
  const { url, isAllowed } = validateOutboundUrl(schemes ? `${schemes[scheme]}:${authority}` : given, allow);
  const host = withoutBrackets(url.hostname);
  if (isIP(host) && !isPublicAddress(host) && !isAllowed)
    throw fieldError('/url', 'private_address', `${host} is not a public address. TOCSIN_FETCH_ALLOW can permit it.`);
  url.hash = '';
  // A URL leaves out the usual port of its scheme.
  return schemes ? `${scheme}://${url.hostname}:${port}` : url.href;
}
