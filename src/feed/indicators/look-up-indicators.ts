import { flatMapInSlices, mapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listCurrentOverrides } from '../items/snapshot/override-rows.store.ts';
import { startOfHour } from '../model/expiry.ts';
import { readParts, type CanonicalForm, type ReadPart } from '../model/values/indicator-forms.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { parseNetwork } from '../model/values/networks.ts';
import { toTermValue } from '../model/terms.ts';
import {
  listCoveringValues,
  toLookupItems,
  type LookupItem,
  type LookupItemWithForm,
  type CoveringValue,
} from './indicator-status.ts';
import {
  readHostUrls,
  readLookup,
  readStatusCounts,
  type LookupForm,
  listNetworkValues,
  type StatusCounts,
} from './indicators.store.ts';
import type { IndicatorLookup, IndicatorLookups, LookUpIndicators } from './indicators.schema.ts';
import type { LookupMatch } from '../model/vocabulary.ts';

const itemsMax = 50;
const itemsPerValueMax = 10;
/** Counting every address of a wide network would take long. */
const insideMax = 1_000;
const hostTypes = new Set(['domain', 'ipv4', 'ipv6']);

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

/** `limit` is the number of listed statements of each kind. */
type LookupOptions = { hour: number; limit: number };

/** Reads a value as ingestion does. Of the parts of a composite value, the one with the strongest status answers. */
async function lookUp(tx: Tx, value: string, options: LookupOptions): Promise<IndicatorLookup> {
  const parts = readParts(value);
  const found: IndicatorLookup[] = [];
  for (const part of parts) found.push(await lookUpPart(tx, part, options));
  if (found.length === 1) return { ...found[0]!, value };
  const order: IndicatorLookup['status'][] = ['active', 'expired', 'revoked', 'false_positive', 'unknown'];
  const [strongest] = found.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  return {
    ...strongest!,
    value,
    parts: found.map(({ value: part, normalizedValue = part, type, status, total }) => ({
      value: normalizedValue,
      ...(type ? { type } : {}),
      status,
      total,
    })),
  };
}

async function lookUpPart(tx: Tx, part: ReadPart, options: LookupOptions): Promise<IndicatorLookup> {
  const { hour, limit } = options;
  const forms = toForms(part.forms.map(({ form }) => form));
  const { counts, docs } = await readLookup(tx, { forms, hour, limit });
  const lookupItems = await readItems(tx, docs, { terms: new Set(forms.map(({ term }) => term)), hour });
  const strictForm = part.forms.find(({ isStrict }) => isStrict);
  const identity = lookupItems[0] ?? (strictForm && { normalizedValue: strictForm.form, type: strictForm.type });
  const covering = identity
    ? await readCovering(tx, { type: identity.type, form: identity.normalizedValue }, options)
    : { statements: [] };
  const inside = strictForm?.type === 'cidr' ? await readInside(tx, strictForm.form, options) : undefined;
  return {
    value: part.value,
    ...(identity ? { normalizedValue: identity.normalizedValue, type: identity.type } : {}),
    ...(part.corrections.length > 0 ? { correction: part.corrections.join(', ') } : {}),
    ...summarizeMatches(counts, covering.strongest),
    items: lookupItems.map(withoutForm),
    covering: covering.statements,
    urls: (await listUrls(tx, strictForm, options)).map(withoutForm),
    ...(inside ? { inside } : {}),
  };
}

/** Returns the distinct forms with their terms. */
const toForms = (forms: string[]): LookupForm[] =>
  [...new Set(forms)].map((form) => ({ form, term: toTermValue('indicator', form) }));

const withoutForm = ({ normalizedValue: _shared, ...item }: LookupItemWithForm): LookupItem => item;

