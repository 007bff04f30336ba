import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { SiemError, type SiemConnection, type SiemFailure } from '../siem/connector.ts';
import { claimChecksAcrossOrgs, deletePause, insertPause, type ConnectionKey } from './connections.store.ts';
import type { ConnectionFor } from './open-connection.ts';

/** `clock` is slot time. */
type PauseDeps = { db: Db; clock: Clock };
export type ConnectionCheckDeps = PauseDeps & { log: Logger; connectionFor: ConnectionFor };

const checkMs = 30_000;
const checksMax = 100;
const concurrency = 10;

/**
 * Pauses a connection after a failure. Scheduled runs and backfills do not query a paused connection. Emits one event per pause. `query` is
 * the query that failed.
 */
export async function pauseConnection(
  { db, clock }: PauseDeps,
  { orgId, connectionId }: ConnectionKey,
  { kind, message }: SiemFailure,
  query: string | null,
): Promise<void> {
  const since = clock();
  await inOrg(db, orgId, async (tx) => {
    const paused = await insertPause(tx, { orgId, connectionId }, { kind, message, query, since });
    if (!paused) return;
    const data = { organizationId: orgId, connectionId, name: paused.name, kind, message, since: since.toISOString() };
    await emitEvents(tx, [orgId], ['connection.paused'], () => [
      { orgId, type: 'connection.paused', resourceId: connectionId, revision: since.getTime(), data },
    ]);
  });
}

/** Ends a connection's pause and emits an event. Does nothing if the connection is not paused. */
export async function resumeConnection(
  { db, clock }: PauseDeps,
  { orgId, connectionId }: ConnectionKey,
): Promise<void> {
  const now = clock();
  await inOrg(db, orgId, async (tx) => {
    const resumed = await deletePause(tx, { orgId, connectionId });
    if (!resumed) return;
    const data = { organizationId: orgId, connectionId, name: resumed.name };
    await emitEvents(tx, [orgId], ['connection.resumed'], () => [
      { orgId, type: 'connection.resumed', resourceId: connectionId, revision: now.getTime(), data },
    ]);
  });
}

/**
 * Checks each paused connection every 5 minutes, with the query that failed, and ends the pause if the check succeeds. Checks several
 * connections concurrently, so that one that hangs does not delay the others. Returns the number of connections checked.
 */
export async function checkPausedConnections(deps: ConnectionCheckDeps, signal: AbortSignal): Promise<number> {
  const due = await claimChecksAcrossOrgs(deps.db, checksMax);
  const queue = due.values();
  const work = async (): Promise<void> => {
    for (const { query, ...connection } of queue) {
      if (signal.aborted) break;
      if (await isHealthy(deps, connection, query, signal)) await resumeConnection(deps, connection);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return due.length;
}

export function connectionCheckLoop(deps: ConnectionCheckDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'connection-check', idleMs: 20_000, signal, log: deps.log }, async () => {
    await checkPausedConnections(deps, signal);
    return false;
  });
}

async function isHealthy(
  deps: ConnectionCheckDeps,
  { orgId, connectionId }: ConnectionKey,
  query: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  const checkSignal = AbortSignal.any([signal, AbortSignal.timeout(checkMs)]);
  try {
    const connection = await deps.connectionFor(orgId, { connectionId, siemType: null });
    return await passesCheck(connection, query, checkSignal);
  } catch (error) {
    if (!(error instanceof SiemError) && !checkSignal.aborted)
      deps.log.error({ err: error, connectionId }, 'checking a paused connection failed');
    return false;
  }
}

async function passesCheck(connection: SiemConnection, query: string | null, signal: AbortSignal): Promise<boolean> {
  await connection.ping(signal);
  if (query === null) return true;
  try {
    await connection.check(query, signal);
    return true;
  } catch (error) {
    // An error in the query itself does not mean that the SIEM is unhealthy.
    return error instanceof SiemError && error.failure.blame === 'author';
  }
}
