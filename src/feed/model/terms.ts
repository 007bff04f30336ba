import { createHash } from 'node:crypto';
import { indicatorEnd } from './expiry.ts';
import type { FeedItem, Indicator } from './item.schema.ts';
import { buckets, type Bucket } from './vocabulary.ts';

export type TermKind = 'indicator' | 'cve' | 'technique' | 'actor' | 'malware' | 'product' | 'alias' | 'text';
/** An identifying one can tell one story from another. `standing`: of an indicator alone. */
export type Term = { kind: TermKind; value: string; identifying?: boolean; standing?: Standing };

/** How an indicator stands by its item's own word: denied, taken back, or good until `endsAt`; null: without end. */
export type Standing = 'false_positive' | 'revoked' | { endsAt: Date | null };

// What is printed the same way everywhere and belongs to one story more often than to many.
const identifyingBuckets = new Set<Bucket>(['ipv4', 'ipv6', 'domains', 'urls', 'hashes', 'certs']);

// A row of an index holds no more than 2,704 bytes.
const valueMaxChars = 500;

/**
 * A value as `item_terms` holds it: indicators by `normalizedValue`, CVEs in upper case, techniques by id, names of actors, malware and
 * products ("vendor product") in lower case with single blanks. A longer one than 500 characters stands there by its SHA-256.
 */
export function termValue(kind: TermKind, value: string): string {
  const text =
    kind === 'indicator'
      ? value
      : kind === 'cve' || kind === 'technique'
        ? value.trim().toUpperCase()
        : value
            .normalize('NFC')
            .toLowerCase()
            .replaceAll(/[\s_]+/g, ' ')
            .trim();
  return text.length <= valueMaxChars ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** What an item is found and compared by, each once: a sub-technique by its own id and its parent's, names with their aliases. */
export function termsOf(item: FeedItem): Term[] {
  const { iocs, classification, affectedProducts } = item;
  const terms = new Map<string, Term>();
  const add = (kind: TermKind, ...values: string[]): void => {
    for (const given of values) {
      const value = termValue(kind, given);
      if (value !== '') terms.set(`${kind} ${value}`, { kind, value });
    }
  };
  for (const bucket of buckets)
    for (const indicator of iocs[bucket]) {
      const value = termValue('indicator', indicator.normalizedValue);
      if (value === '') continue;
      const before = terms.get(`indicator ${value}`);
      const isIdentifying = identifyingBuckets.has(bucket) && indicator.status !== 'false_positive';
      terms.set(`indicator ${value}`, {
        kind: 'indicator',
        value,
        ...(isIdentifying || before?.identifying ? { identifying: true } : {}),
        standing: stronger(before?.standing, standingOf(indicator, item)),
      });
    }
  for (const { framework, id } of classification.mappings) if (framework === 'cve') add('cve', id);
  for (const { technique, subTechnique } of classification.attack)
    add('technique', technique, ...(subTechnique ? [subTechnique] : []));
  for (const { name, aliases } of classification.actor) add('actor', name, ...aliases);
  for (const { name, aliases } of classification.malware) add('malware', name, ...aliases);
  for (const { vendor, product } of affectedProducts) add('product', `${vendor} ${product}`);
  return [...terms.values()];
}

function standingOf(indicator: Indicator, item: FeedItem): Standing {
  if (indicator.status === 'false_positive' || indicator.status === 'revoked') return indicator.status;
  const end = new Date(indicatorEnd(indicator, item));
  return { endsAt: Number.isNaN(end.getTime()) ? null : end };
}

/** Of two words of one item on a value: a denial, else the one that holds longer. */
function stronger(a: Standing | undefined, b: Standing): Standing {
  if (a === undefined || a === 'revoked' || b === 'false_positive') return b;
  if (a === 'false_positive' || b === 'revoked') return a;
  return a.endsAt === null || (b.endsAt !== null && a.endsAt >= b.endsAt) ? a : b;
}
