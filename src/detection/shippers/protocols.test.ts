import fc from 'fast-check';
import snappy from 'snappyjs';
import { expect, test } from 'vitest';
import { decodeBody } from '../../../test/support/detection/decode-body.ts';
import { pushRequest } from './formats/loki-decoder.ts';
import { logsRequest } from './formats/otlp-decoder.ts';

const at = '2026-03-01T10:00:00.000Z';
const seconds = Date.parse(at) / 1000;
const nanos = `${seconds}000000000`;

test.each<[string, string, object[]]>([
  [
    'an object with metadata',
    JSON.stringify({ time: seconds, host: 'web1', sourcetype: 'aws:cloudtrail', event: { eventName: 'X' } }),
    [
      {
        item: 1,
        dataset: 'aws_cloudtrail',
        event: { eventName: 'X', time: seconds, host: 'web1', sourcetype: 'aws:cloudtrail' },
        time: at,
      },
    ],
  ],
  [
    'text, text that is JSON, and fields, one after another',
    '{"event":"a } \\" {"}{"event":"{\\"n\\":1}","fields":{"n":2,"m":3}} , {"event":5}',
    [
      { item: 1, dataset: 'splunk', event: { message: 'a } " {' } },
      { item: 2, dataset: 'splunk', event: { n: 1, m: 3 } },
      { item: 3, dataset: 'splunk', event: { message: '5' } },
    ],
  ],
  [
    'an array, and rejected events among others',
    '[{"event":""},{"host":"a"},{"event":{"n":1},"fields":7},{"event":{"n":2}}]{"event":',
    [
      { item: 1, dataset: '', event: 'Event field cannot be blank' },
      { item: 2, dataset: '', event: 'Event field is required' },
      { item: 3, dataset: '', event: 'Error in handling indexed fields: fields is not an object' },
      { item: 4, dataset: 'splunk', event: { n: 2 } },
      { item: 5, dataset: '', event: 'Invalid data format: not valid JSON in UTF-8' },
    ],
  ],
])('decodes HEC events: %s', (_name, body, expected) => {
  expect(decodeBody({ kind: 'hec-event', defaults: {} }, body)).toEqual(expected);
});

test('splits HEC events into the same, wherever the slices end', () => {
  const events = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }), { minLength: 1 });
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 30 }), fc.constantFrom('', '\n', ' , '), (list, size, between) => {
      const body = list.map((event) => JSON.stringify({ event: { content: event } })).join(between);
      const decoded = decodeBody({ kind: 'hec-event', defaults: {} }, body, size);
      const wellFormed = JSON.parse(JSON.stringify(list)) as unknown[];
      expect(decoded.map(({ event }) => (event as { content: unknown }).content)).toEqual(wellFormed);
    }),
    { numRuns: 100, examples: [[[{ a: '\\' }, { b: '"]}' }], 1, '']] },
  );
});

test('decodes raw HEC lines with the metadata of the request', () => {
  const defaults = { sourcetype: 'linux:secure', host: 'web1' };
  expect(decodeBody({ kind: 'hec-raw', defaults }, '[1] first\r\n\n{"user":"ana"}\n')).toEqual([
    { item: 1, dataset: 'linux_secure', event: { message: '[1] first', ...defaults } },
    { item: 3, dataset: 'linux_secure', event: { user: 'ana', ...defaults } },
  ]);
});

const otlp = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] },
      scopeLogs: [
        {
          scope: { name: 'app', version: '1' },
          logRecords: [
            {
              timeUnixNano: nanos,
              severityNumber: 9,
              severityText: 'INFO',
              body: { stringValue: 'paid' },
              attributes: [
                { key: 'n', value: { intValue: '7' } },
                { key: 'big', value: { intValue: '9007199254740993' } },
                { key: 'list', value: { arrayValue: { values: [{ boolValue: true }, { doubleValue: 0.5 }] } } },
              ],
            },
            {
              observedTimeUnixNano: nanos,
              body: { kvlistValue: { values: [{ key: 'a', value: { stringValue: 'b' } }] } },
            },
          ],
        },
      ],
    },
  ],
};

test.each(['json', 'protobuf'] as const)('decodes OTLP logs in %s', (encoding) => {
  const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
  const request = structuredClone(otlp);
  const isJson = encoding === 'json';
  const [first] = request.resourceLogs[0]!.scopeLogs[0]!.logRecords;
  Object.assign(first!, isJson ? ids : { traceId: base64(ids.traceId), spanId: base64(ids.spanId) });
  const body = isJson ? JSON.stringify(request) : logsRequest.encode(logsRequest.fromObject(request)).finish();
  const common = { '@timestamp': at, resource: { 'service.name': 'checkout' }, scope: { name: 'app', version: '1' } };
  const attributes = { n: 7, big: '9007199254740993', list: [true, 0.5] };
  const level = { severity: 'INFO', severity_number: 9, trace_id: ids.traceId, span_id: ids.spanId };
  expect(decodeBody({ kind: 'otlp', encoding }, body)).toEqual([
    { item: 1, dataset: 'checkout', event: { ...common, message: 'paid', ...level, attributes }, time: at },
    { item: 2, dataset: 'checkout', event: { ...common, a: 'b', attributes: {} }, time: at },
  ]);
});

test.each(['json', 'protobuf'] as const)('decodes Loki streams in %s', (encoding) => {
  const json = {
    streams: [
      {
        stream: { job: 'ssh/auth', host: 'a"b' },
        values: [
          [nanos, 'one', { user: 'ana' }],
          [nanos, '{"n":1}'],
        ],
      },
    ],
  };
  const entry = (line: string, structuredMetadata: object[] = []): object => ({
    timestamp: { seconds, nanos: 0 },
    line,
    structuredMetadata,
  });
  const message = {
    streams: [
      {
        labels: '{job="ssh/auth", host="a\\"b"}',
        entries: [entry('one', [{ name: 'user', value: 'ana' }]), entry('{"n":1}')],
      },
    ],
  };
  const packed = snappy.compress(Buffer.from(pushRequest.encode(pushRequest.fromObject(message)).finish()));
  const labels = { job: 'ssh/auth', host: 'a"b' };
  expect(decodeBody({ kind: 'loki', encoding }, encoding === 'json' ? JSON.stringify(json) : packed)).toEqual([
    { item: 1, dataset: 'ssh_auth', event: { message: 'one', user: 'ana', labels }, time: at },
    { item: 2, dataset: 'ssh_auth', event: { n: 1, labels }, time: at },
  ]);
});

test.each([
  ['otlp', 'json', '[]'],
  ['otlp', 'json', '{"resourceLogs":1}'],
  ['otlp', 'protobuf', '\u0001\u0002\u0003'],
  ['loki', 'json', '{}'],
  ['loki', 'json', '{"streams":[{"stream":{}}]}'],
  ['loki', 'protobuf', 'no snappy'],
] as const)('rejects an invalid %s body in %s: %s', (kind, encoding, body) => {
  expect(() => decodeBody({ kind, encoding }, body)).toThrow(/^The body is not|is not a list|without stream/);
});

test('rejects single Loki entries with the reason', () => {
  const body = JSON.stringify({ streams: [{ stream: {}, values: [[1, 'a'], [nanos, 2], 'x', [nanos, 'ok']] }] });
  expect(decodeBody({ kind: 'loki', encoding: 'json' }, body).map(({ event }) => event)).toEqual([
    'the time is not nanoseconds as text',
    'the line is not text',
    'the time is not nanoseconds as text',
    { message: 'ok', labels: {} },
  ]);
});
