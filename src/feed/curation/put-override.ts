import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { getItem } from '../items/get-item.ts';
import { normalizeValue } from '../model/normalize.ts';
import type { OverriddenIndicator } from '../model/overrides.schema.ts';
import type { FeedItem, FeedItemDetail } from '../model/item.schema.ts';
import { forgetViews } from '../items/snapshot/snapshot.ts';
import { bucketByType, type IndicatorType } from '../model/vocabulary.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { advancePools, lockPools, privatePool } from '../items/writing/feed-pools.store.ts';
import type { OverrideItem } from './curation.schema.ts';
import { settleOverrides } from './recompute-overrides.ts';
import { findTarget } from './curation.store.ts';
import { findWords, sameWords, writeWords, type OverrideFields } from './override-fields.store.ts';

/** Says something of an item for the caller's organization alone, whoever owns the item. The same again changes nothing. */
export async function putOverride(
  deps: Deps,
  caller: Caller,
  id: string,
  input: OverrideItem,
): Promise<FeedItemDetail> {
  const { db, clock } = deps;
  await inOrg(db, caller.orgId, async (tx) => {
    const item = await findTarget(tx, id);
    if (!item) throw appError('not_found', `Item ${id} not found`);
    const indicators = input.indicators && knownIndicators(JSON.parse(item.doc) as FeedItem, input.indicators);
    const poolId = await privatePool(tx, caller.orgId, uuidv7());
    const [pool] = await lockPools(tx, [poolId]);
    const at = new Date(Math.max(clock().getTime(), pool!.last_added_at.getTime() + 1));
    const before = await findWords(tx, caller.orgId, id);
    const after = changed(before, { ...input, indicators }, at);
    if (sameWords(before, after)) return;
    await writeWords(tx, { orgId: caller.orgId, itemId: id, words: after, at, by: caller.keyId });
    if ((before.status === 'retracted') !== (after.status === 'retracted')) await settleOverrides(tx, caller.orgId, at);
    await advancePools(tx, [poolId], at);
    await audit(tx, caller, id, { before, after });
  });
  forgetViews(db);
  return getItem(deps, caller, id);
}

type Given = Omit<OverrideItem, 'indicators'> & { indicators: OverriddenIndicator[] | null | undefined };

function changed(before: OverrideFields, given: Given, at: Date): OverrideFields {
  const { relevance, indicators, severity = before.severity, status = before.status } = given;
  const reason = relevance?.reason;
  return {
    severity,
    status,
    note: given.note === undefined ? before.note : given.note,
    tags: given.tags === undefined ? before.tags : given.tags && [...new Set(given.tags)],
    indicators: indicators === undefined ? before.indicators : indicators && JSON.stringify(indicators),
    ...(relevance === undefined
      ? {
          relevance: before.relevance,
          relevance_by: before.relevance_by,
          relevance_reasons: before.relevance_reasons,
          relevance_at: before.relevance_at,
        }
      : {
          relevance: relevance && relevance.verdict,
          relevance_by: relevance && 'person',
          relevance_reasons: reason ? JSON.stringify([{ kind: 'person', matched: reason, weight: 1 }]) : null,
          relevance_at: relevance && at,
        }),
  };
}

/** Each indicator as the item has it. Throws a 400 that names the one that it has not. */
function knownIndicators(item: FeedItem, given: OverrideItem['indicators'] & object): OverriddenIndicator[] {
  const found = given.map(({ type, value, status }, index) => {
    const isType = Object.hasOwn(bucketByType, type);
    const form = isType ? normalizeValue(type as IndicatorType, value) : undefined;
    const own = isType
      ? item.iocs[bucketByType[type as IndicatorType]].find(
          (one) => one.type === type && (one.normalizedValue === form || one.value === value),
        )
      : undefined;
    if (!own)
      throw fieldError(
        `/indicators/${index}/value`,
        'unknown_indicator',
        `indicators: the item has no ${type} ${value.slice(0, 200)}.`,
      );
    return { type, value: own.normalizedValue, status };
  });
  return [...new Map(found.map((one) => [`${one.type} ${one.value}`, one])).values()];
}

function audit(
  tx: Tx,
  caller: Caller,
  id: string,
  { before, after }: { before: OverrideFields; after: OverrideFields },
): Promise<void> {
  return insertAudit(tx, caller, { action: 'item.overridden', resourceType: 'item', resourceId: id, before, after });
}
