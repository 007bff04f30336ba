import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { asSaid, listSaidNow, type Said } from '../../feed/items/overrides/apply-overrides.ts';
import { settleIndicators } from '../../feed/model/expiry.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { forgetViews } from '../../feed/items/snapshot/snapshot.ts';
import { loop } from '../../platform/lib/loop.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { withOwnPool } from '../../feed/relevance/own-pool.ts';
import { getProfile } from '../../feed/relevance/profile.ts';
import { SiemError } from '../../detection/siem/connector.ts';
import { askAll, type Asked } from './run-queries.ts';
import { listArrived, type Cursor } from './arrivals.ts';
import type { Exposure } from './matches.ts';
import {
  claimAcrossOrgs,
  enrolAcrossOrgs,
  finishSweep,
  listPools,
  markExposed,
  writeExposures,
  type Sweep,
} from './sightings.store.ts';
import { listsOf, targetsOf, type Target } from './sweep-targets.ts';

export type SweepDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'connectionFor'>;

const idleMs = 5_000;
const enrolEveryMs = 60_000;
const restMs = 10_000;
const hourMs = 3_600_000;
const queriesPerHour = 600;
const waitMaxMs = hourMs;
const reasonsMax = 10;

/** Looks for what the feed brings in every organization's logs, until the signal ends it. */
export async function sweepLoop(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const { db, log } = deps;
  const enrol = async (): Promise<boolean> => enrolAcrossOrgs(db).then(() => false);
  await Promise.all([
    loop({ name: 'enrol sweeps', idleMs: enrolEveryMs, signal, log }, enrol),
    loop({ name: 'sweep', idleMs, signal, log }, () => sweepDue(deps, signal)),
  ]);
}

/** Looks for one batch of items in one SIEM; answers whether there was one to look in. */
export async function sweepDue(deps: SweepDeps, signal: AbortSignal): Promise<boolean> {
  const sweep = await claimAcrossOrgs(deps.db);
  if (!sweep) return false;
  const hour = new Date(Math.floor(deps.clock().getTime() / hourMs) * hourMs);
  const spent = hour.getTime() === sweep.hour.getTime() ? sweep.queries : 0;
  const { sweep: isOn } = await getProfile(deps, { orgId: sweep.orgId, keyId: null, scopes: new Set() });
  const { batch, said } = await inOrg(deps.db, sweep.orgId, async (tx) => {
    const arrived = await listArrived(tx, {
      pools: await listPools(tx),
      cursor: isOn && !sweep.isEmpty ? readCursor(sweep) : undefined,
      weigh: (item) => targetsOf(item).length,
    });
    const ids = arrived.items.map(({ id }) => id);
    return { batch: arrived, said: await listSaidNow(tx, ids) };
  });
  // What was active when the item was written may have ended since.
  for (const item of batch.items) settleIndicators(item, hour.getTime());
  const targets = batch.items.flatMap((item) => targetsOf(asSaid(item, said.get(item.id))));
  const asked = await ask(deps, { sweep, targets, queriesMax: queriesPerHour - spent, signal });
  const next = {
    cursor: asked.isWhole ? JSON.stringify(batch.cursor) : sweep.cursor,
    waitMs: waitFor(sweep, asked, batch.items.length > 0),
    hour,
    queries: spent + asked.queries,
    failures: asked.isWhole ? 0 : asked.isSpent ? sweep.failures : sweep.failures + 1,
    error: asked.error,
  };
  await inOrg(deps.db, sweep.orgId, async (tx) => {
    await keep(tx, sweep, { asked, items: batch.items, said, now: deps.clock() });
    await finishSweep(tx, sweep, next);
  });
  if (asked.found.length > 0) forgetViews(deps.db);
  return true;
}

const readCursor = ({ cursor }: Sweep): Cursor | undefined =>
  cursor === null ? undefined : (JSON.parse(cursor) as Cursor);

type Asking = { sweep: Sweep; targets: Target[]; queriesMax: number; signal: AbortSignal };

async function ask(deps: SweepDeps, { sweep, targets, queriesMax, signal }: Asking): Promise<Asked> {
  const nothing: Asked = { found: [], queries: 0, isWhole: true, isSpent: false, error: null };
  if (targets.length === 0) return nothing;
  try {
    const connection = await deps.connectionFor(sweep.orgId, { connectionId: sweep.connectionId, siemType: null });
    return await askAll(connection, {
      kind: sweep.kind,
      lists: listsOf(targets),
      targets,
      queriesMax,
      now: deps.clock(),
      signal,
    });
  } catch (error) {
    if (!(error instanceof SiemError)) throw error;
    return { ...nothing, isWhole: false, error: error.failure.message.slice(0, 1_000) };
  }
}

function waitFor({ failures }: Sweep, { isWhole, isSpent }: Asked, hadItems: boolean): number {
  if (isSpent) return hourMs / 6;
  if (!isWhole) return Math.min(waitMaxMs, 60_000 * 2 ** Math.min(failures, 6));
  return hadItems ? 0 : restMs;
}

/** Stores the rows; an item that was not exposed until now is told of once. */
async function keep(
  tx: Tx,
  sweep: Sweep,
  { asked, items, said, now }: { asked: Asked; items: FeedItem[]; said: ReadonlyMap<string, Said>; now: Date },
): Promise<void> {
  if (asked.found.length === 0) return;
  await withOwnPool(tx, sweep.orgId, async () => {
    const fresh = await writeExposures(tx, sweep, asked.found, now);
    const { orgId } = sweep;
    const byId = new Map(items.map((item) => [item.id, item]));
    const marks = fresh.map((id) => ({ id, reasons: reasonsOf(byId.get(id)!, asked.found) }));
    const marked = await markExposed(tx, orgId, marks, now);
    await emitEvents(tx, [orgId], ['feed.item.exposed'], () =>
      marked.map((id) => {
        const item = byId.get(id)!;
        const seen = asked.found
          .filter(({ itemId }) => itemId === id)
          .map(({ type, value, dataset }) => ({ type, value, dataset }));
        const data = {
          ...item,
          exposure: { at: now.toISOString(), connectionId: sweep.connectionId, indicators: seen.slice(0, 50) },
        };
        return {
          orgId,
          type: 'feed.item.exposed',
          resourceId: id,
          revision: item.version,
          data,
          severity: said.get(id)?.severity ?? item.event.severity,
        };
      }),
    );
    return marked.length > 0;
  });
}

/** The indicators that were seen, each with the passage of the item that names it. */
function reasonsOf(item: FeedItem, found: Exposure[]): RelevanceReason[] {
  const seen = new Set(found.flatMap(({ itemId, value }) => (itemId === item.id ? [value] : [])));
  const indicators = Object.values(item.iocs).flat();
  return [...seen].slice(0, reasonsMax).map((matched) => {
    const printed =
      indicators.find(({ normalizedValue }) => normalizedValue.toLowerCase() === matched)?.value ?? matched;
    const passage = item.provenance.supportingPassages.findIndex(({ text }) => text.includes(printed));
    return {
      kind: 'indicator',
      matched,
      weight: 1,
      ...(passage < 0 ? {} : { evidenceRef: `provenance.supportingPassages[${passage}]` }),
    };
  });
}
