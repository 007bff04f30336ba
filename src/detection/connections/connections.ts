import { z } from 'zod';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { toPage, readPageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { applyConnections } from '../scheduling/apply-connections.store.ts';
import { getConnector, chooseClock, validateCredentials, validateSettings } from './validate-settings.ts';
import { localStoreRecord, toConnection } from './connection-record.ts';
import {
  remoteKinds,
  type Connection,
  type ConnectionKinds,
  type ConnectionList,
  type CreateConnection,
  type UpdateConnection,
} from './connections.schema.ts';
import { sealCredentials } from './seal-credentials.ts';
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

type ConnectionDeps = Pick<Deps, 'db' | 'config' | 'secrets'>;

/** Every kind that a connection may be to, with what its settings and credentials are. */
export function listConnectionKinds(): ConnectionKinds {
  const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>;
  const kinds = remoteKinds.map((kind) => {
    const { label, language, writing, settings, credentials } = getConnector(kind);
    return { kind, label, language, writing, settings: schemaOf(settings), credentials: schemaOf(credentials) };
  });
  return { kinds };
}

/** Makes a connection; nothing is asked of the SIEM yet. 400 for settings or credentials that are not of the kind. */
export async function createConnection(
  deps: ConnectionDeps,
  caller: Caller,
  input: CreateConnection,
): Promise<Connection> {
  const now = new Date();
  const { kind, name, delayMinutes, recheckMinutes, places } = input;
  const settings = validateSettings(kind, input.settings, deps.config.fetchAllow);
  const credentials = validateCredentials(kind, input.credentials);
  const ref = { organization_id: caller.orgId, id: uuidv7(now) };
  const made: ConnectionRow = {
    ...ref,
    kind,
    name,
    settings: JSON.stringify(settings),
    sealed: sealCredentials(deps.secrets, ref, credentials),
    clock: chooseClock(kind, settings, input.clock),
    delay_minutes: delayMinutes,
    recheck_minutes: recheckMinutes,
    places,
    created_at: now,
    updated_at: now,
  };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await insertConnection(tx, made);
    await applyConnections(tx, caller.orgId);
    const after = await getConnectionRow(tx, caller, made.id);
    await audit(tx, caller, 'connection.created', { before: null, after });
    return toConnection(after);
  });
}

/** The embedded store first, then the organization's own, newest first. */
export async function getConnections(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  query: PageQuery,
): Promise<ConnectionList> {
  const request = readPageRequest(query);
  const found = await inOrg(db, caller.orgId, (tx) => listConnectionRows(tx, caller.orgId, request));
  const { page, nextCursor } = toPage(found, request.limit, (one) => ({ at: one.created_at, id: one.id }));
  const first = request.after === null ? [localStoreRecord(caller.orgId)] : [];
  return { connections: [...first, ...page.map(toConnection)], nextCursor };
}

export async function getConnection({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Connection> {
  if (id === caller.orgId) return localStoreRecord(caller.orgId);
  return toConnection(await inOrg(db, caller.orgId, (tx) => getConnectionRow(tx, caller, id)));
}

/** Changes what the body names. With another address the credentials have to be given again: nobody sends stored ones elsewhere. 409 for the embedded store. */
export async function changeConnection(
  deps: ConnectionDeps,
  caller: Caller,
  id: string,
  input: UpdateConnection,
): Promise<Connection> {
  refuseLocal(caller, id);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await getConnectionRow(tx, caller, id, true);
    await updateConnection(tx, merged(deps, before, input), new Date());
    await applyConnections(tx, caller.orgId);
    const after = await getConnectionRow(tx, caller, id);
    await audit(tx, caller, 'connection.updated', { before, after });
    return toConnection(after);
  });
}

function merged({ config, secrets }: ConnectionDeps, before: ConnectionRow, input: UpdateConnection): ConnectionRow {
  const { kind } = before;
  const connector = getConnector(kind);
  const old = JSON.parse(before.settings) as Record<string, unknown>;
  const settings = input.settings === undefined ? old : validateSettings(kind, input.settings, config.fetchAllow);
  if (input.credentials === undefined && connector.address(settings) !== connector.address(old))
    throw fieldError('/credentials', 'required', 'With another address the credentials have to be given again.');
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

/** Removes a connection. 409 while a detection names it. */
export async function removeConnection({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Connection> {
  refuseLocal(caller, id);
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await getConnectionRow(tx, caller, id, true);
    const users = await listUsingDetections(tx, caller.orgId, id);
    if (users.length > 0)
      throw appError(
        'conflict',
        `Connection ${id} is used by detections: ${users.map((name) => `"${name.slice(0, 80)}"`).join(', ')}.`,
      );
    await deleteConnection(tx, caller.orgId, id);
    await applyConnections(tx, caller.orgId);
    await audit(tx, caller, 'connection.deleted', { before, after: null });
    return toConnection(before);
  });
}

export async function getConnectionRow(tx: Tx, caller: Caller, id: string, lock = false): Promise<ConnectionWithPause> {
  const found = await findConnection(tx, caller.orgId, id, lock);
  if (!found) throw appError('not_found', `Connection ${id} not found.`);
  return found;
}

function refuseLocal(caller: Caller, id: string): void {
  if (id === caller.orgId)
    throw appError('conflict', 'The embedded log store is every organization’s own and stays as it is.');
}

function audit(
  tx: Tx,
  caller: Caller,
  action: string,
  { before, after }: { before: ConnectionWithPause | null; after: ConnectionWithPause | null },
): Promise<void> {
  const shown = (one: ConnectionWithPause | null) => one && toConnection(one);
  return insertAudit(tx, caller, {
    action,
    resourceType: 'connection',
    resourceId: (after ?? before)!.id,
    before: shown(before),
    after: shown(after),
  });
}
