import { remoteConnectors } from '../siem/connectors/registry.ts';
import { describeFields } from '../../platform/lib/kind-fields.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { toPage, readPageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
import { auditRecord } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import { applyConnections } from '../scheduling/run-queue.store.ts';
import { chooseClock, validateCredentials, validateSettings, sealCredentials } from './open-connection.ts';
import {
  remoteKinds,
  type Connection,
  type ConnectionKinds,
  type ConnectionList,
  type CreateConnection,
  type UpdateConnection,
} from './connections.schema.ts';
import {
  deleteConnection,
  findConnection,
  insertConnection,
  listConnectionRows,
  listUsingDetections,
  updateConnection,
  type ConnectionRow,
  type ConnectionWithPause,
} from './connections.store.ts';

export type ConnectionDeps = { db: Db; config: { fetchAllow: readonly string[] }; secrets: Secretbox };

/** Returns every supported SIEM with the JSON schemas of its settings and credentials. */
export function listConnectionKinds(): ConnectionKinds {
  const kinds = remoteKinds.map((kind) => {
    const { settings, credentials, ...connector } = remoteConnectors[kind];
    const { label, language, writing, names, source } = connector;
    const schemas = { settings: describeFields(settings), credentials: describeFields(credentials) };
    return { kind, label, language, writing, names, source, ...schemas };
  });
  return { kinds };
}

/** Creates a connection without contacting the SIEM. Throws a 400 for invalid settings or credentials. */
export async function createConnection(
  deps: ConnectionDeps,
  caller: Caller,
  input: CreateConnection,
): Promise<Connection> {
  const now = new Date();
  const { kind, name, delayMinutes, recheckMinutes, places } = input;
  const settings = validateSettings(kind, input.settings, deps.config.fetchAllow);
  const credentials = validateCredentials(kind, input.credentials);
  const key = { organization_id: caller.orgId, id: uuidv7(now) };
  const connection: ConnectionRow = {
    ...key,
    kind,
    name,
    settings: JSON.stringify(settings),
    sealed: sealCredentials(deps.secrets, key, credentials),
    clock: chooseClock(kind, settings, input.clock),
    delay_minutes: delayMinutes,
    recheck_minutes: recheckMinutes,
    places,
    created_at: now,
    updated_at: now,
  };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await insertConnection(tx, connection);
    await applyConnections(tx, caller.orgId);
    const after = await getConnectionRow(tx, caller, connection.id);
    const record = toConnection(after);
    await auditRecord(tx, caller, 'connection.created', { before: null, after: record });
    return record;
  });
}

/** Returns the embedded log store on the first page, then the organization's connections, newest first. */
export async function listConnections({ db }: { db: Db }, caller: Caller, query: PageQuery): Promise<ConnectionList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, (tx) => listConnectionRows(tx, caller.orgId, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  const first = request.after === null ? [localStoreRecord(caller.orgId)] : [];
  return { connections: [...first, ...page.map(toConnection)], nextCursor };
}

export async function getConnection({ db }: { db: Db }, caller: Caller, id: string): Promise<Connection> {
  if (id === caller.orgId) return localStoreRecord(caller.orgId);
  return toConnection(await inOrg(db, caller.orgId, (tx) => getConnectionRow(tx, caller, id)));
}

/**
 * Changes the given fields of a connection. A new address requires the credentials again, so that stored credentials are never sent to
 * another server. Throws a 409 for the embedded log store, and 412 if `ifMatch` is not the current ETag.
 */
export async function changeConnection(
  deps: ConnectionDeps,
  caller: Caller,
  id: string,
  { ifMatch, ...input }: UpdateConnection & { ifMatch?: string | undefined },
): Promise<Connection> {
  rejectLogStore(caller, id);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await getConnectionRow(tx, caller, id, { isLocked: true });
    await requireMatch(tx, ifMatch, toConnection(before), { resourceType: 'connection', resourceId: id });
    await updateConnection(tx, applyInput(deps, before, input), new Date());
    await applyConnections(tx, caller.orgId);
    const after = await getConnectionRow(tx, caller, id);
    const record = toConnection(after);
    await auditRecord(tx, caller, 'connection.updated', { before: toConnection(before), after: record });
    return record;
  });
}

