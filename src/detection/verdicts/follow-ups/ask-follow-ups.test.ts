import fc from 'fast-check';
import { expect, test } from 'vitest';
import { candidatesOf, definitionOf, detectionTexts } from '../../../../test/support/detection/analysis-examples.ts';
import { observationOf } from '../../../../test/support/detection/verdict-examples.ts';
import type { BoundTool } from '../../tools/tool-definition.ts';
import { createResult, toRow } from '../../tools/tool-result.ts';
import { createAnalystVerdict } from '../analyst/analyst.ts';
import { askFollowUps, followUpTools } from './ask-follow-ups.ts';
import { listEventCells, readCaseValues } from './case-values.ts';

const candidate = candidatesOf([{ _id: 'e1', user: 'ada', country: 'VU' }], definitionOf('custom'))[0]!;
const verdict = createAnalystVerdict(candidate, detectionTexts);

type Row = Record<string, unknown>;

/** Returns the analyst's tools, each of which returns the rows that `rowsOf` returns for its call. */
const toolsOf = (rowsOf: (name: string, input: Row) => Row[]): BoundTool[] =>
  followUpTools.map((name) => ({
    name,
    description: name,
    inputSchema: {},
    effect: 'read',
    source: name === 'lookup_indicator' ? 'outside' : name.endsWith('s') || name === 'count_by' ? 'events' : 'records',
    isTrusted: false,
    parse: (input) => ({ input }),
    run: async (input) =>
      createResult({
        from: new Date('2026-03-01T00:00:00Z'),
        to: new Date('2026-03-08T00:00:00Z'),
        rows: rowsOf(name, input as Row).map((row, index) => toRow(`r${index}`, row, '2026-03-04T00:00:00.000Z')),
        hasEvents: true,
      }),
  }));

const failing = (): never => {
  throw new Error('down');
};

const ask = (tools: BoundTool[], signal = new AbortController().signal) =>
  askFollowUps(verdict, candidate, {
    tools,
    sources: { datasets: ['signins'], fields: new Map() },
    hasEventIds: true,
    signal,
  });

test('adds nothing to a verdict if nothing is found or a tool fails', async () => {
  for (const rowsOf of [() => [], failing]) {
    const { verdict: followed, steps } = await ask(toolsOf(rowsOf));
    expect(followed).toEqual(verdict);
    expect(steps.at(-1)?.toolCalls).toMatchObject([{ name: 'submit_verdict', input: { verdict: 'raise' } }]);
  }
});

test('searches for the values of the events under the names that they have in the logs', async () => {
  const asked: Row[] = [];
  const event = { userIdentity: { userName: 'Ada' }, source: { ip: '203.0.113.9' }, eventName: 'Sign-in' };
  const tools = toolsOf((name, input) => {
    if (name === 'count_by') asked.push(input);
    return name === 'search_logs' ? [event] : [];
  });
  await ask(tools);
  expect(asked).toMatchObject([
    { field: 'userIdentity.userName', where: [{ field: 'source.ip', value: '203.0.113.9' }] },
    { field: 'eventName', where: [{ field: 'userIdentity.userName', value: 'Ada' }] },
    { dataset: 'signins', where: [{ field: 'userIdentity.userName', value: 'Ada' }] },
  ]);
});

test('throws the reason of its signal', async () => {
  const controller = new AbortController();
  controller.abort(new Error('stopped'));
  await expect(ask(toolsOf(failing), controller.signal)).rejects.toThrow('stopped');
});

/** What each tool returns about a text. */
const answerWith = (text: string): Record<string, (input: Row) => Row> => ({
  search_logs: () => ({ user: 'ada', source: { ip: '203.0.113.7' }, action: text, [text.slice(0, 20)]: text }),
  count_by: ({ field = 'from' }) => ({ [String(field)]: text, events: 3 }),
  entity_profile: () => ({ kind: text.length % 2 ? 'hit' : 'list', detection: text, status: 'open', list: text }),
  related_hits: () => ({ detection: text, entity: text }),
  lookup_indicator: ({ value }) => ({ value, status: 'active', title: text }),
});

test('proves every claim, whatever the logs and records contain', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 130 }),
    fc.lorem({ mode: 'sentences', maxCount: 2 }),
    fc.constantFrom(
      'ada',
      '10.0.0.9',
      '“ada” did 5',
      'a.b 12:30',
      'x'.repeat(700),
      '2026-03-02',
      '$&',
      'C:\\a b.exe "x"',
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 6 }), async (texts) => {
      const tools = toolsOf((name, input) => texts.map((one) => answerWith(one)[name]!(input)));
      const { verdict: followed } = await ask(tools);
      expect(followed.claims.length).toBeGreaterThan(verdict.claims.length);
      expect(followed.claims.filter(({ status }) => status === 'unproven')).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('knows an entity in any case, and prefers external addresses', () => {
  const observation = observationOf('o1', { host: 'WEB-01', user: 'ADA', dst: '10.0.0.8', src: '198.51.100.4' });
  expect(readCaseValues(candidate, 'signins', listEventCells(observation))).toMatchObject({
    entity: { field: 'user', value: 'ADA' },
    address: { field: 'src' },
    newValue: undefined,
  });
  const bob = listEventCells(observationOf('o1', { user: 'bob' }));
  expect(readCaseValues(candidate, 'signins', bob)).toBeUndefined();
});
