import { isIP } from 'node:net';
import type { Tx } from '../../platform/db/db.ts';
import { markFalsePositives } from '../../feed/indicators/indicators.store.ts';
import { applyOverride } from '../../feed/items/snapshot/apply-overrides.ts';
import { listCurrentOverrides } from '../../feed/items/snapshot/override-rows.store.ts';
import { updateExpiry } from '../../feed/model/expiry.ts';
import { extractBareHost } from '../../platform/lib/outbound-http/addresses.ts';
import { findShippedBenignReason } from '../../feed/extraction/indicators/assessment/benign-values.ts';
import type { FeedItem, Indicator } from '../../feed/model/item.schema.ts';
import { listNetworks } from '../../feed/model/values/observables.ts';
import { findSharedSuffix } from '../../feed/reference-data/shared-suffixes.ts';
import { parseNetwork, toGroups } from '../../feed/model/values/networks.ts';
import { sightingsDataset } from '../../detection/log-store/catalog/catalog.ts';
import type { LogField } from '../../feed/model/values/indicator-type.ts';
import { buckets } from '../../feed/model/vocabulary.ts';
import { indicatorTypes, type IndicatorType } from '../../feed/model/values/indicator-types.ts';

const confidenceMin = 0.5;
const targetsPerItemMax = 1_000;
const termsPerQueryMax = 100;

/**
 * An indicator of an item to search for. `value` is in lower case. A network has the type `cidr`. `host` is the host of a URL that stands for
 * the URL in fields without a path.
 */
export type SweepTarget = { itemId: string; kind: LogField; type: string; value: string; host?: string };

/** What to search for of items, as the transaction's organization sees them, and its overrides of them by item ID. */
export type ItemTargets = {
  items: FeedItem[];
  targets: SweepTarget[];
  overrides: Awaited<ReturnType<typeof listCurrentOverrides>>;
};

/** Reads what to search for of items in the hour that begins at `hour`. Changes the statuses of their indicators in place. */
export async function readItemTargets(tx: Tx, items: FeedItem[], hour: Date): Promise<ItemTargets> {
  await markFalsePositives(tx, items);
  const overrides = await listCurrentOverrides(
    tx,
    items.map(({ id }) => id),
  );
  // An indicator that was active when the item was written may have expired since.
  for (const item of items) updateExpiry(item, hour.getTime());
  const targets = items.flatMap((item) => listSweepTargets(applyOverride(item, overrides.get(item.id))));
  return { items, targets, overrides };
}

/**
 * Returns the item's active indicators and its networks with a confidence of at least 0.5, highest confidence first, at most 1,000.
 */
export function listSweepTargets(item: FeedItem): SweepTarget[] {
  const isWanted = ({ status, confidence, normalizedValue }: Indicator): boolean =>
    status === 'active' && confidence >= confidenceMin && isPlainValue(normalizedValue);
  const indicators = logFields.flatMap((kind) =>
    buckets
      .flatMap((bucket) => item.iocs[bucket])
      .filter((indicator) => indicatorTypes[indicator.type as IndicatorType].logField === kind && isWanted(indicator))
      .map(({ type, normalizedValue, confidence }) => ({
        target: toTarget(item.id, kind, { type, value: normalizedValue.toLowerCase() }),
        confidence,
      })),
  );
  return [...indicators, ...listNetworkTargets(item)]
    .toSorted((a, b) => b.confidence - a.confidence)
    .slice(0, targetsPerItemMax)
    .map(({ target }) => target);
}

/** Returns what to search for of a value in lower case. */
export function toTarget(
  itemId: string,
  kind: LogField,
  { type, value }: { type: string; value: string },
): SweepTarget {
  const host = kind === 'url' ? findOwnHost(value) : undefined;
  return { itemId, kind, type, value, ...(host ? { host } : {}) };
}

function listNetworkTargets(item: FeedItem): { target: SweepTarget; confidence: number }[] {
  return listNetworks(item).flatMap(({ normalizedValue: value, status, confidence }) =>
    status === 'active' && confidence >= confidenceMin
      ? [{ target: { itemId: item.id, kind: 'address' as const, type: 'cidr', value }, confidence }]
      : [],
  );
}

/**
 * Returns the host of a URL if it belongs to the attacker: the URL has no path, the host is an address, or it is a customer's name on shared
 * hosting. Any other host may be a hacked site, so its URL matches only as a whole.
 */
