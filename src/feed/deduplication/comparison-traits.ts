import { extractTerms, toTermValue, type Term } from '../model/terms.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { findRules } from '../model/report-rules.ts';

const aliasesMax = 100;

/** Returns the traits by which an item is found and compared. Only prose has rules and a sketch: the fields of a structured record are not compared as text. */
export function buildComparisonTraits(
  item: FeedItem,
  { storedText, isProse, aliases = [] }: { storedText: string; isProse: boolean; aliases?: string[] | undefined },
): { terms: Term[]; sketch: string | null; identifying: number } {
  const hashes = isProse ? createSketch(storedText) : undefined;
  const ruleTypes = new Set(isProse ? findRules(storedText).map(({ type }) => type) : []);
  const aliasValues = new Set(aliases.slice(0, aliasesMax).map((alias) => toTermValue('alias', alias)));
  const terms: Term[] = [
    ...extractTerms(item),
    ...[...ruleTypes].map((value): Term => ({ kind: 'rule', value })),
    ...[...aliasValues].map((value): Term => ({ kind: 'alias', value })),
    ...(hashes ? listBands(hashes).map((value): Term => ({ kind: 'text', value })) : []),
  ];
  const tally = emptyTally();
  for (const { identifying, value } of terms) if (identifying) addToTally(tally, value);
  return { terms, sketch: hashes ? packSketch(hashes) : null, identifying: countTallied(tally) };
}

/** Counts the things that indicators refer to. A file counts once, no matter how many of its hashes are listed. */
export type IndicatorTally = { others: number; hashes: Map<number, number> };

export const emptyTally = (): IndicatorTally => ({ others: 0, hashes: new Map() });

export function addToTally(tally: IndicatorTally, value: string): void {
  if (/^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/.test(value))
    tally.hashes.set(value.length, (tally.hashes.get(value.length) ?? 0) + 1);
  else tally.others += 1;
}

/** Returns the count. The most frequent hash length determines the number of files. */
export const countTallied = ({ others, hashes }: IndicatorTally): number => others + Math.max(0, ...hashes.values());

const shingleWords = 3;
const hashCount = 128;
const bandRows = 3;
const bandCount = 20;
const proseWordsMin = 80;
const lineWordsMin = 8;

/** Returns the lines of running text, without fields of structured records and short lines such as list rows. */
export function extractProse(storedText: string): string {
  return storedText
    .split('\n')
    .filter((line) => !/^\s*[\w$.[\]-]{1,60}: /.test(line) && listWords(line).length >= lineWordsMin)
    .join('\n');
}

const listWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * Returns the MinHash sketch of a text's prose (Broder, "On the resemblance and containment of documents", 1997), or undefined if the prose has
 * fewer than 80 words. The share of equal positions of two sketches estimates the share of three-word shingles that the texts have in common.
 */
export function createSketch(storedText: string): Uint32Array | undefined {
  const words = listWords(extractProse(storedText));
  if (words.length < proseWordsMin) return undefined;
  const hashes = new Uint32Array(hashCount).fill(0xffffffff);
  const wordHashes = words.map(hashWord);
  for (let at = 0; at + shingleWords <= words.length; at += 1) {
    let shingle = 0x9747b28c;
    for (let next = at; next < at + shingleWords; next += 1) shingle = mix(shingle ^ wordHashes[next]!);
    for (let position = 0; position < hashCount; position += 1) {
      const hash = mix(shingle ^ seeds[position]!);
      if (hash < hashes[position]!) hashes[position] = hash;
    }
  }
  return hashes;
}

/** Estimates the share of shingles that two texts have in common, 0 to 1, with an error of about 0.04. */
export function similarity(a: Uint32Array, b: Uint32Array): number {
  let equal = 0;
  for (let position = 0; position < hashCount; position += 1) if (a[position] === b[position]) equal += 1;
  return equal / hashCount;
}

/** Returns values of which similar texts probably share at least one: with 93 % at a similarity of 0.5, with 99.98 % at 0.7. */
export function listBands(hashes: Uint32Array): string[] {
  return Array.from({ length: bandCount }, (_, band) => {
    const rows = hashes.subarray(band * bandRows, (band + 1) * bandRows);
    return `${band}:${[...rows].map((hash) => hash.toString(36)).join('.')}`;
  });
}

export const packSketch = (hashes: Uint32Array): string =>
  Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength).toString('base64');

export function unpackSketch(text: string): Uint32Array {
  const bytes = Buffer.from(text, 'base64');
  return Uint32Array.from({ length: hashCount }, (_, position) => bytes.readUInt32LE(position * 4));
}

function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return mix(hash);
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const seeds = Uint32Array.from({ length: hashCount }, (_, position) => mix(Math.imul(position + 1, 0x9e3779b1)));
