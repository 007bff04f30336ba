import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventBytesMax } from '../events/parse-event.ts';
import { createEventSplitter } from './split-events.ts';

type SplitEvent = { line: number; text: string; tooLarge: boolean };

function split(body: Buffer, sizes: number[]): SplitEvent[] {
  const splitter = createEventSplitter();
  const results: SplitEvent[] = [];
  const collect = (events: ReturnType<typeof splitter.push>): void => {
    for (const { line, bytes, tooLarge } of events)
      results.push({ line, text: bytes.toString().trim(), tooLarge: tooLarge === true });
  };
  for (let offset = 0, turn = 0; offset < body.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    collect(splitter.push(body.subarray(offset, offset + size)));
    offset += size;
  }
  collect(splitter.end());
  return results;
}

const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

const forms: Record<string, (events: unknown[]) => string> = {
  lines: (events) => events.map((event) => JSON.stringify(event)).join('\n'),
  'lines with CRLF': (events) => events.map((event) => `${JSON.stringify(event)}\r\n`).join(''),
  'objects over lines': (events) => events.map((event) => JSON.stringify(event, null, 2)).join('\n'),
  'objects over lines with CRLF': (events) =>
    events.map((event) => `${JSON.stringify(event, null, '\t')}\n`.replaceAll('\n', '\r\n')).join(''),
  'an array': (events) => JSON.stringify(events),
  'an indented array': (events) => JSON.stringify(events, null, 2),
  Records: (events) => JSON.stringify({ Records: events }),
  'indented Records': (events) => JSON.stringify({ Records: events }, null, 2),
  'consecutive files': (events) =>
    `${JSON.stringify({ Records: events.slice(0, 1) })}\n${JSON.stringify({ Records: events.slice(1) })}`,
  'a list with metadata around it': (events) =>
    JSON.stringify({ kind: 'List', metadata: { a: ['}', ']'] }, items: events, nextPageToken: 'x"]}' }),
  'an indented list with metadata': (events) => JSON.stringify({ '@odata.context': 'x', value: events }, null, 2),
  'a line per envelope': (events) => events.map((event) => JSON.stringify({ records: [event] })).join('\n'),
  'an array of envelopes': (events) =>
    JSON.stringify([{ records: events.slice(0, 2) }, { records: [] }, { records: events.slice(2) }]),
  'lines, then an envelope': (events) =>
    [...events.slice(0, 1).map((event) => JSON.stringify(event)), JSON.stringify({ items: events.slice(1) })].join(
      '\n',
    ),
};

test.each(Object.keys(forms))('splits %s into the same events, wherever the chunks end', (form) => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 6 }), sizes, (events, cuts) => {
      const results = split(Buffer.from(forms[form]!(events)), cuts);
      expect(results.map(({ text }) => JSON.parse(text) as unknown)).toEqual(JSON.parse(JSON.stringify(events)));
      expect(results.map(({ line }) => line)).toEqual(events.map((_, index) => index + 1));
    }),
    { numRuns: 100 },
  );
});

test('a broken line or element does not affect the others', () => {
  expect(split(Buffer.from('{"a":1}\n{broken\n\n{"a":2}'), [7])).toEqual([
    { line: 1, text: '{"a":1}', tooLarge: false },
    { line: 2, text: '{broken', tooLarge: false },
    { line: 4, text: '{"a":2}', tooLarge: false },
  ]);
  expect(split(Buffer.from('[{"a":1},,{"a":2} x]'), [7]).map(({ text }) => text)).toEqual(['{"a":1}', '', '{"a":2} x']);
});

test('an object over lines that does not end is one invalid event', () => {
  const rest = '{\n  "a": {\n    "b": 1\n  }\n';
  expect(split(Buffer.from(`{"a":1}\n${rest}`), [7]).map(({ text }) => text)).toEqual(['{"a":1}', rest.trim()]);
});

test.each(['[', '[{"a":1}', '[{"a":1},', '{"Records":[{"a":1}', '{"Records":[{"a":1}]', '{"Records":[{"a":1}]]'])(
  'rejects %s as incomplete',
  (body) => {
    expect(() => split(Buffer.from(body), [5])).toThrow('does not end correctly');
  },
);

test.each([
  '{"items":[{"sku":1},{"sku":2}],"user":"ana"}',
  '{"user":"ana","items":[{"sku":1},{"sku":2}]}',
  '{"items":["a","b"]}',
  '{"value":5}',
  '{"items":[{"a":1}],"data":[{"a":1}]}',
  '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","items":[{"a":1}]}',
])('keeps %s as one event', (text) => {
  for (const body of [text, `[${text}]`, `{"a":1}\n${text}`])
    for (const size of [1, 9, 1_000]) expect(split(Buffer.from(body), [size]).at(-1)?.text).toBe(text);
});

test('reads an envelope that is larger than an event without buffering it', () => {
  const elements = Array.from({ length: 3_000 }, (_, n) => ({ n, text: 'x'.repeat(1_000) }));
  const body = Buffer.from(
    JSON.stringify({ kind: 'EventList', items: elements, metadata: { pages: '}'.repeat(2_000_000) } }),
  );
  const results = split(body, [65_536]);
  expect(results.map(({ text }) => (JSON.parse(text) as { n: number }).n)).toEqual(elements.map(({ n }) => n));
});

test('a broken envelope on a line does not affect the other lines', () => {
  const lines = ['{"a":1}', '{"items":[{"b":', '{"items":[{"c":1}]}', '{"items":"', '{"d":1}'];
  const results = split(Buffer.from(lines.join('\n')), [5]);
  expect(results.map(({ text }) => text)).toEqual([lines[0], lines[1], '{"c":1}', lines[3], lines[4]]);
});

test('adds the log group and the account to the events of CloudWatch Logs', () => {
  const body = {
    messageType: 'DATA_MESSAGE',
    owner: '123456789012',
    logGroup: '/aws/lambda/x',
    logStream: 's',
    subscriptionFilters: ['all'],
    logEvents: [{ id: '1', timestamp: 1_795_849_200_000, message: 'm' }, {}],
  };
  expect(split(Buffer.from(JSON.stringify(body)), [50]).map(({ text }) => JSON.parse(text) as unknown)).toEqual([
    {
      owner: '123456789012',
      logGroup: '/aws/lambda/x',
      logStream: 's',
      id: '1',
      timestamp: 1_795_849_200_000,
      message: 'm',
    },
    { owner: '123456789012', logGroup: '/aws/lambda/x', logStream: 's' },
  ]);
});

test('skips oversized events without buffering them', () => {
  const large = 'x'.repeat(3 * eventBytesMax);
  for (const body of [`{"a":"${large}"}\n{"b":1}\n`, `[{"a":"${large}"},{"b":1}]`]) {
    const results = split(Buffer.from(body), [65_536]);
    expect(results.map(({ line, tooLarge }) => [line, tooLarge])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(results[1]!.text).toBe('{"b":1}');
  }
});

test('ignores a byte order mark, empty bodies and blank lines', () => {
  expect(split(Buffer.from('\ufeff{"a":1}'), [1])).toEqual([{ line: 1, text: '{"a":1}', tooLarge: false }]);
  expect(split(Buffer.from(' \n\n '), [1])).toEqual([]);
  expect(split(Buffer.from('[]'), [1])).toEqual([]);
});
