import { describe, expect, test } from 'vitest';

import type { BuiltinDetection } from './builtin.ts';
import type { ProofRow } from './proof-engine.ts';
import { openProofEngine } from './proof-engine.ts';
import { builtinDetections } from './registry.ts';

const all: BuiltinDetection[] = Object.values(builtinDetections);

/** The entities that a query names; for a sequence those that went through all its steps in order. */
function entitiesOf(detection: BuiltinDetection, rows: ProofRow[]): string[] {
  const names = [...new Set(rows.map((row) => String(row[detection.entityField])))];
  if (detection.category !== 'sequence_pattern') return names.sort();
  const last = Math.max(...rows.map((row) => Number(row['step'])));
  return names.filter((name) => {
    const own = rows.filter((row) => row[detection.entityField] === name);
    own.sort((a, b) => String(a['_time']).localeCompare(String(b['_time'])) || Number(a['step']) - Number(b['step']));
    return own.reduce((next, row) => (Number(row['step']) === next ? next + 1 : next), 1) > last;
  });
}

async function rowsOf(detection: BuiltinDetection, events: BuiltinDetection['sample']['match']): Promise<ProofRow[]> {
  const engine = await openProofEngine(events);
  const rows = await engine.run(detection.query);
  engine.close();
  return rows;
}

describe.each(all)('$id', (detection) => {
  const { match, noMatch, entities } = detection.sample;

  test('names exactly the expected entities', async () => {
    const rows = await rowsOf(detection, [...match, ...noMatch]);
    expect(entitiesOf(detection, rows)).toEqual([...entities].sort());
    expect(rows.every((row) => row['_id'] !== undefined || Array.isArray(row['_ids']))).toBe(true);
    expect(rows.every((row) => /^T\d{4}(\.\d{3})?$/.test(String(row['technique'])))).toBe(true);
    const tags = rows.map((row) => `attack.${String(row['technique']).toLowerCase()}`);
    expect(detection.tags).toEqual(expect.arrayContaining(tags));
  });

  test('finds nothing in what must not match', async () => {
    const rows = await rowsOf(detection, noMatch);
    expect(detection.category === 'sequence_pattern' ? entitiesOf(detection, rows) : rows).toEqual([]);
  });
});

test('the registry key is the id, every category is served, and texts fit the contract', () => {
  for (const [id, detection] of Object.entries<BuiltinDetection>(builtinDetections)) {
    expect(detection.id).toBe(id);
    expect(detection.name.length).toBeLessThanOrEqual(255);
    expect(detection.description.length).toBeLessThanOrEqual(1000);
    expect(detection.tags.every((tag) => tag === tag.toLowerCase() && tag.length <= 100)).toBe(true);
  }
  expect(new Set(all.map((detection) => detection.category)).size).toBe(5);
});
