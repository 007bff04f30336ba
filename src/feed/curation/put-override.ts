import { z } from 'zod';
import { inOrg } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import { recomputeOverrides } from '../deduplication/recompute-pools.ts';
import { versionOfOverrideFields } from '../items/override-documents.ts';
import { getItem } from '../items/get-item.ts';
import { advancePools, ensurePrivatePool, lockPool, nextCommitTime } from '../items/writing/feed-pools.store.ts';
import { readOverrideFields, upsertOverrideFields, type OverrideFields } from '../items/writing/overrides.store.ts';
import type { FeedItem, FeedItemDetail } from '../model/item.schema.ts';
import { toComparisonForm } from '../model/values/normalize.ts';
import { listObservables, normalizeObservable, type ObservableIndicator } from '../model/values/observables.ts';
import type { OverriddenIndicator } from '../model/overrides.schema.ts';
import { getVisibleItem, type DecideItemDeps } from './decide-items.ts';
import { isIndicatorType, normalizeValue, type IndicatorType } from '../model/values/indicator-types.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { indicatorStatuses, itemStatuses, severities } from '../model/vocabulary.ts';

const nonBlankText = (max: number) =>
  boundedString({ min: 1, max }).refine((value) => value.trim() !== '', 'must not be blank');
const trimmedText = (max: number) => nonBlankText(max).transform((value) => value.normalize('NFC').trim());

export const MergeItem = z.strictObject({
  into: z.string().regex(uuidPattern, 'must be a UUID').describe('The item whose story this item tells.'),
});
export const RetractItem = z.strictObject({ reason: nonBlankText(1_000).optional() });

const tagsMax = 50;
const indicatorsMax = 1_000;

/** An omitted field stays the same; null removes it. */
export const OverrideItem = z.strictObject({
  relevance: z
    .strictObject({ verdict: z.enum(['relevant', 'irrelevant']), reason: trimmedText(1_000).optional() })
    .nullable()
    .optional(),
  severity: z.enum(severities).nullable().optional(),
  status: z.enum(itemStatuses).nullable().optional(),
  indicators: z
    .array(
      z.strictObject({
        type: boundedString({ max: 50 }),
        value: boundedString({ max: 10_000 }),
        status: z.enum(indicatorStatuses),
      }),
    )
    .min(1)
    .max(indicatorsMax)
    .nullable()
    .optional()
    .describe(
      'Indicators of the item and its other values, such as networks (`cidr`), in any notation, with their status for the organization.',
    ),
  tags: z.array(trimmedText(100)).min(1).max(tagsMax).nullable().optional(),
  note: trimmedText(4_000).nullable().optional(),
});
export type OverrideItem = z.infer<typeof OverrideItem>;

/**
 * Changes how the caller's organization sees an item, no matter who owns the item. An equal override changes nothing. Throws 412 if `ifMatch` is not
 * the ETag of the override.
 */
export async function putOverride(
  deps: DecideItemDeps,
  caller: Caller,
  { id, ifMatch }: { id: string; ifMatch: string | undefined },
  input: OverrideItem,
): Promise<FeedItemDetail> {
  const { db, clock } = deps;
  await inOrg(db, caller.orgId, async (tx) => {
    const item = await getVisibleItem(tx, id);
    const indicators = input.indicators && findIndicators(JSON.parse(item.doc) as FeedItem, input.indicators);
    const poolId = await ensurePrivatePool(tx, caller.orgId, uuidv7());
    const pool = await lockPool(tx, poolId);
    const at = nextCommitTime([pool], clock());
    const before = await readOverrideFields(tx, caller.orgId, id);
    const resource = { resourceType: 'item', resourceId: id };
    await requireMatch(tx, ifMatch, versionOfOverrideFields(before), { ...resource, action: 'item.' });
    const after = mergeFields(before, { ...input, indicators }, at);
    if (hasSameFields(before, after)) return;
    await upsertOverrideFields(tx, { itemId: id, fields: after, at, author: caller });
    if ((before.status === 'retracted') !== (after.status === 'retracted'))
      await recomputeOverrides(tx, caller.orgId, at);
    await advancePools(tx, [poolId], at);
    const states = {
      before: { ...before, ...versionOfOverrideFields(before) },
      after: { ...after, ...versionOfOverrideFields(after) },
    };
    await insertAudit(tx, caller, { ...resource, action: 'item.overridden', ...states });
  });
  deps.snapshots.invalidate();
  return getItem(deps, caller, id);
}

type OverrideInput = Omit<OverrideItem, 'indicators'> & { indicators: OverriddenIndicator[] | null | undefined };

function mergeFields(before: OverrideFields, input: OverrideInput, at: Date): OverrideFields {
  const { indicators, severity = before.severity, status = before.status } = input;
  return {
    ...before,
    severity,
    status,
    note: input.note === undefined ? before.note : input.note,
    tags: input.tags === undefined ? before.tags : input.tags && [...new Set(input.tags)],
    indicators: indicators === undefined ? before.indicators : indicators && JSON.stringify(indicators),
    ...(input.relevance === undefined ? {} : toRelevanceFields(input.relevance, at)),
  };
}

type RelevanceFields = Pick<OverrideFields, 'relevance' | 'relevance_by' | 'relevance_reasons' | 'relevance_at'>;

function toRelevanceFields(relevance: OverrideItem['relevance'] | null, at: Date): RelevanceFields {
  if (!relevance) return { relevance: null, relevance_by: null, relevance_reasons: null, relevance_at: null };
  const { verdict, reason } = relevance;
  return {
    relevance: verdict,
    relevance_by: 'person',
    relevance_reasons: reason ? JSON.stringify([{ kind: 'person', matched: reason, weight: 1 }]) : null,
    relevance_at: at,
  };
}

/** Returns whether two overrides have the same fields. The time of the relevance verdict does not count. */
function hasSameFields(a: OverrideFields, b: OverrideFields): boolean {
  const comparable = ({ relevance_at: _at, ...fields }: OverrideFields): string =>
    JSON.stringify(Object.entries(fields).toSorted(([one], [two]) => (one < two ? -1 : 1)));
  return comparable(a) === comparable(b);
}

/** Returns the indicators and observables with the values of the item. Throws a 400 for one that the item does not have. */
function findIndicators(item: FeedItem, input: OverrideItem['indicators'] & object): OverriddenIndicator[] {
  const indicators: ObservableIndicator[] = [...Object.values(item.iocs).flat(), ...listObservables(item)];
  const found = input.map(({ type, value, status }, index) => {
    const isType = isIndicatorType(type);
    const normalizedValue = isType ? normalizeValue(type as IndicatorType, value) : normalizeObservable(type, value);
    const form = toComparisonForm(normalizedValue ?? value);
    const indicator = indicators.find(
      (one) => one.type === type && (toComparisonForm(one.normalizedValue) === form || one.value === value),
    );
    const detail = `indicators: the item has no ${type} ${value.slice(0, 200)}.`;
    if (!indicator) throw fieldError(`/indicators/${index}/value`, 'unknown_indicator', detail);
    return { type, value: indicator.normalizedValue, status };
  });
  return [...new Map(found.map((one) => [`${one.type} ${one.value}`, one])).values()];
}
