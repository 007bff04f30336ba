import { flatMapInSlices, mapInSlices } from '../../platform/lib/slices.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listCurrentOverrides } from '../items/overrides/override-rows.store.ts';
import { startOfHour } from '../model/expiry.ts';
import { canonicalForms } from '../model/indicator-forms.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { toTermValue } from '../model/terms.ts';
import { readLookup } from './indicator-lookup.store.ts';
import { summarizeStatus, toLookupItems } from './indicator-status.ts';
import type { IndicatorLookup, IndicatorLookups, LookUpIndicators } from './indicators.schema.ts';

const itemsMax = 50;
const itemsPerValueMax = 10;

export type LookupDeps = { db: Db; clock: Clock };

/** Returns the visible items that contain a value, in any notation, and the status that follows from them. */
export function lookUpIndicator(
  { db, clock }: LookupDeps,
  { orgId }: { orgId: OrgId },
  value: string,
): Promise<IndicatorLookup> {
  const hour = startOfHour(clock());
  return inOrg(db, orgId, (tx) => lookUp(tx, value, { hour, limit: itemsMax }));
}

/** Looks up to 100 values up, in their order. */
export function lookUpIndicators(
  { db, clock }: LookupDeps,
  { orgId }: { orgId: OrgId },
  { values }: LookUpIndicators,
): Promise<IndicatorLookups> {
  const hour = startOfHour(clock());
  return inOrg(db, orgId, async (tx) => {
    const indicators: IndicatorLookup[] = [];
    for (const value of values) indicators.push(await lookUp(tx, value, { hour, limit: itemsPerValueMax }));
    return { indicators };
  });
}

async function lookUp(
  tx: Tx,
  value: string,
  { hour, limit }: { hour: number; limit: number },
): Promise<IndicatorLookup> {
  const canonical = canonicalForms(value);
  const termByForm = new Map(canonical.map(({ form }) => [form, toTermValue('indicator', form)]));
  const forms = [...termByForm].map(([form, term]) => ({ form, term }));
  const { counts, docs } = await readLookup(tx, { forms, hour, limit });
  const items = await mapInSlices(docs, (doc) => JSON.parse(doc) as FeedItem);
  const ids = items.map(({ id }) => id);
  const overrides = await listCurrentOverrides(tx, ids);
  const terms = new Set(termByForm.values());
  const lookupItems = await flatMapInSlices(items, (item) =>
    toLookupItems(item, overrides.get(item.id), { terms, hour }),
  );
  const strictForm = canonical.find(({ isStrict }) => isStrict);
  const identity = lookupItems[0] ?? (strictForm && { normalizedValue: strictForm.form, type: strictForm.type });
  return {
    value,
    ...(identity ? { normalizedValue: identity.normalizedValue, type: identity.type } : {}),
    ...summarizeStatus(counts),
    items: lookupItems.map(({ normalizedValue: _shared, ...item }) => item),
  };
}
