import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { HeadlineInput } from '../detections/record/field-schemas.ts';
import type { BuiltInDetection } from './built-in-detection.ts';
import type { SampleRow } from './sample-engine.ts';
import { openSampleEngine } from './sample-engine.ts';
import { builtInDetections } from './registry.ts';

const all: BuiltInDetection[] = Object.values(builtInDetections);

/** Returns the entities that a query finds, as `BuiltInDetection` defines. */
function findEntities(detection: BuiltInDetection, rows: SampleRow[]): string[] {
  const listRows = (name: string) => rows.filter((row) => row[detection.entityField] === name);
  const names = [...new Set(rows.map((row) => String(row[detection.entityField])))].toSorted();
  if (detection.category === 'baseline_anomaly')
    return names.filter((name) => Number(listRows(name)[0]?.['count']) > 0);
  if (detection.category !== 'sequence_pattern') return names;
  const byTimeAndStep = (a: SampleRow, b: SampleRow) =>
    String(a['_time']).localeCompare(String(b['_time'])) || Number(a['step']) - Number(b['step']);
  return names.filter((name) => {
    const entityRows = listRows(name).toSorted(byTimeAndStep);
    const next = entityRows.reduce((step, row) => (Number(row['step']) === step ? step + 1 : step), 1);
    return next > Number(entityRows[0]?.['steps']);
  });
}

async function runQuery(
  detection: BuiltInDetection,
  events: BuiltInDetection['sample']['match'],
): Promise<SampleRow[]> {
  const engine = await openSampleEngine(events);
  const rows = await engine.run(detection.query);
  engine.close();
  return rows;
}

describe.each(all)('$id', (detection) => {
  const { match, noMatch, entities } = detection.sample;

  test('finds exactly the expected entities', async () => {
    const rows = await runQuery(detection, [...match, ...noMatch]);
    expect(findEntities(detection, rows)).toEqual([...entities].toSorted());
    expect(rows.every((row) => row['_id'] !== undefined || Array.isArray(row['_ids']))).toBe(true);
    expect(rows.every((row) => /^T\d{4}(\.\d{3})?$/.test(String(row['technique'])))).toBe(true);
    const tags = rows.map((row) => `attack.${String(row['technique']).toLowerCase()}`);
    expect(detection.tags).toEqual(expect.arrayContaining(tags));
  });

  test('finds nothing in the events that must not match', async () => {
    const rows = await runQuery(detection, noMatch);
    expect(findEntities(detection, rows)).toEqual([]);
  });
});

test.each(all)('$id has a headline whose fields its query returns', async (detection) => {
  const { match, noMatch, history = [] } = detection.sample;
  const rows = await runQuery(detection, [...history, ...match, ...noMatch]);
  const columns = new Set(rows.flatMap((row) => Object.keys(row)));
  const fields = [...HeadlineInput.parse(detection.headline).matchAll(/\{\{(\w+)\}\}/g)].map(([, field]) => field!);
  expect(fields.length).toBeGreaterThan(0);
  expect(fields.filter((field) => !columns.has(field))).toEqual([]);
});

test('registers every detection by id, covers every category and keeps the length limits', () => {
  for (const [id, detection] of Object.entries<BuiltInDetection>(builtInDetections)) {
    expect(detection.id).toBe(id);
    expect(detection.name.length).toBeLessThanOrEqual(255);
    expect(detection.description.length).toBeLessThanOrEqual(1000);
    expect(detection.tags.every((tag) => tag === tag.toLowerCase() && tag.length <= 100)).toBe(true);
  }
  expect(new Set(all.map((detection) => detection.category)).size).toBe(5);
});

test('lists every detection in the guide with its category and techniques', () => {
  const guide = readFileSync(new URL('../../../docs/guide/shipped-detections.md', import.meta.url), 'utf8').split('\n');
  for (const { id, category, tags, sample } of all) {
    const row = guide.find((line) => line.startsWith(`| \`${id}\` | ${category} |`));
    expect(row, id).toBeDefined();
    expect(tags.some((tag) => row!.toLowerCase().includes(tag.replace('attack.', '')))).toBe(true);
    expect(sample.entities.length).toBeGreaterThan(0);
  }
});
