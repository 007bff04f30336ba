import { describe, expect, test } from 'vitest';
import { type ComparedItem, scoreSameStory, type SharedTraits } from './link-items.ts';
import {
  addToTally,
  emptyTally,
  countTallied,
  listBands,
  packSketch,
  extractProse,
  similarity,
  createSketch,
  unpackSketch,
} from './comparison-traits.ts';

const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `word${from + index}`).join(' ');
const day = 86_400_000;
const sketch = createSketch(words(0, 200))!;
const item = (more: Partial<ComparedItem> = {}): ComparedItem => ({
  publisher: 'A',
  publishedAt: 0,
  sketch,
  identifying: 10,
  ...more,
});
const none: SharedTraits = { rareIndicators: 0, names: 0, vulnerability: false, similarity: 0 };

describe('sameStory', () => {
  const other = item({ publisher: 'B' });
  const list = item({ publisher: 'B', sketch: undefined });
  test.each<[string, ComparedItem, ComparedItem, Partial<SharedTraits>, boolean]>([
    ['alike and a name in common', item(), other, { similarity: 0.6, names: 1 }, true],
    ['alike and a flaw of a product in common', item(), other, { similarity: 0.6, vulnerability: true }, true],
    ['alike and nothing specific in common', item(), other, { similarity: 0.9 }, false],
    ['indicators in common and texts that are not alike', item(), other, { rareIndicators: 9 }, false],
    ['indicators in common and texts somewhat alike', item(), other, { rareIndicators: 6, similarity: 0.35 }, true],
    ['one CVE in common', item(), other, { names: 1, similarity: 0.1 }, false],
    ['one publisher, a template, a name', item(), item(), { similarity: 0.7, names: 1 }, false],
    ['one publisher, text alone', item(), item(), { similarity: 1 }, false],
    [
      'one publisher in another spelling, text alone',
      item(),
      item({ publisher: ' a ' }),
      { similarity: 1, names: 1 },
      false,
    ],
    ['one publisher, the same text and indicators', item(), item(), { similarity: 0.9, rareIndicators: 6 }, true],
    [
      'one publisher, the same text about one flaw',
      item(),
      item(),
      { similarity: 0.9, names: 1, vulnerability: true },
      true,
    ],
    [
      'one publisher, a template about one flaw',
      item(),
      item(),
      { similarity: 0.7, names: 1, vulnerability: true },
      false,
    ],
    ['a list with five of seven', item(), { ...list, identifying: 7 }, { rareIndicators: 5 }, true],
    ['a list with five of nine', item(), { ...list, identifying: 9 }, { rareIndicators: 5 }, false],
    ['a list with four of four', item(), { ...list, identifying: 4 }, { rareIndicators: 4 }, false],
    ['a fortnight apart', item(), { ...list, publishedAt: 14 * day }, { rareIndicators: 10 }, true],
    ['more than a fortnight apart', item(), { ...list, publishedAt: 14 * day + 1 }, { rareIndicators: 10 }, false],
    ['one date unknown', item(), { ...list, publishedAt: undefined }, { rareIndicators: 10 }, true],
  ])('%s', (_name, a, b, shared, expected) => {
    expect(scoreSameStory(a, b, { ...none, ...shared }) !== undefined).toBe(expected);
    expect(scoreSameStory(b, a, { ...none, ...shared })).toBe(scoreSameStory(a, b, { ...none, ...shared }));
  });
});

test('counts a file once, regardless of how many hashes it has', () => {
  const tally = emptyTally();
  for (const value of ['a'.repeat(32), 'b'.repeat(32), 'a'.repeat(40), 'a'.repeat(64), 'a.example', 'a'.repeat(33)])
    addToTally(tally, value);
  expect(countTallied(tally)).toBe(4);
});

describe('sketches', () => {
  test('estimates the similarity of texts and shares a band between similar ones', () => {
    const base = createSketch(words(0, 300))!;
    // The texts share 200 of 400 shingles.
    const half = createSketch(words(100, 300))!;
    expect(similarity(base, base)).toBe(1);
    expect(Math.abs(similarity(base, half) - 0.5)).toBeLessThan(0.12);
    expect(similarity(base, createSketch(words(1_000, 300))!)).toBeLessThan(0.03);
    const near = createSketch(words(15, 300))!;
    expect(listBands(base).some((band) => listBands(near).includes(band))).toBe(true);
  });

  test('uses only lines of running text, and has no sketch of a short text', () => {
    expect(
      extractProse(
        'cveID: a long value of a field that would read like a sentence\n1.2.3.4\nThis is a line of some nine plain words, see.',
      ),
    ).toBe('This is a line of some nine plain words, see.');
    expect(createSketch(words(0, 79))).toBeUndefined();
  });

  test('round-trips a stored sketch', () => {
    expect(unpackSketch(packSketch(sketch))).toEqual(sketch);
  });
});
