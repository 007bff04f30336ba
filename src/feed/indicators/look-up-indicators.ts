import { flatMapInSlices, mapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listCurrentOverrides } from '../items/overrides/override-rows.store.ts';
import { startOfHour } from '../model/expiry.ts';
import { canonicalForms, type CanonicalForm } from '../model/indicator-forms.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { toTermValue } from '../model/terms.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { readHostUrls } from './host-urls.store.ts';
import { readLookup } from './indicator-lookup.store.ts';
import { summarizeStatus, toLookupItems, type LookupItem, type LookupItemWithForm } from './indicator-status.ts';
import type { IndicatorLookup, IndicatorLookups, LookUpIndicators } from './indicators.schema.ts';

const itemsMax = 50;
const itemsPerValueMax = 10;
const hostTypes = new Set<IndicatorType>(['domain', 'ipv4', 'ipv6']);

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

type LookupOptions = { hour: number; limit: number };

async function lookUp(tx: Tx, value: string, { hour, limit }: LookupOptions): Promise<IndicatorLookup> {
  const canonical = canonicalForms(value);
  const termByForm = new Map(canonical.map(({ form }) => [form, toTermValue('indicator', form)]));
  const forms = [...termByForm].map(([form, term]) => ({ form, term }));
  const { counts, docs } = await readLookup(tx, { forms, hour, limit });
  const lookupItems = await readItems(tx, docs, { terms: new Set(termByForm.values()), hour });
  const strictForm = canonical.find(({ isStrict }) => isStrict);
  const identity = lookupItems[0] ?? (strictForm && { normalizedValue: strictForm.form, type: strictForm.type });
  return {
    value,
    ...(identity ? { normalizedValue: identity.normalizedValue, type: identity.type } : {}),
    ...summarizeStatus(counts),
    items: lookupItems.map(withoutForm),
    urls: (await listUrls(tx, strictForm, { hour, limit })).map(withoutForm),
  };
}

const withoutForm = ({ normalizedValue: _shared, ...item }: LookupItemWithForm): LookupItem => item;

/** Returns the URLs of a host in the newest items. Empty for values that are no host. */
async function listUrls(
  tx: Tx,
  strictForm: CanonicalForm | undefined,
  { hour, limit }: LookupOptions,
): Promise<LookupItemWithForm[]> {
  if (!strictForm || !hostTypes.has(strictForm.type)) return [];
  const { docs, urls } = await readHostUrls(tx, strictForm.form, limit);
  const found = await readItems(tx, docs, { terms: new Set(urls), hour });
  return found.slice(0, limit);
}

async function readItems(
  tx: Tx,
  docs: string[],
  match: { terms: ReadonlySet<string>; hour: number },
): Promise<LookupItemWithForm[]> {
  const items = await mapInSlices(docs, (doc) => JSON.parse(doc) as FeedItem);
  const overrides = await listCurrentOverrides(
    tx,
    items.map(({ id }) => id),
  );
  return flatMapInSlices(items, (item) => toLookupItems(item, overrides.get(item.id), match));
}
