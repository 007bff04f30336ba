import { acrossOrgs, inOrg, type Db } from '../db/db.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/logging/logger.ts';
import { runLoop } from '../lib/concurrency/loop.ts';
import type { OrgId } from '../lib/org-id.ts';
import { emitEvents } from '../notifications/emit-events.ts';
import type { ModelError } from './model-error.ts';
import { claimModelChecksAcrossOrgs, deleteModelPausesAcrossOrgs, insertModelPause } from './model-pauses.store.ts';
import type { ConfiguredModel, Models } from './models.ts';

/** Pauses an alias for an organization. Emits one event per pause. */
export async function pauseModel(
  { db, clock }: { db: Db; clock: Clock },
  orgId: OrgId,
  alias: string,
  { failure }: ModelError,
): Promise<void> {
  const now = clock();
  const data = { organizationId: orgId, alias, kind: failure.kind, message: failure.message, since: now.toISOString() };
  await inOrg(db, orgId, async (tx) => {
    if (!(await insertModelPause(tx, { orgId, alias }, failure, now))) return;
    await emitEvents(tx, [orgId], ['model.paused'], () => [
      { orgId, type: 'model.paused', resourceId: alias, revision: now.getTime(), data },
    ]);
  });
}

export type CheckModelsDeps = { db: Db; clock: Clock; log: Logger; models?: Models };

/** Calls each paused alias every 5 minutes and resumes those that respond. Returns how many were called. */
export async function checkPausedModels(deps: CheckModelsDeps, signal: AbortSignal): Promise<number> {
  const aliases = await claimModelChecksAcrossOrgs(deps.db);
  for (const alias of aliases) {
    const model = deps.models?.find(alias);
    // Runs of an alias that was removed from the settings fail with a message of their own, so no pause is needed.
    if (!model || (await modelResponds(model, signal))) await resumeModelAcrossOrgs(deps, alias);
  }
  return aliases.length;
}

export function modelCheckLoop(deps: CheckModelsDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'model-check', idleMs: 20_000, signal, log: deps.log }, async () => {
    await checkPausedModels(deps, signal);
    return false;
  });
}

/** Returns whether a model or one of its fallbacks responds to a short question. */
export async function modelResponds(model: ConfiguredModel, signal: AbortSignal): Promise<boolean> {
  const messages = [{ role: 'user' as const, content: 'Ready?' }];
  for (const { call } of [model, ...model.fallbacks]) {
    try {
      await call({ system: 'Answer with one word.', messages, tools: [], signal });
      return true;
    } catch {
      // The next one may respond.
    }
  }
  return false;
}

async function resumeModelAcrossOrgs({ db, clock }: CheckModelsDeps, alias: string): Promise<void> {
  const now = clock();
  await acrossOrgs(db, async (tx) => {
    const orgIds = await deleteModelPausesAcrossOrgs(tx, alias);
    await emitEvents(tx, orgIds, ['model.resumed'], (subscribedOrgIds) =>
      [...subscribedOrgIds].map((orgId) => ({
        orgId,
        type: 'model.resumed',
        resourceId: alias,
        revision: now.getTime(),
        data: { organizationId: orgId, alias },
      })),
    );
  });
}