function applyInput(
  { config, secrets }: ConnectionDeps,
  before: ConnectionRow,
  input: UpdateConnection,
): ConnectionRow {
  const { kind } = before;
  const connector = remoteConnectors[kind];
  const oldSettings = JSON.parse(before.settings) as Record<string, unknown>;
  const settings =
    input.settings === undefined ? oldSettings : validateSettings(kind, input.settings, config.fetchAllow);
  if (input.credentials === undefined && connector.describeTarget(settings) !== connector.describeTarget(oldSettings))
    throw fieldError('/credentials', 'required', 'credentials must be sent again because the address changes.');
  return {
    ...before,
    name: input.name ?? before.name,
    settings: JSON.stringify(settings),
    sealed:
      input.credentials === undefined
        ? before.sealed
        : sealCredentials(secrets, before, validateCredentials(kind, input.credentials)),
    clock: chooseClock(kind, settings, input.clock ?? before.clock),
    delay_minutes: input.delayMinutes ?? before.delay_minutes,
    recheck_minutes: input.recheckMinutes ?? before.recheck_minutes,
    places: input.places ?? before.places,
  };
}

/** Deletes a connection. Throws a 409 if a detection uses it, and for the embedded log store. */
export async function removeConnection({ db }: { db: Db }, caller: Caller, id: string): Promise<Connection> {
  rejectLogStore(caller, id);
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await getConnectionRow(tx, caller, id, { isLocked: true });
    const names = await listUsingDetections(tx, caller.orgId, id);
    if (names.length > 0) {
      const quoted = names.map((name) => `"${name.slice(0, 80)}"`).join(', ');
      throw appError('conflict', `Connection ${id} is still used by detections: ${quoted}.`);
    }
    await deleteConnection(tx, caller.orgId, id);
    await applyConnections(tx, caller.orgId);
    const record = toConnection(before);
    await auditRecord(tx, caller, 'connection.deleted', { before: record, after: null });
    return record;
  });
}

/** Returns a connection. `isLocked` locks its row for update. Throws a 404 if it does not exist. */
export async function getConnectionRow(
  tx: Tx,
  caller: Caller,
  id: string,
  options: { isLocked?: boolean } = {},
): Promise<ConnectionWithPause> {
  const row = await findConnection(tx, caller.orgId, id, options);
  if (!row) throw appError('not_found', `Connection ${id} not found.`);
  return row;
}

function rejectLogStore(caller: Caller, id: string): void {
  if (id === caller.orgId) throw appError('conflict', 'The embedded log store cannot be changed or deleted.');
}

/** Converts a row to the API's record, without the credentials. */
function toConnection(row: ConnectionWithPause): Connection {
  const { pause_kind: kind, pause_message: message, pause_since: since } = row;
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    isDefault: false,
    settings: JSON.parse(row.settings) as Record<string, unknown>,
    clock: row.clock,
    delayMinutes: row.delay_minutes,
    recheckMinutes: row.recheck_minutes,
    places: row.places,
    pause: kind !== null && since ? { kind, message: message ?? '', since: since.toISOString() } : null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Returns the record of the embedded log store. Its ID is the organization's ID. */
function localStoreRecord(orgId: OrgId): Connection {
  return {
    id: orgId,
    kind: 'local',
    name: 'Embedded log store',
    isDefault: true,
    settings: {},
    clock: 'ingest',
    delayMinutes: 0,
    recheckMinutes: 0,
    places: 100,
    pause: null,
    createdAt: null,
    updatedAt: null,
  };
}
