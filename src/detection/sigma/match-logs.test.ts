import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { event, expression, fieldNames } from '../../../test/support/detection/sigma/sigma-fuzz.ts';
import { createLogRuleSet, matchLogs, planMatches } from '../log-query/search/match-logs.ts';
import type { Expression, ValueTest } from '../matching/expression.ts';
import type { QueryWindow, SearchResult } from '../siem/connector.ts';
import type { RuleQuery } from '../siem/dialects/dialect.ts';
import { duckdb } from '../siem/dialects/duckdb.ts';
import { toLogRule } from './rule-sets.ts';

const store = await startLogStore();
const [from, to] = [new Date('2024-06-01T00:00:00Z'), new Date('2024-06-01T01:00:00Z')];
const window: QueryWindow = { from, to, clock: 'slot', ingestedBefore: to, lateSince: new Date(0) };
const signal = new AbortController().signal;
const ruleQuery = (where: Expression, names: (name: string) => string[] = (name) => [name]): RuleQuery => ({
  table: 'd',
  time: '_time',
  fields: fieldNames.map((name) => ({ name, names: names(name) })),
  columns: ['f', 'Deep.Inner'],
  constants: { severity: 'low', technique: 'T1059' },
  where,
});

/** Compares the results of rules as a set with their results as queries. */
async function expectSame(
  orgId: Awaited<ReturnType<typeof store.newOrg>>,
  queries: RuleQuery[],
): Promise<SearchResult[]> {
  const plan = await planMatches(store.deps, orgId, { dataset: 'd', window }, signal);
  const results = await matchLogs(store.deps, orgId, plan!, createLogRuleSet(queries.map(toLogRule)));
  for (const [index, query] of queries.entries()) {
    const sql = duckdb.writeRule(query);
    const { ms: _ms, kinds: _kinds, ...alone } = await store.search(orgId, sql, window);
    const { ms: _setMs, ...inSet } = results[index]!;
    expect([sql, inSet]).toEqual([sql, alone]);
  }
  return results as SearchResult[];
}

test('rules as a set return what they return as queries', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  await store.send(org, 'd', fc.sample(event, { numRuns: 60, seed: 3 }));
  store.at('2024-06-01T00:40:00Z');
  // Values of other types in the same columns, and another spelling of a key.
  await store.send(org, 'd', [{ f: 5, g: [1, 'a'], Deep: { Inner: 1.5 } }, { F: true, Deep: 'x' }, { f: { a: 'b' } }]);
  store.at('2024-06-01T02:00:00Z');
  await store.send(org, 'd', [{ f: 'outside of the window' }]);
  const results = await expectSame(
    org,
    fc.sample(expression, { numRuns: 36, seed: 4 }).map((where) => ruleQuery(where)),
  );
  expect(results.some(({ total }) => total > 0 && total < 60)).toBe(true);
});

test('missing columns, alternatives and the text of events are the same as in a query', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  await store.send(org, 'd', [
    { f: 'a', 'with.dots': 'x', user: 'me', note: 'Find "ME" here' },
    { Deep: { Inner: 'a', other: 1 }, text: 'nothing' },
  ]);
  const contains = (field: string | null, text: string): Expression => ({
    kind: 'match',
    field,
    test: { kind: 'text', cased: false, pattern: [{ wildcard: '*' }, { text }, { wildcard: '*' }] },
  });
  const results = await expectSame(org, [
    ruleQuery(contains('f', 'a'), (name) =>
      name === 'f' ? ['missing', 'no.path', 'Deep.missing', 'Deep.Inner', 'f'] : [name],
    ),
    ruleQuery(contains('f', 'x'), (name) => (name === 'f' ? ['with.dots', 'session_user'] : [name])),
    ruleQuery(contains(null, 'find "me"')),
    ruleQuery({ kind: 'not', of: contains('g', 'b') }),
  ]);
  expect(results.map(({ total }) => total)).toEqual([2, 1, 1, 2]);
});

