import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { BuiltInDetection } from './built-in-detection.ts';
import type { SampleRow } from './sample-engine.ts';
import { openSampleEngine } from './sample-engine.ts';
import { builtInDetections } from './registry.ts';

const all: BuiltInDetection[] = Object.values(builtInDetections);

/** The entities that a query names, as `BuiltinDetection` says. */
function entitiesOf(detection: BuiltInDetection, rows: SampleRow[]): string[] {
  const ofEntity = (name: string) => rows.filter((row) => row[detection.entityField] === name);
  const names = [...new Set(rows.map((row) => String(row[detection.entityField])))].toSorted();
  if (detection.category === 'baseline_anomaly')
    return names.filter((name) => Number(ofEntity(name)[0]?.['count']) > 0);
  if (detection.category !== 'sequence_pattern') return names;
  const inOrder = (a: SampleRow, b: SampleRow) =>
    String(a['_time']).localeCompare(String(b['_time'])) || Number(a['step']) - Number(b['step']);
  return names.filter((name) => {
    const own = ofEntity(name).toSorted(inOrder);
    const next = own.reduce((step, row) => (Number(row['step']) === step ? step + 1 : step), 1);
    return next > Number(own[0]?.['steps']);
  });
}

async function rowsOf(detection: BuiltInDetection, events: BuiltInDetection['sample']['match']): Promise<SampleRow[]> {
  const engine = await openSampleEngine(events);
  const rows = await engine.run(detection.query);
  engine.close();
  return rows;
}

describe.each(all)('$id', (detection) => {
  const { match, noMatch, entities } = detection.sample;

  test('names exactly the expected entities', async () => {
    const rows = await rowsOf(detection, [...match, ...noMatch]);
    expect(entitiesOf(detection, rows)).toEqual([...entities].toSorted());
    expect(rows.every((row) => row['_id'] !== undefined || Array.isArray(row['_ids']))).toBe(true);
    expect(rows.every((row) => /^T\d{4}(\.\d{3})?$/.test(String(row['technique'])))).toBe(true);
    const tags = rows.map((row) => `attack.${String(row['technique']).toLowerCase()}`);
    expect(detection.tags).toEqual(expect.arrayContaining(tags));
  });

  test('finds nothing in what must not match', async () => {
    const rows = await rowsOf(detection, noMatch);
    expect(entitiesOf(detection, rows)).toEqual([]);
  });
});

test('the registry key is the id, every category is served, and texts fit the contract', () => {
  for (const [id, detection] of Object.entries<BuiltInDetection>(builtInDetections)) {
    expect(detection.id).toBe(id);
    expect(detection.name.length).toBeLessThanOrEqual(255);
    expect(detection.description.length).toBeLessThanOrEqual(1000);
    expect(detection.tags.every((tag) => tag === tag.toLowerCase() && tag.length <= 100)).toBe(true);
  }
  expect(new Set(all.map((detection) => detection.category)).size).toBe(5);
});

test('the guide has a row for each, with its category and techniques', () => {
  const guide = readFileSync(new URL('../../../docs/guide/shipped-detections.md', import.meta.url), 'utf8').split('\n');
  for (const { id, category, tags, sample } of all) {
    const row = guide.find((line) => line.startsWith(`| \`${id}\` | ${category} |`));
    expect(row, id).toBeDefined();
    expect(tags.some((tag) => row!.toLowerCase().includes(tag.replace('attack.', '')))).toBe(true);
    expect(sample.entities.length).toBeGreaterThan(0);
  }
});
