import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { getLibraryEntry } from '../detection/library/load-library.ts';
import { openSampleEngine, type SampleEngine } from './sample-engine.ts';
import { hourMs } from './company/calendar.ts';
import { generateCompanyLogs } from './company/company.ts';
import { additionalExpectedHits, expectedHits } from './expected-hits.ts';
import { intrusion } from './company/intrusion.ts';
import { replayDetection } from './replay-detection.ts';

test('the demo has one detection of each category', () => {
  const categories = expectedHits.map(({ detection }) => getLibraryEntry(detection).body.detectionCategory);
  expect(new Set(categories).size).toBe(5);
  expect(expectedHits).toHaveLength(5);
});

// Usual activity differs most between a quiet Sunday and a Monday with expired passwords.
describe.each(['2030-03-10T16:40:00.000Z', '2030-03-11T10:17:33.000Z'])('logs that end at %s', (iso) => {
  const end = new Date(iso);
  let engine: SampleEngine;
  beforeAll(async () => {
    engine = await openSampleEngine(generateCompanyLogs({ end }));
  });
  afterAll(() => engine.close());

  test.each([...expectedHits, ...additionalExpectedHits])('$detection finds $stage of $entity', async (expectation) => {
    const candidates = await replayDetection(engine, getLibraryEntry(expectation.detection).body, end);
    const others = candidates.filter(({ entity }) => entity !== expectation.entity);
    expect(candidates.length - others.length).toBeGreaterThanOrEqual(expectation.hitsMin);
    expect(others.length).toBeLessThanOrEqual(expectation.otherHitsMax);
  });

  test.each([...expectedHits, ...additionalExpectedHits])(
    '$detection shows the events of $stage',
    async ({ detection, stage }) => {
      const { eventIds } = intrusion.find((one) => one.stage === stage)!;
      await engine.setWindow(new Date(end.getTime() - 36 * hourMs), end);
      const rows = await engine.run(getLibraryEntry(detection).body.detectionQuery);
      const shown = rows.flatMap((row) => [row['_id'], ...((row['_ids'] as string[] | undefined) ?? [])]);
      expect(eventIds.some((id) => shown.includes(id))).toBe(true);
    },
  );

  test('naive rules match many harmless events', async () => {
    const naive = (where: string) => engine.run(`SELECT count(*) AS n FROM ${where}`);
    await engine.setWindow(new Date(end.getTime() - 14 * 24 * hourMs), new Date(end.getTime() - 36 * hourMs));
    const [failures] = await naive("auth WHERE (_event->>'$.event.outcome') = 'failure'");
    expect(Number(failures!['n'])).toBeGreaterThan(100);
    const [shadow] = await naive("windows WHERE contains(CommandLine, 'vssadmin')");
    expect(Number(shadow!['n'])).toBeGreaterThan(100);
    const [attached] = await naive("cloudtrail WHERE eventName = 'AttachRolePolicy'");
    expect(Number(attached!['n'])).toBeGreaterThan(2);
  });
});