test('tests of the text of events see all escapes', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  const notes = String.raw`mimikatz|MIMIKATZ|\u006dimikatz|\u004DIMIKATZ|\\u006dimikatz|mi/kiwi|mi\/\u212aIWI|K\u0130WI|\u212aiwi|a \"b\" c|\u00e9|none`;
  await store.send(
    org,
    'd',
    notes
      .split('|')
      .map((note) => `{"f": "x", "note": "${note}"}`)
      .join('\n'),
  );
  const match = (field: string | null, valueTest: ValueTest): Expression => ({ kind: 'match', field, test: valueTest });
  const contains = (value: string, cased = false): Expression =>
    match(null, { kind: 'text', cased, pattern: [{ wildcard: '*' }, { text: value }, { wildcard: '*' }] });
  const regex = (source: string): Expression => match(null, { kind: 'regex', source, flags: ['i'] });
  const isX = match('f', { kind: 'text', cased: false, pattern: [{ text: 'x' }] });
  // Each set has a filter of its own.
  const sets: Expression[][] = [
    [contains('mimikatz'), contains('kiwi'), contains('MIMI', true)],
    [contains('mi/kiwi'), contains('"b"')],
    [
      { kind: 'not', of: contains('mimikatz') },
      { kind: 'any', of: [contains('é'), contains('katz')] },
    ],
    [{ kind: 'all', of: [isX, contains('kiwi'), { kind: 'not', of: contains('mi/') }] }],
    [{ kind: 'any', of: [isX, contains('kiwi')] }, regex('mimi.*'), regex('k.wi')],
    [regex('a|b'), contains('é')],
  ];
  const totals: number[][] = [];
  for (const set of sets)
    totals.push(
      (
        await expectSame(
          org,
          set.map((where) => ruleQuery(where)),
        )
      ).map(({ total }) => total),
    );
  expect(totals.flat().every((total) => total > 0)).toBe(true);
});

test('random tests of the text of events are the same in a query', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  await store.send(org, 'd', fc.sample(event, { numRuns: 40, seed: 5 }));
  const ofText = (where: Expression): Expression => {
    if (where.kind === 'not') return { kind: 'not', of: ofText(where.of) };
    if (where.kind !== 'match') return { kind: where.kind, of: where.of.map(ofText) };
    return where.field === 'f' && ['text', 'regex'].includes(where.test.kind) ? { ...where, field: null } : where;
  };
  const wheres = fc.sample(expression, { numRuns: 36, seed: 6 }).map(ofText);
  for (let at = 0; at < wheres.length; at += 3)
    await expectSame(
      org,
      wheres.slice(at, at + 3).map((where) => ruleQuery(where)),
    );
});

test('rules on a dataset that never had an event have no rows and say so', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  await store.send(org, 'dd', [{ f: 'a' }]);
  const [result] = await expectSame(org, [ruleQuery({ kind: 'not', of: { kind: 'any', of: [] } })]);
  expect(result).toMatchObject({ total: 0, noData: true, warnings: [{ code: 'no_data' }] });
});

test('the rows of a rule are in the order of their microseconds', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  const times = [0, 1, 2, 10, 100].map((micros) => `2024-06-01T00:20:00.000${String(micros).padStart(3, '0')}Z`);
  await store.send(
    org,
    'd',
    times.map((time, n) => ({ f: `${n}`, time, eventID: `one-millisecond-${9 - n}` })),
  );
  const [result] = await expectSame(org, [ruleQuery({ kind: 'not', of: { kind: 'any', of: [] } })]);
  expect(result!.rows.map((row) => row['f'])).toEqual(['0', '1', '2', '3', '4']);
});

test('a rule with too many rows has no result, and the others keep theirs', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  await store.send(
    org,
    'd',
    Array.from({ length: 10_050 }, (_, n) => ({ f: n === 7 ? 'seven' : 'other' })),
  );
  const equals = (text: string): RuleQuery =>
    ruleQuery({ kind: 'match', field: 'f', test: { kind: 'text', cased: false, pattern: [{ text }] } });
  const plan = await planMatches(store.deps, org, { dataset: 'd', window }, signal);
  const [many, one] = await matchLogs(
    store.deps,
    org,
    plan!,
    createLogRuleSet([equals('OTHER'), equals('seven')].map(toLogRule)),
  );
  expect([many, one?.total]).toEqual([null, 1]);
});

test('windows of detections of different ages are one set unless an event is late', async () => {
  const [older, newer] = ['2024-05-01T00:00:00Z', '2024-06-01T00:10:00Z'];
  const hasOneKey = async (time: string): Promise<boolean> => {
    const org = await store.newOrg();
    store.at('2024-06-01T00:30:00Z');
    await store.send(org, 'd', [{ f: 'a', time }], { timeField: 'time' });
    const keys = new Set<string>();
    for (const lateSince of [older, newer].map((text) => new Date(text)))
      keys.add((await planMatches(store.deps, org, { dataset: 'd', window: { ...window, lateSince } }, signal))!.key);
    return keys.size === 1;
  };
  expect(await hasOneKey('2024-06-01T00:20:00Z')).toBe(true);
  expect(await hasOneKey('2024-06-01T00:05:00Z')).toBe(false);
});
