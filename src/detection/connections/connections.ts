import { z } from 'zod';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { pageOf, pageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { followConnections } from '../scheduling/connection-delays.ts';
import { connectorOf, readClock, readCredentials, readSettings } from './validate-settings.ts';
import { localRecord, toConnection } from './connection-record.ts';
import {
  remoteKinds,
  type Connection,
  type ConnectionKinds,
  type ConnectionList,
  type CreateConnection,
  type UpdateConnection,
} from './connections.schema.ts';
import { seal } from './seal-credentials.ts';
import {
  deleteConnection,
  findConnection,
  insertConnection,
  listConnections,
  listUsers,
  updateConnection,
  type ConnectionRow,
  type ConnectionView,
} from './connections.store.ts';

type ConnectionDeps = Pick<Deps, 'db' | 'config' | 'secrets'>;

/** Every kind that a connection may be to, with what its settings and credentials are. */
export function getKinds(): ConnectionKinds {
  const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>;
  const kinds = remoteKinds.map((kind) => {
    const { label, language, writing, settings, credentials } = connectorOf(kind);
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
  const settings = readSettings(kind, input.settings, deps.config.fetchAllow);
  const credentials = readCredentials(kind, input.credentials);
  const ref = { organization_id: caller.orgId, id: uuidv7(now) };
  const made: ConnectionRow = {
    ...ref,
    kind,
    name,
    settings: JSON.stringify(settings),
    sealed: seal(deps.secrets, ref, credentials),
    clock: readClock(kind, settings, input.clock),
    delay_minutes: delayMinutes,
    recheck_minutes: recheckMinutes,
    places,
    created_at: now,
    updated_at: now,
  };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await insertConnection(tx, made);
    await followConnections(tx, caller.orgId);
    const after = await connectionOr404(tx, caller, made.id);
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
  const request = pageRequest(query);
  const found = await inOrg(db, caller.orgId, (tx) => listConnections(tx, caller.orgId, request));
  const { page, nextCursor } = pageOf(found, request.limit, (one) => ({ at: one.created_at, id: one.id }));
  const first = request.after === null ? [localRecord(caller.orgId)] : [];
  return { connections: [...first, ...page.map(toConnection)], nextCursor };
}

export async function getConnection({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Connection> {
  if (id === caller.orgId) return localRecord(caller.orgId);
  return toConnection(await inOrg(db, caller.orgId, (tx) => connectionOr404(tx, caller, id)));
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
    const before = await connectionOr404(tx, caller, id, true);
    await updateConnection(tx, merged(deps, before, input), new Date());
    await followConnections(tx, caller.orgId);
    const after = await connectionOr404(tx, caller, id);
    await audit(tx, caller, 'connection.updated', { before, after });
    return toConnection(after);
  });
}

function merged({ config, secrets }: ConnectionDeps, before: ConnectionRow, input: UpdateConnection): ConnectionRow {
  const { kind } = before;
  const connector = connectorOf(kind);
  const old = JSON.parse(before.settings) as Record<string, unknown>;
  const settings = input.settings === undefined ? old : readSettings(kind, input.settings, config.fetchAllow);
  if (input.credentials === undefined && connector.address(settings) !== connector.address(old))
    throw fieldError('/credentials', 'required', 'With another address the credentials have to be given again.');
  return {
    ...before,
    name: input.name ?? before.name,
    settings: JSON.stringify(settings),
    sealed:
      input.credentials === undefined ? before.sealed : seal(secrets, before, readCredentials(kind, input.credentials)),
    clock: readClock(kind, settings, input.clock ?? before.clock),
    delay_minutes: input.delayMinutes ?? before.delay_minutes,
    recheck_minutes: input.recheckMinutes ?? before.recheck_minutes,
    places: input.places ?? before.places,
  };
}

/** Removes a connection. 409 while a detection names it. */
export async function removeConnection({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Connection> {
  refuseLocal(caller, id);
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await connectionOr404(tx, caller, id, true);
    const users = await listUsers(tx, caller.orgId, id);
    if (users.length > 0)
      throw appError(
        'conflict',
        `Connection ${id} is used by detections: ${users.map((name) => `"${name.slice(0, 80)}"`).join(', ')}.`,
      );
    await deleteConnection(tx, caller.orgId, id);
    await followConnections(tx, caller.orgId);
    await audit(tx, caller, 'connection.deleted', { before, after: null });
    return toConnection(before);
  });
}

export async function connectionOr404(tx: Tx, caller: Caller, id: string, lock = false): Promise<ConnectionView> {
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
  { before, after }: { before: ConnectionView | null; after: ConnectionView | null },
): Promise<void> {
  const shown = (one: ConnectionView | null) => one && toConnection(one);
  return insertAudit(tx, caller, {
    action,
    resourceType: 'connection',
    resourceId: (after ?? before)!.id,
    before: shown(before),
    after: shown(after),
  });
}