function findOwnHost(url: string): string | undefined {
  const host = extractBareHost(url);
  const isHarmless = isIP(host)
    ? findShippedBenignReason(isIP(host) === 4 ? 'ipv4' : 'ipv6', host) !== undefined
    : findShippedBenignReason('domain', host) !== undefined;
  if (host === '' || isHarmless) return undefined;
  const isBare = /^\w+:\/\/[^/?#]+\/?$/.test(url);
  return isBare || isIP(host) || findSharedSuffix(host) !== undefined ? host : undefined;
}

/** Groups the targets with distinct values into batches of at most 100 terms (a network counts as several), one query each. */
export function toTargetBatches(targets: SweepTarget[]): SweepTarget[][] {
  const distinct = new Map(targets.map((target) => [`${target.kind} ${target.value}`, target]));
  const batches: SweepTarget[][] = [];
  let weight = termsPerQueryMax;
  for (const target of distinct.values()) {
    const terms = target.type === 'cidr' ? listNetworkPrefixes(target.value).length : 1;
    if (weight + terms > termsPerQueryMax) {
      batches.push([]);
      weight = 0;
    }
    batches.at(-1)!.push(target);
    weight += terms;
  }
  return batches;
}

/** The names of log fields by what they contain, as ECS, CloudTrail, Sysmon, CIM and others call them. */
const fieldNames: Record<LogField, RegExp> = {
  address:
    /(?:^|[._]|source|src|dest(?:ination)?|dst|client|remote|server|caller|peer)_?(?:ip(?:v[46])?_?(?:addr(?:ess)?)?|addr)$/,
  domain:
    /(?:^|[._])(?:dest_?|destination_?|remote_?)?(?:domain|fqdn|qname|query_?name|query|sni|server_?name)$|dns\.question\.name$/,
  hash: /(?:^|[._])(?:file_?|process_?)?(?:md5|sha_?1|sha_?256|sha_?512|imphash|hash)$/,
  file: /(?:^|[._])(?:(?:parent_?)?image|original_?file_?name|(?:target_?)?file_?name|file_?path|file\.(?:name|path)|process\.executable)$/,
  url: /(?:^|[._])(?:request_?|full_?)?ur[il]$|url\.(?:full|original)$/,
};
const logFields = Object.keys(fieldNames) as LogField[];

// Names that every query language accepts without special quoting. Index patterns are included.
const plainField = /^[A-Za-z_]\w{0,99}(?:\.\w{1,100}){0,9}$/;
const plainDataset = /^[\w.*:-]{1,500}$/;
const fieldsMax = 12;

export type SweptDataset = { dataset: string; fields: { name: string; kind: LogField }[] };

/** Returns the fields of a dataset to search, or undefined if there are none. */
export function fieldsToSweep({
  dataset,
  fields,
}: {
  dataset: string;
  fields: readonly { name: string }[];
}): SweptDataset | undefined {
  // The events of sightings are no sightings themselves.
  if (!plainDataset.test(dataset) || dataset === sightingsDataset) return undefined;
  const searchable = fields.flatMap(({ name }) => {
    const kind = plainField.test(name) ? findKind(name) : undefined;
    return kind ? [{ name, kind }] : [];
  });
  // Names of files say least.
  const ordered = [
    ...searchable.filter(({ kind }) => kind !== 'file'),
    ...searchable.filter(({ kind }) => kind === 'file'),
  ];
  return ordered.length === 0 ? undefined : { dataset, fields: ordered.slice(0, fieldsMax) };
}

function findKind(fieldName: string): LogField | undefined {
  const name = fieldName.toLowerCase();
  return logFields.find((kind) => fieldNames[kind].test(name));
}

/** Returns whether a value can be inserted into a query of any language without escaping. Other values are not searched for. */
export const isPlainValue = (value: string): boolean => /^[\w.:/?#@!&()+,;=%~-]{1,300}$/.test(value);

/** More patterns would make a query too long. */
const prefixesMax = 16;

/**
 * Returns beginnings of the addresses in a network, as text up to a separator, at most 16. They may cover more than the network, so matches have
 * to be verified. In IPv6 the beginning ends before the first group of zeros, because that may be abbreviated.
 */
export function listNetworkPrefixes(text: string): string[] {
  const network = parseNetwork(text);
  if (!network) return [];
  const { address, bits, family } = network;
  const isV4 = family === 'ipv4';
  const [separator, groupBits] = isV4 ? (['.', 8] as const) : ([':', 16] as const);
  const groups = toGroups(address, family);
  const whole = Math.min(Math.floor(bits / groupBits), groups.length - 1);
  const print = (group: number): string => (isV4 ? String(group) : group.toString(16));
  const zeroAt = isV4 ? -1 : groups.slice(0, whole).indexOf(0);
  const fixed = groups.slice(0, zeroAt < 0 ? whole : zeroAt);
  const start = fixed.map((group) => `${print(group)}${separator}`).join('');
  const restBits = bits - whole * groupBits;
  const size = 2 ** (groupBits - restBits);
  if (zeroAt >= 0 || restBits === 0 || size > prefixesMax) return [start];
  const first = groups[whole]! - (groups[whole]! % size);
  const isLast = whole === groups.length - 1;
  return Array.from({ length: size }, (_, index) => `${start}${print(first + index)}${isLast ? '' : separator}`);
}
