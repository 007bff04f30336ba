import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
import { SiemError, type SiemConnection } from '../siem/connector.ts';
import { noConnectionTo } from '../siem/siem-failures.ts';
import { getConnector } from './validate-settings.ts';
import { openCredentials } from './seal-credentials.ts';
import { resolveConnection, type ConnectionSelector, type ConnectionRow } from './connections.store.ts';

/** The connection that a detection asks. With a transaction it is looked up there. Throws a SiemError, blame author, where there is none. */
export type ConnectionFor = (orgId: OrgId, ref: ConnectionSelector, tx?: Tx) => Promise<SiemConnection>;

type ConnectDeps = {
  db: Db;
  secrets: Secretbox;
  fetchAllow: readonly string[];
  local: (orgId: OrgId) => SiemConnection;
};

const knownMax = 1000;
const minuteMs = 60_000;

/** Connections stay as they were made until they change: some hold a token that is worth keeping. */
export function createConnectionFor({ db, secrets, fetchAllow, local }: ConnectDeps): ConnectionFor {
  const known = new Map<string, SiemConnection>();
  const open = (row: ConnectionRow): SiemConnection => {
    const key = `${row.organization_id}/${row.id}/${row.updated_at.toISOString()}`;
    const found = known.get(key) ?? openConnection(row, openCredentials(secrets, row), fetchAllow);
    known.delete(key);
    known.set(key, found);
    if (known.size > knownMax) known.delete(known.keys().next().value!);
    return found;
  };
  return async (orgId, ref, tx) => {
    if (isLocalStore(orgId, ref)) return local(orgId);
    const find = (on: Tx) => resolveConnection(on, orgId, ref);
    const row = await (tx ? find(tx) : inOrg(db, orgId, find));
    if (!row) throw noConnection(ref);
    return open(row);
  };
}

/** The embedded store has the organization's own id. */
export const isLocalStore = (orgId: OrgId, { connectionId, siemType }: ConnectionSelector): boolean =>
  connectionId === orgId || (connectionId === null && (siemType === null || siemType.toLowerCase() === 'local'));

/** A stored connection, ready to be asked. */
export function openConnection(row: ConnectionRow, credentials: unknown, allow: readonly string[]): SiemConnection {
  const connector = getConnector(row.kind);
  const settings = connector.settings.parse(JSON.parse(row.settings));
  return {
    id: row.id,
    clock: row.clock,
    delayMs: row.delay_minutes * minuteMs,
    ...(row.clock === 'event' && row.recheck_minutes > 0 ? { recheckMs: row.recheck_minutes * minuteMs } : {}),
    ...connector.connect({ settings, credentials, clock: row.clock, allow }),
  };
}

function noConnection({ connectionId, siemType }: ConnectionSelector): SiemError {
  const message = connectionId === null ? noConnectionTo(siemType) : `There is no connection ${connectionId}.`;
  return new SiemError({ kind: 'no_connection', blame: 'author', retryable: false, message });
}
