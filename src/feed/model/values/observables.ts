import type { FeedItem, Indicator } from '../item.schema.ts';
import { isNarrowNetwork, normalizeNetwork, parseNetwork } from './networks.ts';
import type { OverriddenIndicator } from '../overrides.schema.ts';
import { toComparisonForm, refang } from './normalize.ts';

/** A value without a bucket in `iocs`, such as a network, a mail address or a wallet, in the form of an indicator. */
export type ObservableIndicator = Pick<Indicator, 'type' | 'value' | 'normalizedValue' | 'status' | 'confidence'>;

/**
 * An item with the statuses of its observables for an organization, which follow from its override and from other items. The first status of
 * a value applies. Stored documents contain no such statuses.
 */
export type SeenItem = FeedItem & { observableStatuses?: readonly OverriddenIndicator[] };
type ObservableSource = Pick<SeenItem, 'event' | 'classification' | 'observableStatuses'>;

const prefix = 'observable:';

/** Types that describe an item or its source. They are no values of a log. */
const descriptiveTypes = new Set(
  'tool ambiguous-actor attack-pattern advisory target-sector target-region stix-pattern rule yara sigma snort suricata pcre spl'.split(
    ' ',
  ),
);

/**
 * Returns the observables of an item. Sources give them no status: those of a retracted item are revoked, and a network that is reserved,
 * private or too wide is a false positive. All others are active, unless the organization sees them otherwise.
 */
export function listObservables({
  event,
  classification,
  observableStatuses,
}: ObservableSource): ObservableIndicator[] {
  const found = new Map<string, ObservableIndicator>();
  for (const { framework, id, confidence } of classification.mappings) {
    const type = framework.startsWith(prefix) ? framework.slice(prefix.length) : '';
    if (type === '' || descriptiveTypes.has(type)) continue;
    const normalizedValue = normalizeObservable(type, id);
    if (normalizedValue === '' || found.has(`${type} ${normalizedValue}`)) continue;
    const ownStatus = type === 'cidr' && !isIndicatorNetwork(normalizedValue) ? 'false_positive' : 'active';
    const seenStatus = findStatus(observableStatuses, { type, normalizedValue }) ?? ownStatus;
    const status = event.status === 'retracted' && seenStatus !== 'false_positive' ? 'revoked' : seenStatus;
    found.set(`${type} ${normalizedValue}`, { type, value: id, normalizedValue, status, confidence });
  }
  return [...found.values()];
}

/** Returns the first status that a list sets for an indicator. */
export const findStatus = (
  statuses: readonly OverriddenIndicator[] | undefined,
  { type, normalizedValue }: Pick<Indicator, 'type' | 'normalizedValue'>,
): OverriddenIndicator['status'] | undefined =>
  statuses?.find((one) => one.type === type && toComparisonForm(one.value) === toComparisonForm(normalizedValue))
    ?.status;

/** Returns the networks of an item. */
export const listNetworks = (item: ObservableSource): ObservableIndicator[] =>
  listObservables(item).filter(({ type }) => type === 'cidr');

/** Returns whether a network can be an indicator: at least /8 (IPv6: /24), and not reserved or private. Networks for documentation can. */
export function isIndicatorNetwork(text: string): boolean {
  const network = parseNetwork(text);
  if (!network || !isNarrowNetwork(network)) return false;
  const { address, family } = network;
  const reason = family === 'ipv4' ? reservedV4Reason(address) : reservedV6Reason(address);
  return reason === undefined || reason === 'documentation address';
}

/** The last label begins with a letter, unlike the version of a package (`thing@1.2.3`). */
const mail = /^[^\s@|/]+@[^\s@|/]+\.[^\s@|/.\d][^\s@|/.]*$/;
const systemNumber = /^(?:AS)?(\d{1,10})$/i;

export const isMailAddress = (value: string): boolean => mail.test(refang(value));

/** Returns the canonical form of an observable: a network, a mail address in lower case, the number of a system as `AS64496`, or the text itself. */
export function normalizeObservable(type: string, value: string): string {
  const text = value.trim().normalize('NFC');
  if (type === 'cidr') return normalizeNetwork(text) ?? text;
  if (type === 'asn' || type === 'AS') return text.replace(systemNumber, 'AS$1');
  const plain = refang(text);
  return mail.test(plain) ? plain.toLowerCase() : text;
}

/** Returns the type and canonical form of an observable whose form shows its type: a network, a mail address, or the number of a system. */
export function recognizeObservable(value: string): { type: string; form: string } | undefined {
  const network = normalizeNetwork(value);
  if (network) return { type: 'cidr', form: network };
  const plain = refang(value);
  if (mail.test(plain)) return { type: 'email', form: plain.toLowerCase() };
  return /^AS\d{1,10}$/i.test(plain) ? { type: 'asn', form: plain.toUpperCase() } : undefined;
}

const reservedFirstOctets = new Set([0, 10, 100, 127, 169, 172, 192, 198, 203]);

/** Classifies special-purpose IPv4 addresses (RFC 6890 and its successors). */
export function reservedV4Reason(address: string): string | undefined {
  // Fast path: the first octet rules out most addresses.
  const first = Number.parseInt(address, 10);
  if (first < 224 && !reservedFirstOctets.has(first)) return undefined;
  const [a = 0, b = 0, c = 0] = address.split('.').map(Number);
  if (a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168) || (a === 100 && b >= 64 && b < 128))
    return 'private address';
  if (a === 127) return 'loopback address';
  if (a === 169 && b === 254) return 'link-local address';
  if (
    (a === 192 && b === 0 && (c === 2 || c === 0)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113)
  )
    return 'documentation address';
  if (a === 198 && (b === 18 || b === 19)) return 'benchmark address';
  return a === 0 || a >= 224 ? 'reserved address' : undefined;
}

/** Classifies special-purpose IPv6 addresses. */
export function reservedV6Reason(address: string): string | undefined {
  if (address === '::1' || address === '::') return 'loopback address';
  if (address.startsWith('::ffff:')) return reservedV4Reason(address.slice(7));
  if (/^fe[89ab]/.test(address)) return 'link-local address';
  if (/^f[cd]/.test(address)) return 'private address';
  if (address.startsWith('2001:db8:')) return 'documentation address';
  return address.startsWith('ff') ? 'reserved address' : undefined;
}
