import { createHash } from 'node:crypto';
import { indicatorExpiresAt } from './expiry.ts';
import type { FeedItem, Indicator } from './item.schema.ts';
import { toComparisonForm } from './values/normalize.ts';
import { listObservables } from './values/observables.ts';
import { buckets, type Bucket, isHarmlessHere } from './vocabulary.ts';

export type TermKind =
  | 'indicator'
  | 'cve'
  | 'technique'
  | 'actor'
  | 'malware'
  | 'tool'
  | 'product'
  | 'rule'
  | 'alias'
  | 'text';
/**
 * A value by which an item is found. Identifying terms can distinguish one story from another. Only
 * indicators and the entities of retracted items have a `standing`.
 */
export type Term = {
  kind: TermKind;
  value: string;
  identifying?: boolean;
  standing?: TermStanding;
  /** The address or network of an indicator, by which those inside a network are found. */
  address?: string;
  /** Set for a canonical name or a CVE, by which `GET /api/feed/entities` lists the item. */
  entity?: TermEntity;
};
/** The printed form of a name, and when its item was published or else added. */
type TermEntity = { name: string; seenAt: string };

/**
 * The status of an indicator in its item: a false positive, harmless in this item only, revoked, or valid until `endsAt`. Null means without
 * end.
 */
type TermStanding = 'false_positive' | 'harmless_here' | 'revoked' | { endsAt: Date | null };

// Types whose values have one notation and usually belong to a single story.
const identifyingBuckets = new Set<Bucket>(['ipv4', 'ipv6', 'domains', 'urls', 'hashes', 'certs']);

// An index row of PostgreSQL holds at most 2,704 bytes.
const valueMaxChars = 500;

/**
 * Returns a value as it is stored in `item_terms`: indicators by the form of their `normalizedValue` that is compared, CVE and technique ids in
 * upper case, names of actors, malware and tools as lower-case letters and digits, so that `Fancy Bear` and `FancyBear` are one, and products
 * ("vendor product") in lower case with single spaces. A value longer than 500 characters is stored as its SHA-256.
 */
export function toTermValue(kind: TermKind, value: string): string {
  const text = canonicalText(kind, value);
  return text.length <= valueMaxChars ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

const names = new Set<TermKind>(['actor', 'malware', 'tool']);

function canonicalText(kind: TermKind, value: string): string {
  if (kind === 'indicator') return toComparisonForm(value);
  if (kind === 'cve' || kind === 'technique') return value.trim().toUpperCase();
  const folded = value.normalize('NFC').toLowerCase();
  const compact = names.has(kind) ? folded.replaceAll(/[^\p{L}\p{N}]+/gu, '') : '';
  if (compact !== '') return compact;
  return folded.replaceAll(/[\s_]+/g, ' ').trim();
}

/** Returns the distinct terms of an item. A sub-technique counts with its parent, and names count with their aliases. */
export function extractTerms(item: FeedItem): Term[] {
  const terms: Terms = new Map();
  addIndicators(terms, item);
  addObservables(terms, item);
  addClassification(terms, item);
  return [...terms.values()];
}

/** Terms by kind and value, separated by a space. */
type Terms = Map<string, Term>;

function addIndicators(terms: Terms, item: FeedItem): void {
  for (const bucket of buckets)
    for (const indicator of item.iocs[bucket])
      addIndicator(terms, indicator.normalizedValue, {
        isIdentifying: identifyingBuckets.has(bucket) && indicator.status !== 'false_positive',
        standing: toStanding(indicator, item),
        isAddress: bucket === 'ipv4' || bucket === 'ipv6',
      });
}

function addObservables(terms: Terms, item: FeedItem): void {
  for (const { type, normalizedValue, status } of listObservables(item))
    addIndicator(terms, normalizedValue, {
      isIdentifying: false,
      standing: status === 'false_positive' || status === 'revoked' ? status : { endsAt: null },
      isAddress: type === 'cidr',
    });
}

/** Adds an indicator, or combines it with the one of the same value: the stronger standing counts. */
function addIndicator(
  terms: Terms,
  normalizedValue: string,
  { isIdentifying, standing, isAddress }: { isIdentifying: boolean; standing: TermStanding; isAddress: boolean },
): void {
  const value = toTermValue('indicator', normalizedValue);
  if (value === '') return;
  const before = terms.get(`indicator ${value}`);
  terms.set(`indicator ${value}`, {
    kind: 'indicator',
    value,
    ...(isIdentifying || before?.identifying ? { identifying: true } : {}),
    standing: strongerStanding(before?.standing, standing),
    ...(isAddress ? { address: normalizedValue } : {}),
  });
}

function addClassification(terms: Terms, item: FeedItem): void {
  const { classification, affectedProducts } = item;
  const add = (kind: TermKind, ...values: string[]): void => {
    for (const text of values) {
      const value = toTermValue(kind, text);
      if (value !== '' && !terms.has(`${kind} ${value}`)) terms.set(`${kind} ${value}`, { kind, value });
    }
  };
  const addEntity = (kind: TermKind, name: string, aliases: string[] = []): void => {
    add(kind, name, ...aliases);
    const term = terms.get(`${kind} ${toTermValue(kind, name)}`);
    if (!term) return;
    term.entity ??= { name, seenAt: item.source.publishTime ?? item.addedToFeedAt };
    if (item.event.status === 'retracted') term.standing = 'revoked';
  };
  for (const { framework, id } of classification.mappings)
    if (framework === 'cve') addEntity('cve', id.trim().toUpperCase());
  for (const { technique, subTechnique } of classification.attack)
    add('technique', technique, ...(subTechnique ? [subTechnique] : []));
  for (const { name, aliases } of classification.actor) addEntity('actor', name, aliases);
  const tools = new Set(
    classification.mappings.flatMap(({ framework, id }) => (framework === 'observable:tool' ? id : [])),
  );
  for (const { name, aliases } of classification.malware) {
    add('malware', name, ...aliases);
    addEntity(tools.has(name) ? 'tool' : 'malware', name, aliases);
  }
  for (const { vendor, product } of affectedProducts) add('product', `${vendor} ${product}`);
}

function toStanding(indicator: Indicator, item: FeedItem): TermStanding {
  if (isHarmlessHere(indicator)) return 'harmless_here';
  if (indicator.status === 'false_positive' || indicator.status === 'revoked') return indicator.status;
  const end = new Date(indicatorExpiresAt(indicator, item));
  return { endsAt: Number.isNaN(end.getTime()) ? null : end };
}

/** Returns the stronger of two standings of one value in an item: a harmless one, or else the one that is valid longer. */
function strongerStanding(a: TermStanding | undefined, b: TermStanding): TermStanding {
  for (const harmless of ['false_positive', 'harmless_here'] as const)
    if (a === harmless || b === harmless) return harmless;
  if (a === undefined || typeof a === 'string') return b;
  if (typeof b === 'string') return a;
  return a.endsAt === null || (b.endsAt !== null && a.endsAt >= b.endsAt) ? a : b;
}
