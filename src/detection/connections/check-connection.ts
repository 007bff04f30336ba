import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, unavailableError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { type ConnectionSelector, SiemError, type QueryCheck, type SiemConnection } from '../siem/connector.ts';
import { upstreamError } from '../siem/siem-errors.ts';
import { resumeConnection } from './connection-pauses.ts';
import { getConnectionRow } from './connections.ts';
import type {
  CheckConnection,
  ConnectionCheck,
  ConnectionFields,
  ConnectionFieldsQuery,
} from './connections.schema.ts';
import type { ConnectionFor } from './open-connection.ts';

/** `clock` is slot time. */
export type CheckConnectionDeps = { db: Db; clock: Clock; connectionFor: ConnectionFor };

const checkMs = 30_000;

/**
 * Checks that a SIEM responds and accepts the credentials, and that a query would run if one is given. Ends the connection's pause if the
 * check succeeds. Throws a 422 with the problem if it fails.
 */
export async function checkConnection(
  deps: CheckConnectionDeps,
  caller: Caller,
  id: string,
  { query }: CheckConnection,
): Promise<ConnectionCheck> {
  const connection = await openById(deps, caller, id);
  const began = performance.now();
  const signal = AbortSignal.timeout(checkMs);
  let warnings: ConnectionCheck['warnings'] = [];
  try {
    await connection.ping(signal);
    if (query !== undefined) warnings = (await connection.check(query, signal))?.warnings ?? [];
  } catch (error) {
    throw checkFailed(error, query === undefined ? '/id' : '/query', signal);
  }
  if (connection.id !== undefined) await resumeConnection(deps, { orgId: caller.orgId, connectionId: connection.id });
  return { ok: true, ms: Math.round(performance.now() - began), warnings };
}

/** Checks a query against a detection's SIEM. Throws a SiemError if the query would not run, or with kind `timeout` if the SIEM is too slow. */
export async function checkQuery(
  { connectionFor }: { connectionFor: ConnectionFor },
  orgId: OrgId,
  { selector, query }: { selector: ConnectionSelector; query: string },
  signal = AbortSignal.timeout(checkMs),
): Promise<QueryCheck | void> {
  const connection = await connectionFor(orgId, selector);
  try {
    return await connection.check(query, signal);
  } catch (error) {
    throw signal.aborted ? checkTimeout() : error;
  }
}

/**
 * Returns the datasets that a connection can query, with their fields, or those of its portable queries. Every query of the embedded store is
 * portable. Throws a 503 if the SIEM does not respond.
 */
export async function listConnectionFields(
  deps: CheckConnectionDeps,
  caller: Caller,
  id: string,
  { portable }: ConnectionFieldsQuery = {},
): Promise<ConnectionFields> {
  const connection = await openById(deps, caller, id);
  const signal = AbortSignal.timeout(checkMs);
  try {
    const isPortable = portable === 'true' && connection.portableFields !== undefined;
    return { datasets: await (isPortable ? connection.portableFields!() : connection.fields(signal)) };
  } catch (error) {
    const failure = signal.aborted ? checkTimeout() : error;
    throw failure instanceof SiemError ? unavailableError(failure.message, 60) : failure;
  }
}

async function openById(deps: CheckConnectionDeps, caller: Caller, id: string): Promise<SiemConnection> {
  if (id !== caller.orgId) await inOrg(deps.db, caller.orgId, (tx) => getConnectionRow(tx, caller, id));
  return deps.connectionFor(caller.orgId, { connectionId: id, siemType: null });
}

function checkFailed(error: unknown, pointer: string, signal: AbortSignal): Error {
  const failure = signal.aborted ? checkTimeout() : error;
  if (!(failure instanceof SiemError)) return failure as Error;
  const { kind, message } = failure.failure;
  return appError('check_failed', message, { errors: [{ pointer, code: kind, detail: message }] });
}

const checkTimeout = (): SiemError =>
  upstreamError('timeout', `The SIEM did not respond within ${checkMs / 1000} s.`, true);
