import { inOrg } from '../../db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { attempt } from './delivery-attempt.ts';
import { claimTriesAcrossOrgs, finishTry, type Try, type TryEnd } from './deliveries.store.ts';
import { countTry } from './delivery-metrics.ts';

export type DeliverDeps = Pick<Deps, 'db' | 'config' | 'secrets' | 'log' | 'metrics'>;

/** Sends a held delivery and writes how it ended. */
export async function deliverHeld(deps: DeliverDeps, held: Try, signal?: AbortSignal): Promise<TryEnd> {
  const end = await attempt(deps, held, signal);
  await inOrg(deps.db, held.organization_id, (tx) => finishTry(tx, held, end));
  if (end.counted) countTry(deps.metrics.registry, held.kind, end.state === 'pending' ? 'retried' : end.state);
  if (end.disable) deps.log.warn({ outputId: held.output_id, reason: end.disable }, 'an output was switched off');
  return end;
}

/** Delivers what is due until nothing is, `places` at a time. Answers how many tries were made. For tests and short-lived commands. */
export async function deliverDue(deps: DeliverDeps, places = 16): Promise<number> {
  let tries = 0;
  for (;;) {
    const claimed = await claimTriesAcrossOrgs(deps.db, places, new Map());
    if (claimed.length === 0) return tries;
    await Promise.all(claimed.map((held) => deliverHeld(deps, held)));
    tries += claimed.length;
  }
}
