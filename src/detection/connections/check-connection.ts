import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { SiemError, type SiemConnection } from '../siem/connector.ts';
import { upstreamFault } from '../siem/siem-failures.ts';
import { getConnectionRow } from './connections.ts';
import { resumeConnection } from './connection-pauses.ts';
import type { CheckConnection, ConnectionCheck, ConnectionFields } from './connections.schema.ts';
import type { ConnectionSelector } from './connections.store.ts';

type CheckDeps = Pick<Deps, 'db' | 'clock' | 'connectionFor'>;

const checkMs = 30_000;

/** Asks the SIEM whether it answers and takes the credentials, and whether a query would run. 422 with what is wrong. A paused connection that is well is paused no more. */
export async function checkConnection(
  deps: CheckDeps,
  caller: Caller,
  id: string,
  { query }: CheckConnection,
): Promise<ConnectionCheck> {
  const connection = await connectionOf(deps, caller, id);
  const begun = performance.now();
  const signal = AbortSignal.timeout(checkMs);
  try {
    await connection.ping(signal);
    if (query !== undefined) await connection.check(query, signal);
  } catch (error) {
    throw checkFailed(error, query === undefined ? '/id' : '/query', signal);
  }
  if (connection.id !== undefined) await resumeConnection(deps, { orgId: caller.orgId, connectionId: connection.id });
  return { ok: true, ms: Math.round(performance.now() - begun) };
}

/** Asks the SIEM of a detection whether a query would run. Throws a SiemError that says why not, `timeout` where it does not answer in time. */
export async function checkQuery(
  { connectionFor }: Pick<Deps, 'connectionFor'>,
  orgId: OrgId,
  { ref, query }: { ref: ConnectionSelector; query: string },
  signal = AbortSignal.timeout(checkMs),
): Promise<void> {
  const connection = await connectionFor(orgId, ref);
  try {
    await connection.check(query, signal);
  } catch (error) {
    throw signal.aborted ? tooLate() : error;
  }
}

/** The datasets that a connection can ask, with their fields. 503 where it does not answer. */
export async function listConnectionFields(deps: CheckDeps, caller: Caller, id: string): Promise<ConnectionFields> {
  const connection = await connectionOf(deps, caller, id);
  const signal = AbortSignal.timeout(checkMs);
  try {
    return { datasets: await connection.fields(signal) };
  } catch (error) {
    const { message } = checkFailed(error, '/id', signal);
    throw appError('unavailable', message, { headers: { 'retry-after': '60' } });
  }
}

async function connectionOf(deps: CheckDeps, caller: Caller, id: string): Promise<SiemConnection> {
  if (id !== caller.orgId) await inOrg(deps.db, caller.orgId, (tx) => getConnectionRow(tx, caller, id));
  return deps.connectionFor(caller.orgId, { connectionId: id, siemType: null });
}

function checkFailed(error: unknown, pointer: string, signal: AbortSignal): Error {
  const known = signal.aborted ? tooLate() : error;
  if (!(known instanceof SiemError)) return known as Error;
  const { kind, message } = known.failure;
  return appError('check_failed', message, { errors: [{ pointer, code: kind, detail: message }] });
}

const tooLate = (): SiemError => upstreamFault('timeout', `No answer within ${checkMs / 1000} s.`, true);
