import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  analyzeInTurn,
  definitionOf,
  detectionTexts,
  hour,
  hourMs,
} from '../../../../test/support/detection/analysis-examples.ts';
import { someMmdb } from '../../../../test/support/platform/mmdb-file.ts';
import { getTestDir } from '../../../../test/support/test-dir.ts';
import { openGeoDatabases } from '../../../platform/enrichment/geo-databases.ts';
import { createAnalystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { QueryRow } from '../../siem/connector.ts';
import type { Candidate } from '../candidate.ts';

const definition = definitionOf('first_occurrence', { entityField: 'user' });

/** Returns the candidates of a last window, after 40 windows with the rows of `past`. */
const candidatesAfter = (past: readonly QueryRow[], last: readonly QueryRow[], aggregate = false): Candidate[] =>
  analyzeInTurn([...Array.from({ length: 40 }, () => past), last], definition, aggregate).candidates;

const usual: QueryRow = { user: 'ada', country: 'SE', app: 'wiki' };

describe('absent values', () => {
  test.each([[undefined], [null], [''], ['  '], ['-'], ['(null)'], ['N/A'], ['NULL'], ['(empty)'], [[]], ['[]']])(
    'does not report %j as new',
    (absent) => {
      expect(candidatesAfter([usual], [{ ...usual, country: absent }])).toEqual([]);
      expect(candidatesAfter([usual], [{ user: 'ada', country: absent, app: absent }])).toEqual([]);
    },
  );

  test('reports what is new beside an absent value, and a value after windows without one', () => {
    const [candidate] = candidatesAfter([usual], [{ ...usual, country: '-', app: 'crm' }]);
    expect(candidate?.facts['newValues']).toEqual(['app=crm']);
    expect(candidatesAfter([{ ...usual, country: '-' }], [usual])).toHaveLength(1);
  });

  test('reports two values that never occurred together', () => {
    const past = [usual, { user: 'ada', country: 'NO', app: 'crm' }];
    expect(candidatesAfter(past, [{ user: 'ada', country: 'NO', app: 'wiki', device: '-' }])).toHaveLength(1);
  });

  test('keeps values such as none and unknown, which may be what matters', () => {
    expect(candidatesAfter([{ user: 'ada', mfa: 'push' }], [{ user: 'ada', mfa: 'none' }])).toHaveLength(1);
  });
});

describe('lists', () => {
  const groups = (...list: unknown[]): QueryRow => ({ user: 'ada', app: 'wiki', groups: list });
  const past = [groups('staff', 'vpn', 'print')];

  test.each([
    ['in another order', groups('print', 'vpn', 'staff')],
    ['with fewer elements', groups('vpn')],
    ['with an element twice', groups('vpn', 'vpn')],
    ['as JSON text', { ...groups(), groups: '["vpn","staff"]' }],
    ['without elements', groups()],
  ])('does not report a list %s', (_name, row) => {
    expect(candidatesAfter(past, [row])).toEqual([]);
  });

  test('reports the element that is new', () => {
    const [candidate, ...rest] = candidatesAfter(past, [groups('vpn', 'admins', 'staff')]);
    expect(candidate?.facts).toMatchObject({ newValues: ['app=wiki, groups=admins'], newCombinations: 1 });
    expect(rest).toEqual([]);
  });

  test('remembers long lists without losing an element', () => {
    const long = Array.from({ length: 500 }, (_, n) => `group ${n}`);
    expect(candidatesAfter([groups(...long)], [groups(...long.toReversed())])).toEqual([]);
    expect(candidatesAfter([groups(...long)], [groups(...long, 'zz')])).toHaveLength(1);
  });
});

describe('spelling', () => {
  test.each([
    ['account', 'target_user', 'Bob', 'BOB', true],
    ['host', 'host.name', 'WS-1.Corp.Example', 'ws-1.corp.example', true],
    ['domain', 'dns.question.name', 'Example.COM', 'example.com', true],
    ['e-mail address', 'recipient', 'Bob@Example.com', 'bob@example.com', true],
    ['country', 'country', 'se', 'SE', true],
    ['hash', 'sha256', 'AB'.repeat(32), 'ab'.repeat(32), true],
    ['path of Windows', 'Image', 'C:\\Windows\\System32\\CMD.EXE', 'c:\\windows\\system32\\cmd.exe', true],
    ['path of Linux', 'process.executable', '/opt/Tool', '/opt/tool', false],
    ['opaque ID', 'app_id', '0oaAbCdEf', '0oaabcdef', false],
    ['operation', 'eventName', 'GetItem', 'getitem', false],
  ])('%s: %s %j and %j', (_name, field, one, other, areSame) => {
    const found = candidatesAfter([{ user: 'ada', [field]: one }], [{ user: 'ada', [field]: other }]);
    expect(found).toHaveLength(areSame ? 0 : 1);
  });

  test.each(['user', 'host', 'Computer', 'email'])('the entity in %s is one in every case', (field) => {
    const own = definitionOf('first_occurrence', { entityField: field });
    const rows = (name: string): QueryRow[] => [{ [field]: name, app: 'wiki' }];
    const windows = [...Array.from({ length: 20 }, () => rows('ada@corp.example')), rows('ADA@CORP.example')];
    expect(analyzeInTurn(windows, own).candidates).toEqual([]);
  });

  test('two spellings of an entity in one window are one candidate', () => {
    const last = ['Ada', 'ADA', 'ada'].map((user) => ({ ...usual, user, app: 'crm' }));
    expect(candidatesAfter([usual], last)).toMatchObject([{ entity: 'ADA', facts: { rows: 3 } }]);
  });
});

describe('travel', () => {
  const at = (index: number, minute: number): string =>
    new Date(hour(index).from.getTime() + minute * 60_000).toISOString();
  const signIn = (country: string, index: number, minute: number): QueryRow => ({
    _id: `${country}-${index}-${minute}`,
    _time: at(index, minute),
    user: 'ada',
    country,
  });
  const home = Array.from({ length: 40 }, (_, index) => [signIn('SE', index, 10)]);
  const after = (hours: number, ...last: QueryRow[]): Candidate => {
    const empty = Array.from({ length: hours }, (): QueryRow[] => []);
    return analyzeInTurn([...home, ...empty, last], definition).candidates[0]!;
  };

  test('a far country within 35 minutes is high, after a flight it is medium', () => {
    expect(after(0, signIn('SE', 40, 5), signIn('NG', 40, 40))).toMatchObject({
      severity: 'high',
      facts: { travelFrom: 'Sweden', travelTo: 'Nigeria', travelMinutes: 35, impossibleTravel: true },
    });
    const flown = after(30, signIn('NG', 70, 40));
    expect(flown).toMatchObject({ severity: 'medium', facts: { impossibleTravel: false } });
    expect(flown.facts['travelKmh']).toBeLessThan(1_000);
  });

  test('compares with the last window, with the end of the trip first, and with coordinates', () => {
    expect(after(0, signIn('NG', 40, 5))).toMatchObject({ severity: 'high', facts: { travelMinutes: 55 } });
    expect(after(0, signIn('NG', 40, 5), signIn('SE', 40, 50))).toMatchObject({ facts: { travelMinutes: 45 } });
    const located = { ...signIn('SE', 40, 30), country: 'XX', geo: { lat: 6.5, lon: 3.4 } };
    expect(after(0, located)).toMatchObject({ severity: 'high', facts: { travelTo: '6.5,3.4' } });
  });

  test('a neighboring country is no travel', () => {
    expect(after(0, signIn('NO', 40, 11))).toMatchObject({ severity: 'medium', facts: { impossibleTravel: false } });
  });

  test('a country where others often are is low, and medium if the move is impossible', () => {
    const others = ['bob', 'cem', 'dan', 'eve'].map((user) => ({ ...signIn('US', 0, 1), user }));
    const past = home.map((rows) => [...rows, ...others]);
    const last = (index: number) => [signIn('US', index, 30)];
    const rest = Array.from({ length: 30 }, (): QueryRow[] => []);
    expect(analyzeInTurn([...past, ...rest, last(70)], definition).candidates).toMatchObject([{ severity: 'low' }]);
    expect(analyzeInTurn([...past, last(40)], definition).candidates).toMatchObject([{ severity: 'medium' }]);
  });

  test('groups without times count with the whole of their windows', () => {
    const group = (country: string): QueryRow => ({ user: 'ada', country, n: 1 });
    const [candidate] = candidatesAfter([group('SE')], [group('SE'), group('NG')], true);
    expect(candidate).toMatchObject({ severity: 'high', facts: { travelMinutes: hourMs / 60_000 } });
  });
});

describe('consecutive places at a minimum speed', () => {
  const file = join(getTestDir(), 'travel.mmdb');
  const open = (paths: string[]) => openGeoDatabases({ dataDir: getTestDir(), paths }, { warn: () => undefined });
  beforeAll(() => {
    writeFileSync(file, someMmdb());
    open([file]);
  });
  afterAll(() => open([]));
  const fast = definitionOf('first_occurrence', { entityField: 'user', tuning: { minimumSpeedKmh: 1000 } });
  const [oslo, singapore] = ['8.8.8.8', '9.9.9.9'];
  const signIn = (source_ip: string, index: number, minute: number, more: QueryRow = {}): QueryRow => ({
    _id: `${source_ip}-${index}-${minute}`,
    _time: new Date(hour(index).from.getTime() + minute * 60_000).toISOString(),
    user: 'ada',
    source_ip,
    ...more,
  });
  const find = (...windows: QueryRow[][]) => analyzeInTurn(windows, fast).candidates;

  test('finds a move in one window and between windows, also between places that are known', () => {
    const [candidate] = find([
      signIn(oslo, 0, 5),
      signIn(oslo, 0, 10),
      signIn(singapore, 0, 40),
      signIn('1.1.1.1', 0, 50),
    ]);
    expect(candidate).toMatchObject({
      entity: 'ada',
      severity: 'medium',
      facts: {
        travelFrom: '59.9,10.7',
        travelTo: '1.3,103.8',
        travelMinutes: 30,
        impossibleTravel: true,
        candidateRows: 2,
      },
    });
    expect(candidate!.facts['travelKm']).toBeGreaterThan(9_900);
    expect(candidate!.facts['travelKmh']).toBeGreaterThan(19_000);
    expect(candidate!.rows.map(({ fields }) => fields['source_ip'])).toEqual([oslo, singapore]);
    const both = [[signIn(singapore, 0, 5)], ...Array.from({ length: 20 }, () => []), [signIn(oslo, 21, 50)]];
    expect(find(...both)).toEqual([]);
    expect(find(...both, [signIn(singapore, 22, 20)])).toMatchObject([{ facts: { travelMinutes: 30 } }]);
    expect(find(...both, [signIn(oslo, 22, 20)])).toEqual([]);
    // An event that arrives late counts with its own time.
    const late = [[signIn(oslo, 0, 5)], [signIn(singapore, -30, 5)]];
    expect([find(...late), find(...late, [signIn(oslo, 2, 5)])]).toEqual([[], []]);
  });

  test('a place in the row takes precedence over that of its address, and a slow move is not reported', () => {
    const norway = { country: 'NO' };
    expect(find([signIn(oslo, 0, 5), signIn(singapore, 0, 40, norway)])).toEqual([]);
    expect(find([signIn(oslo, 0, 5)], ...Array.from({ length: 19 }, () => []), [signIn(singapore, 20, 5)])).toEqual([]);
    const verdict = createAnalystVerdict(find([signIn(oslo, 0, 5), signIn(singapore, 0, 40)])[0]!, detectionTexts);
    expect(verdict.headline).toBe('Example detection: user ada in 59.9,10.7 and 1.3,103.8 within 35 minutes');
    expect(verdict.summary).toMatch(
      /at a speed of at least 1\d{4} km\/h.* km apart, with 35 minutes or less in between, faster than any flight\./,
    );
  });
});

describe('administrative operations', () => {
  const call = (user: string, eventName: string): QueryRow => ({ user, eventName });
  const past = (index: number): QueryRow[] => [
    call('ci', 'CreateStack'),
    call('app', 'GetItem'),
    ...(index === 100 ? [call('ci', 'CreateFunction')] : []),
  ];
  const after = (last: QueryRow): Candidate =>
    analyzeInTurn([...Array.from({ length: 190 }, (_, index) => past(index)), [last]], definition).candidates[0]!;

  test('a new kind of workload explains another one, but no new rights', () => {
    expect(after(call('ci', 'CreateQueue'))).toMatchObject({
      severity: 'low',
      facts: { expectedBecause: 'often new' },
    });
    expect(after(call('ci', 'CreateLoginProfile'))).toMatchObject({ severity: 'medium' });
    expect(after(call('app', 'StopLogging'))).toMatchObject({ severity: 'medium' });
  });
});
