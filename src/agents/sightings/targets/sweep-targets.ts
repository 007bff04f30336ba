import { isIP } from 'node:net';
import { extractBareHost } from '../../../platform/lib/outbound-http/addresses.ts';
import { findShippedBenignReason } from '../../../feed/extraction/indicators/assessment/benign-values.ts';
import type { FeedItem, Indicator } from '../../../feed/model/item.schema.ts';
import { listNetworks } from '../../../feed/model/values/observables.ts';
import { findSharedSuffix } from '../../../feed/reference-data/shared-suffixes.ts';
import { listNetworkPrefixes } from './networks.ts';
import { sweepKinds, type SweepKind } from './sighting-fields.ts';
import { isPlainValue } from './plain-value.ts';

const confidenceMin = 0.5;
const targetsPerItemMax = 1_000;
const termsPerQueryMax = 100;

/**
 * An indicator of an item to search for. `value` is in lower case. A network has the type `cidr`. `host` is the host of a URL that stands for
 * the URL in fields without a path.
 */
export type SweepTarget = { itemId: string; kind: SweepKind; type: string; value: string; host?: string };

/**
 * Returns the item's active indicators and its networks with a confidence of at least 0.5, highest confidence first, at most 1,000.
 */
export function listSweepTargets(item: FeedItem): SweepTarget[] {
  const isWanted = ({ status, confidence, normalizedValue }: Indicator): boolean =>
    status === 'active' && confidence >= confidenceMin && isPlainValue(normalizedValue);
  const indicators = (Object.keys(sweepKinds) as SweepKind[]).flatMap((kind) =>
    sweepKinds[kind].buckets.flatMap((bucket) =>
      item.iocs[bucket].filter(isWanted).map(({ type, normalizedValue, confidence }) => ({
        target: toTarget(item.id, kind, { type, value: normalizedValue.toLowerCase() }),
        confidence,
      })),
    ),
  );
  return [...indicators, ...listNetworkTargets(item)]
    .toSorted((a, b) => b.confidence - a.confidence)
    .slice(0, targetsPerItemMax)
    .map(({ target }) => target);
}

function toTarget(itemId: string, kind: SweepKind, { type, value }: { type: string; value: string }): SweepTarget {
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
