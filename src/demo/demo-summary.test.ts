import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getLibraryEntry } from '../detection/library/load-library.ts';
import { openSampleEngine, type SampleEngine } from './sample-engine.ts';
import { hourMs } from './company/people.ts';
import { generateCompanyLogs } from './company/company.ts';
import { additionalExpectedHits, expectedHits } from './demo-summary.ts';
import { intrusion } from './company/intrusion.ts';
import { replayDetections, type ReplayCandidate } from '../../test/support/replay-detection.ts';
import { isSeverityAtLeast } from '../detection/analysis/candidate.ts';

test('the demo has one detection of each category', () => {
  const categories = expectedHits.map(({ detection }) => getLibraryEntry(detection).body.detectionCategory);
  expect(new Set(categories).size).toBe(5);
  expect(expectedHits).toHaveLength(5);
});

const all = [...expectedHits, ...additionalExpectedHits];
const ofSignIns = all.filter(({ detection }) => 'auth' in getLibraryEntry(detection).datasets);

// Usual activity differs most between a quiet Sunday and a Monday with expired passwords, which change sign-ins only.
describe.each([
  { iso: '2030-03-10T16:40:00.000Z', expectations: all },
  { iso: '2030-03-11T10:17:33.000Z', expectations: ofSignIns },
])('logs that end at $iso', ({ iso, expectations }) => {
  const end = new Date(iso);
  let engine: SampleEngine;
  let candidatesOf: Map<string, ReplayCandidate[]>;
  beforeAll(async () => {
    // The replay reads 200 hours of history before the last 36 hours.
    engine = await openSampleEngine(generateCompanyLogs({ end, days: 10 }));
    const entries = expectations.map(({ detection }) => getLibraryEntry(detection).body);
    const candidates = await replayDetections(engine, entries, end);
    candidatesOf = new Map(expectations.map(({ detection }, index) => [detection, candidates[index]!]));
  });
  afterAll(() => engine.close());

  test.each(expectations)('$detection finds $stage of $entity', ({ detection, entity, hitsMin, otherHitsMax }) => {
    const candidates = candidatesOf.get(detection)!;
    const expected = candidates.filter((candidate) => candidate.entity === entity);
    expect(expected.length).toBeGreaterThanOrEqual(hitsMin);
    expect(expected.some(({ severity }) => isSeverityAtLeast(severity, 'medium'))).toBe(true);
    expect(candidates.length - expected.length).toBeLessThanOrEqual(otherHitsMax);
  });

  test.each(expectations)('$detection shows the events of $stage', async ({ detection, stage }) => {
    const { eventIds } = intrusion.find((one) => one.stage === stage)!;
    await engine.setWindow(new Date(end.getTime() - 36 * hourMs), end);
    const rows = await engine.run(getLibraryEntry(detection).body.detectionQuery);
    const shown = rows.flatMap((row) => [row['_id'], ...((row['_ids'] as string[] | undefined) ?? [])]);
    expect(eventIds.some((id) => shown.includes(id))).toBe(true);
  });

  test('naive rules match many harmless events', async () => {
    const naive = (where: string) => engine.run(`SELECT count(*) AS n FROM ${where}`);
    await engine.setWindow(new Date(end.getTime() - 10 * 24 * hourMs), new Date(end.getTime() - 36 * hourMs));
    const [failures] = await naive("auth WHERE (_event->>'$.event.outcome') = 'failure'");
    expect(Number(failures!['n'])).toBeGreaterThan(50);
    const [shadow] = await naive("windows WHERE contains(CommandLine, 'vssadmin')");
    expect(Number(shadow!['n'])).toBeGreaterThan(50);
    const [attached] = await naive("cloudtrail WHERE eventName = 'AttachRolePolicy'");
    expect(Number(attached!['n'])).toBeGreaterThan(2);
  });
});
