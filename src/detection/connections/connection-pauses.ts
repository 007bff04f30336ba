import { sql } from 'kysely';
import { acrossOrgs, inOrg, queryRow, queryRows, type Db } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { runLoop } from '../../platform/lib/loop.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { SiemError, type SiemConnection, type SiemFailure } from '../siem/connector.ts';

type ConnectionId = { orgId: OrgId; connectionId: string };
type PauseDeps = Pick<Deps, 'db' | 'clock'>;
type CheckDeps = PauseDeps & Pick<Deps, 'log' | 'connectionFor'>;

const checkEvery = sql`interval '5 minutes'`;
const checkMs = 30_000;
const checksMax = 100;
/** Those that hang hold the others up for no longer than until their next check. */
const checksAtOnce = 10;

const nameOf = sql`(select c.name from connections c
  where c.organization_id = connection_pauses.organization_id and c.id = connection_pauses.connection_id) as name`;

/** Pauses a connection, with one event for as long as it lasts: no scheduled run or backfill asks it meanwhile. `query` met the trouble. */
export async function pauseConnection(
  { db, clock }: PauseDeps,
  { orgId, connectionId }: ConnectionId,
  { kind, message }: SiemFailure,
  query: string | null,
): Promise<void> {
  const now = clock();
  await inOrg(db, orgId, async (tx) => {
    const paused = await queryRow(
      tx,
      sql<{ name: string }>`
        insert into connection_pauses (organization_id, connection_id, kind, message, query, since_at, check_at)
        select ${orgId}::uuid, id, ${kind}, ${message}, ${query}, ${now}::timestamptz, clock_timestamp() + ${checkEvery}
        from connections where organization_id = ${orgId} and id = ${connectionId}
        on conflict do nothing returning ${nameOf}`,
    );
    if (!paused) return;
    const data = { organizationId: orgId, connectionId, name: paused.name, kind, message, since: now.toISOString() };
    await emitEvents(tx, [orgId], ['connection.paused'], () => [
      { orgId, type: 'connection.paused', resourceId: connectionId, revision: now.getTime(), data },
    ]);
  });
}

/** Ends a pause, with an event where there was one. */
export async function resumeConnection({ db, clock }: PauseDeps, { orgId, connectionId }: ConnectionId): Promise<void> {
  const now = clock();
  await inOrg(db, orgId, async (tx) => {
    const resumed = await queryRow(
      tx,
      sql<{
        name: string;
      }>`delete from connection_pauses where organization_id = ${orgId} and connection_id = ${connectionId} returning ${nameOf}`,
    );
    if (!resumed) return;
    const data = { organizationId: orgId, connectionId, name: resumed.name };
    await emitEvents(tx, [orgId], ['connection.resumed'], () => [
      { orgId, type: 'connection.resumed', resourceId: connectionId, revision: now.getTime(), data },
    ]);
  });
}

/** Every 5 minutes asks each paused connection, with the query that met the trouble; one that is well is paused no more. Answers how many were asked. */
export async function checkPausedConnections(deps: CheckDeps, signal: AbortSignal): Promise<number> {
  const due = await claimChecksAcrossOrgs(deps.db);
  const waiting = due.values();
  const work = async (): Promise<void> => {
    for (const { query, ...paused } of waiting) {
      if (signal.aborted) break;
      if (await isWell(deps, paused, query, signal)) await resumeConnection(deps, paused);
    }
  };
  await Promise.all(Array.from({ length: checksAtOnce }, work));
  return due.length;
}

export function connectionCheckLoop(deps: CheckDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'connection-check', idleMs: 20_000, signal, log: deps.log }, async () => {
    await checkPausedConnections(deps, signal);
    return false;
  });
}

type Due = ConnectionId & { query: string | null };

function claimChecksAcrossOrgs(db: Db): Promise<Due[]> {
  return acrossOrgs(db, (tx) =>
    queryRows(
      tx,
      sql<Due>`
        update connection_pauses set check_at = clock_timestamp() + ${checkEvery}
        where (organization_id, connection_id) in (
          select organization_id, connection_id from connection_pauses where check_at <= clock_timestamp()
          order by check_at limit ${checksMax} for update skip locked)
        returning organization_id as "orgId", connection_id as "connectionId", query`,
    ),
  );
}

async function isWell(
  deps: CheckDeps,
  { orgId, connectionId }: ConnectionId,
  query: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(checkMs)]);
  try {
    const connection = await deps.connectionFor(orgId, { connectionId, siemType: null });
    return await answersWell(connection, query, within);
  } catch (error) {
    if (!(error instanceof SiemError) && !within.aborted)
      deps.log.error({ err: error, connectionId }, 'a paused connection could not be checked');
    return false;
  }
}

async function answersWell(connection: SiemConnection, query: string | null, signal: AbortSignal): Promise<boolean> {
  await connection.ping(signal);
  if (query === null) return true;
  try {
    await connection.check(query, signal);
    return true;
  } catch (error) {
    // A query that its author has to mend says nothing against the SIEM.
    return error instanceof SiemError && error.failure.blame === 'author';
  }
}
