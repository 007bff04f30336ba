import { beforeAll, describe, expect, test } from 'vitest';
import type { SampleEvent } from '../sample-engine.ts';
import { dayMs, hourMs } from './people.ts';
import { generateCompanyLogs } from './company.ts';
import { intrusion } from './intrusion.ts';
import type { LogEvent } from './shapes.ts';

const end = new Date('2030-03-12T10:17:33.000Z');
const idOf = ({ event }: SampleEvent): string => String(event['eventID'] ?? (event['event'] as { id: string }).id);

describe('the company’s logs', () => {
  let logs: LogEvent[];
  beforeAll(() => {
    logs = [...generateCompanyLogs({ end })];
  });

  test('are ordered events of fourteen days with unique IDs', () => {
    expect(logs.length).toBeGreaterThan(20_000);
    expect(logs.length).toBeLessThan(60_000);
    expect(logs[0]!.at.getTime()).toBeGreaterThanOrEqual(end.getTime() - 14 * dayMs);
    expect(logs.at(-1)!.at.getTime()).toBeLessThan(end.getTime());
    expect(logs.every(({ at }, n) => n === 0 || at >= logs[n - 1]!.at)).toBe(true);
    expect(new Set(logs.map(idOf)).size).toBe(logs.length);
  });

  test('contain the time of the event', () => {
    for (const { at, event } of logs)
      expect(Date.parse(String(event['@timestamp'] ?? event['eventTime']))).toBe(at.getTime());
  });

  test('are reproducible for a seed and differ for another seed', () => {
    const days = 3;
    const short = [...generateCompanyLogs({ end, days })];
    expect([...generateCompanyLogs({ end, days })]).toEqual(short);
    const other = [...generateCompanyLogs({ end, days, seed: 2 })];
    expect(other.map(idOf)).not.toEqual(short.map(idOf));
  });

  test('are quiet at night and at weekends', () => {
    const people = logs.filter(({ dataset }) => dataset === 'auth');
    const onWeekend = people.filter(({ at }) => [0, 6].includes(at.getUTCDay()));
    expect(onWeekend.length).toBeLessThan(people.length / 8);
    const atNight = people.filter(({ at }) => at.getUTCHours() === 21);
    const inMorning = people.filter(({ at }) => at.getUTCHours() === 8);
    expect(atNight.length).toBeLessThan(inMorning.length / 3);
  });

  test('contain every event of the intrusion in the last 36 hours', () => {
    const byId = new Map(logs.map((line) => [idOf(line), line]));
    const found = intrusion.flatMap(({ eventIds }) => eventIds.map((id) => byId.get(id)));
    expect(found.every((line) => line !== undefined && end.getTime() - line.at.getTime() < 36 * hourMs)).toBe(true);
    expect(new Set(intrusion.map(({ stage }) => stage)).size).toBe(intrusion.length);
    expect(intrusion.map(({ technique }) => technique)).toContain('T1490');
  });

  test('contain only reserved addresses and domains', () => {
    const text = logs.map(({ event }) => JSON.stringify(event)).join('\n');
    const addresses = new Set(text.match(/(?<![\d.])\d{1,3}(\.\d{1,3}){3}(?![\d.])/g));
    const reserved = /^(192\.0\.2|198\.51\.100|203\.0\.113|10\.20\.0)\.\d+$/;
    expect([...addresses].filter((address) => !reserved.test(address))).toEqual([]);
    const domains = new Set(
      logs.flatMap(({ event }) => (event['url'] as { domain: string } | undefined)?.domain ?? []),
    );
    expect([...domains].filter((domain) => !/(^|\.)example(\.(com|net|org))?$/.test(domain))).toEqual([]);
  });
});

test('generates logs of a single day', () => {
  const day = [...generateCompanyLogs({ end, days: 1, seed: 5 })];
  expect(day.length).toBeGreaterThan(500);
  expect(day[0]!.at.getTime()).toBeGreaterThanOrEqual(end.getTime() - dayMs);
});

test.each([0, 1, 2, 3, 4, 5, 6])(
  'shows the victim at home in the hours before the foreign sign-in, %i days later',
  (days) => {
    const lastEnd = new Date(end.getTime() + days * dayMs);
    const signIns = [...generateCompanyLogs({ end: lastEnd, days: 3 })].flatMap(({ at, dataset, event }) => {
      if (dataset !== 'auth') return [];
      const { user, source, event: details } = event as SignInEvent;
      const isSignIn = details.action === 'user.session.start' && details.outcome === 'success';
      return isSignIn && user.name === 'tomas.rehn' ? [{ at: at.getTime(), country: source.geo.country_iso_code }] : [];
    });
    const abroad = signIns.findIndex(({ country }) => country === 'VU');
    const before = signIns[abroad - 1]!;
    expect(before.country).toBe('NO');
    expect(signIns[abroad]!.at - before.at).toBeLessThan(12 * hourMs);
  },
);

type SignInEvent = {
  user: { name: string };
  source: { geo: { country_iso_code: string } };
  event: { action: string; outcome: string };
};
