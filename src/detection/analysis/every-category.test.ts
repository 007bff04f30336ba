import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { QueryRow } from '../siem/connector.ts';
import { analyzeInTurn, definitionOf } from '../../../test/support/detection/analysis-examples.ts';
import type { CandidateTexts } from './category.ts';
import { listCategories } from './category-tuning.ts';
import { findUnusedTuning, readTuning } from './category-tuning.ts';
import { categories, detectionCategories } from './registry.ts';
import { Tuning } from './tuning.schema.ts';
import { nameSubject } from './wording.ts';

/** What every category must do. A new one is checked by being in the registry. */

const repeat = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

const hostile: QueryRow[] = [
  {},
  { user: null },
  JSON.parse('{"__proto__":{"user":"x"},"constructor":"c","hasOwnProperty":1}') as QueryRow,
  { user: { name: { deep: [1, { x: null }] } }, step: '2', count: '1e400' },
  { user: '\u0000\ud800\u202e', step: 1, value: 'NaN', count: Number.POSITIVE_INFINITY },
  { user: 'x'.repeat(100_000), step: 3, n: Number.NaN, _ids: 'not a list', severity: {}, technique: 5 },
  { user: ['a', 'b'], _id: { a: 1 }, _time: 'never', severity: 'none', _ids: [null, {}, 'x'] },
  { user: 12, step: 1.5, count: -5, severity: 'constructor', technique: ['T1078', null] },
];

test.each(detectionCategories)('%s accepts any row', (category) => {
  const definition = definitionOf(category, { entityField: 'user.name', timeField: 'constructor' });
  const windows = [...repeat(7, hostile), [...hostile, ...hostile.map((row) => ({ ...row, extra: 'new' }))]];
  for (const candidate of analyzeInTurn(windows, definition).candidates) {
    expect(JSON.parse(JSON.stringify(candidate))).toEqual(candidate);
    expect(JSON.stringify(candidate)).not.toContain('\\u0000"');
  }
});

test.each(detectionCategories)('%s analyzes 20,000 rows of 4,000 entities', (category) => {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({
    _id: `e${n}`,
    _time: new Date(Date.UTC(2024, 0, 1, 7) + n * 30).toISOString(),
    user: `user${n % 4_000}`,
    app: `app${n % 37}`,
    ip: `192.0.2.${n % 200}`,
    step: (n % 3) + 1,
    bytes: n,
  }));
  const definition = definitionOf(category, { query: 'SELECT 3 AS step' });
  const { candidates } = analyzeInTurn([...repeat<QueryRow[]>(7, []), rows], definition);
  expect(candidates.length).toBeGreaterThanOrEqual(category === 'baseline_anomaly' ? 0 : 1_000);
});

describe.each(detectionCategories)('%s', (name) => {
  const { tuning, lookbackMs, usesHistory, confidence, describeHeadline, describeFinding, ...category } =
    categories[name];

  test('is documented', () => {
    const read = (page: string): string => readFileSync(resolve('docs', page), 'utf8');
    const rows = (page: string): number =>
      read(page)
        .split('\n')
        .filter((line) => line.startsWith('|') && line.includes(`\`${name}\``)).length;
    expect(read('guide/categories.md')).toContain(`\n## \`${name}\`\n`);
    expect(rows('guide/shipped-detections.md')).toBeGreaterThan(0);
    // What it remembers, its severity and its confidence.
    expect(rows('reference/analysis.md')).toBeGreaterThanOrEqual(3);
  });

  test('has a label, and sentences that say what it judges', () => {
    expect(category.label).toMatch(/^\p{Lu}[^.]+$/u);
    expect(category.description).toMatch(/^\p{Lu}.+\.$/u);
    expect(category.draft.rule).toMatch(/^[^().]+$/);
  });

  test('uses defaults that a tuning may have, and refuses every other field', () => {
    const fields = listCategories().categories.find((one) => one.name === name)!.tuning;
    expect(fields.map(({ field }) => field)).toEqual(Object.keys(tuning.defaults));
    for (const { field, type, minimum, maximum, options, default: value } of fields) {
      if (type !== 'string') expect([minimum, maximum]).toEqual([expect.any(Number), expect.any(Number)]);
      if (options) expect(options.map((option) => option.value)).toContain(value);
      const [outer, inner] = field.split('.') as [string, string?];
      const set = Tuning.parse({ [outer]: inner === undefined ? (value ?? 1) : { [inner]: value ?? 'team' } });
      expect(findUnusedTuning(set, name)).toBeUndefined();
    }
    const all = Tuning.parse({
      sensitivity: 'low',
      minimumCount: 2,
      minimumIncrease: 1,
      historyDays: 3,
      sequenceHours: 2,
      peers: { minimum: 2, by: 'team' },
    });
    const used = Object.keys(tuning.defaults).length;
    if (used < 7) expect(findUnusedTuning(all, name)?.detail).toContain('applies to');
    for (const field of tuning.remembered) expect(readTuning(all, field)).toBeDefined();
  });

  test('looks back if it compares with the past', () => {
    expect(lookbackMs(definitionOf(name))).toBeGreaterThanOrEqual(usesHistory ? 1 : 0);
    expect(analyzeInTurn([[{ user: 'ada', count: 9 }]], definitionOf(name)).learning).toBe(usesHistory);
  });

  test.each([
    ['no facts', {}],
    ['facts of the wrong type', { count: 'x', rows: null, newValues: 7, z: [1], steps: 'two', entityWindows: null }],
    ['usual facts', { count: 3, rows: 3, newValues: ['a=b'], newCombinations: 2, z: 9, median: 1, steps: 2 }],
  ])('describes a candidate with %s', (_name, facts) => {
    const subject = nameSubject({ entity: 'ada', entityType: 'user' });
    const texts: CandidateTexts = { facts, subject, listActions: () => ['login'], describeAction: () => ' (login)' };
    const { finding, details = [], nextStep } = describeFinding(texts);
    expect(confidence(facts)).toBeGreaterThanOrEqual(0);
    expect(describeHeadline(texts)).toContain('user ada');
    expect(finding).toMatch(/ada.*[^.]$/);
    for (const sentence of [...details, nextStep]) expect(sentence).toMatch(/^\p{Lu}.+\.$/u);
    expect(nextStep).toContain('“ada”');
  });
});
