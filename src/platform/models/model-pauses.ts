import { sql } from 'kysely';
import type { Models } from './models.ts';
import type { ModelError } from './model-error.ts';
import { acrossOrgs, inOrg, row, rows, type Db, type Tx } from '../db/db.ts';
import { loop } from '../lib/loop.ts';
import type { OrgId } from '../lib/org-id.ts';
import { emitEvents } from '../notifications/emit-events.ts';
import type { RunDeps } from '../../detection/runs/run-types.ts';

const checkEvery = sql`interval '5 minutes'`;

export type Pause = { kind: string; message: string; since_at: Date; check_at: Date };

export function findPause({ db }: Pick<RunDeps, 'db'>, orgId: OrgId, alias: string): Promise<Pause | undefined> {
  return inOrg(db, orgId, (tx) =>
    row(
      tx,
      sql<Pause>`select kind, message, since_at, check_at from model_pauses where organization_id = ${orgId} and alias = ${alias}`,
    ),
  );
}

export function listPauses(tx: Tx, orgId: OrgId): Promise<(Pause & { alias: string })[]> {
  return rows(
    tx,
    sql<
      Pause & { alias: string }
    >`select alias, kind, message, since_at, check_at from model_pauses where organization_id = ${orgId}`,
  );
}

/** Pauses an alias for an organization, with one event for as long as it lasts. */
export async function pauseModel(
  { db, clock }: Pick<RunDeps, 'db' | 'clock'>,
  orgId: OrgId,
  alias: string,
  { failure }: ModelError,
): Promise<void> {
  const now = clock();
  const data = { organizationId: orgId, alias, kind: failure.kind, message: failure.message, since: now.toISOString() };
  await inOrg(db, orgId, async (tx) => {
    const paused = await row(
      tx,
      sql`
        insert into model_pauses (organization_id, alias, kind, message, since_at, check_at)
        values (${orgId}, ${alias}, ${failure.kind}, ${failure.message}, ${now}, clock_timestamp() + ${checkEvery})
        on conflict do nothing returning 1`,
    );
    if (!paused) return;
    await emitEvents(tx, [orgId], ['model.paused'], () => [
      { orgId, type: 'model.paused', resourceId: alias, revision: now.getTime(), data },
    ]);
  });
}

type CheckDeps = Pick<RunDeps, 'db' | 'clock' | 'log' | 'models'>;

/** Every 5 minutes asks each paused alias for a word; one that answers is paused no more. Answers how many were asked. */
export async function checkPausedModels(deps: CheckDeps, signal: AbortSignal): Promise<number> {
  const aliases = await claimChecksAcrossOrgs(deps.db);
  for (const alias of aliases) {
    if (await answers(deps.models, alias, signal)) await resumeModelAcrossOrgs(deps, alias);
  }
  return aliases.length;
}

export function modelCheckLoop(deps: CheckDeps, signal: AbortSignal): Promise<void> {
  return loop({ name: 'model-check', idleMs: 20_000, signal, log: deps.log }, async () => {
    await checkPausedModels(deps, signal);
    return false;
  });
}

function claimChecksAcrossOrgs(db: Db): Promise<string[]> {
  return acrossOrgs(db, async (tx) => {
    const due = await rows(
      tx,
      sql<{ alias: string }>`
        update model_pauses set check_at = clock_timestamp() + ${checkEvery}
        where (organization_id, alias) in (
          select organization_id, alias from model_pauses where check_at <= clock_timestamp() order by check_at limit 1000 for update skip locked)
        returning alias`,
    );
    return [...new Set(due.map(({ alias }) => alias))];
  });
}

async function answers(models: Models | undefined, alias: string, signal: AbortSignal): Promise<boolean> {
  const model = models?.find(alias);
  // An alias that the settings no longer have keeps nobody waiting: its runs fail by themselves and say why.
  if (!model) return true;
  try {
    await model.call({
      system: 'Answer with one word.',
      messages: [{ role: 'user', content: 'Ready?' }],
      tools: [],
      signal,
    });
    return true;
  } catch {
    return false;
  }
}

async function resumeModelAcrossOrgs({ db, clock }: CheckDeps, alias: string): Promise<void> {
  const now = clock();
  await acrossOrgs(db, async (tx) => {
    const resumed = await rows(
      tx,
      sql<{ orgId: OrgId }>`delete from model_pauses where alias = ${alias} returning organization_id as "orgId"`,
    );
    await emitEvents(
      tx,
      resumed.map(({ orgId }) => orgId),
      ['model.resumed'],
      (wanting) =>
        [...wanting].map((orgId) => ({
          orgId,
          type: 'model.resumed',
          resourceId: alias,
          revision: now.getTime(),
          data: { organizationId: orgId, alias },
        })),
    );
  });
}