/** Returns the items' statements about the values that cover a value, narrowest first, and the first active one. */
async function readCovering(
  tx: Tx,
  { type, form }: { type: string; form: string },
  { hour, limit }: LookupOptions,
): Promise<{ statements: IndicatorLookup['covering']; strongest?: CoveringStatus }> {
  const values = listCoveringValues(type, form);
  if (values.length === 0) return { statements: [] };
  const forms = toForms(values.map((one) => one.form));
  const countsByForm = await readStatusCounts(tx, forms, hour);
  if (countsByForm.size === 0) return { statements: [] };
  const known = values.filter((one) => countsByForm.has(one.form));
  const strongest = known
    .map(({ form: covering, match }) => ({ form: covering, match, counts: countsByForm.get(covering)! }))
    .find(({ counts }) => counts.active > 0 && counts.false_positive === 0);
  const { docs } = await readLookup(tx, { forms: toForms(known.map((one) => one.form)), hour, limit });
  const terms = new Set(forms.map(({ term }) => term));
  const statements = await readItems(tx, docs, { terms, hour });
  const rankOf = ({ normalizedValue }: LookupItemWithForm): number =>
    values.findIndex((one) => one.form === normalizedValue);
  return {
    statements: statements
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .slice(0, limit)
      .map((statement) => ({ ...withoutForm(statement), match: values[rankOf(statement)]!.match })),
    ...(strongest ? { strongest } : {}),
  };
}

/** Returns the values inside a network with their status. */
async function readInside(
  tx: Tx,
  network: string,
  { hour, limit }: LookupOptions,
): Promise<NonNullable<IndicatorLookup['inside']>> {
  const values = await listNetworkValues(tx, parseNetwork(network)!, insideMax + 1);
  const listed = values.slice(0, limit);
  const countsByValue = await readStatusCounts(tx, toForms(listed), hour);
  return {
    total: Math.min(values.length, insideMax),
    hasMore: values.length > insideMax,
    values: listed.flatMap((value) => {
      const counts = countsByValue.get(value);
      const type = value.includes('/') ? 'cidr' : value.includes(':') ? 'ipv6' : 'ipv4';
      return counts ? [{ value, type, status: summarizeStatus(counts).status, total: sumCounts(counts) }] : [];
    }),
  };
}

/** Returns the URLs of a host in the newest items. Empty for values that are not hosts. */
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

/** An active indicator that covers a value, and the number of items in which it has each status. */
type CoveringStatus = CoveringValue & { counts: StatusCounts };
type Summary = Pick<IndicatorLookup, 'status' | 'why' | 'total'>;

const sumCounts = (counts: StatusCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const inItems = (count: number, total: number): string => `in ${count} of ${total} ${total === 1 ? 'item' : 'items'}`;

/**
 * Summarizes the status of a value over all items that contain it. The strongest status wins: false positive, then active, expired and
 * revoked. Words of a report that call the value harmless decide only if no other item has a status for it.
 */
export function summarizeStatus(counts: StatusCounts): Summary {
  const total = sumCounts(counts);
  const summary = (status: Indicator['status'], reason: string, count = counts[status]): Summary => ({
    status,
    why: `${reason} ${inItems(count, total)}`,
    total,
  });
  if (total === 0) return { status: 'unknown', why: 'no item contains it', total };
  if (counts.false_positive > 0) return summary('false_positive', 'marked as a false positive');
  if (counts.active > 0) return summary('active', 'active');
  if (counts.expired > 0) return summary('expired', 'not active in any item, expired');
  if (counts.revoked > 0) return summary('revoked', 'revoked');
  return summary('false_positive', 'harmless according to the text', counts.harmless_here);
}

const coveringWords: Record<LookupMatch, string> = {
  exact: 'the value',
  network: 'its network',
  url_host: 'its host',
  mail_host: 'its host',
  parent_domain: 'the domain above it',
};

/** Like `summarizeStatus`, but an active indicator that covers the value makes it active, unless the value itself is a false positive. */
function summarizeMatches(
  counts: StatusCounts,
  covering: CoveringStatus | undefined,
): Summary & Pick<IndicatorLookup, 'match'> {
  const own = summarizeStatus(counts);
  if (!covering || own.status === 'active' || counts.false_positive > 0)
    return own.total === 0 ? own : { ...own, match: 'exact' };
  const { form, match, counts: found } = covering;
  const why = `${coveringWords[match]} ${form} is active ${inItems(found.active, sumCounts(found))}`;
  return { ...own, status: 'active', why: own.total === 0 ? why : `${why}; the value itself is ${own.why}`, match };
}
