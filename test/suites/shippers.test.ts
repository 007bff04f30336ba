import { gzipSync, zstdCompressSync } from 'node:zlib';
import { Client as ElasticsearchClient } from '@elastic/elasticsearch';
import { Client as OpenSearchClient } from '@opensearch-project/opensearch';
import { OTLPLogExporter as JsonExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { describe, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../support/harness.ts';

const { app, newOrg, newKey } = await startApp();
const base = await app.listen({ port: 0, host: '127.0.0.1' });
const org = await newOrg();
const shipper = await newKey(org, ['logs:write']);

/** Returns the rows of a query over all events of an organization. */
async function select(query: string, owner: TestOrg = org): Promise<unknown[]> {
  const window = { from: '1990-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
  const { status, body } = await owner.call('POST', '/api/logs/search', { query, ...window });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.rows;
}

const ndjson = { 'content-type': 'application/x-ndjson' };
const bulk = (lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

describe('the official clients', () => {
  const documents = Array.from({ length: 500 }, (_, n) => ({ n, '@timestamp': '2026-03-01T10:00:00Z' }));

  test("Elasticsearch's bulk helper stores every document once", async () => {
    const client = new ElasticsearchClient({ node: `${base}/elasticsearch`, auth: { apiKey: shipper.key } });
    expect((await client.info()).version.number).toMatch(/^8\./);
    const send = () =>
      client.helpers.bulk({
        datasource: documents,
        flushBytes: 5_000,
        compression: true,
        onDocument: ({ n }: { n: number }) => ({ create: { _index: 'logs-elastic.client-default', _id: `doc-${n}` } }),
      } as never);
    expect(await send()).toMatchObject({ total: 500, successful: 500, failed: 0 });
    // The helper counts conflicts as failed, as it does with Elasticsearch.
    await send();
    expect(await select('select count(*) as n, count(distinct n) as d from elastic_client')).toEqual([
      { n: 500, d: 500 },
    ]);
    await client.close();
  });

  test("OpenSearch's bulk helper stores every document once", async () => {
    const client = new OpenSearchClient({ node: `${base.replace('//', `//shipper:${shipper.key}@`)}/opensearch` });
    expect((await client.info()).body.version.distribution).toBe('opensearch');
    const send = () =>
      client.helpers.bulk({
        datasource: documents,
        flushBytes: 5_000,
        onDocument: ({ n }: { n: number }) => ({ index: { _index: 'opensearch-2026.03.01', _id: `doc-${n}` } }),
      } as never);
    expect(await send()).toMatchObject({ total: 500, successful: 500, failed: 0 });
    expect(await send()).toMatchObject({ total: 500, successful: 500, failed: 0 });
    expect(await select('select count(*) as n, count(distinct n) as d from opensearch')).toEqual([{ n: 500, d: 500 }]);
    await client.close();
  });
});

test.each([
  ['JSON', JsonExporter],
  ['protobuf', ProtobufExporter],
])("OpenTelemetry's exporter sends logs in %s", async (name, Exporter) => {
  const url = `${base}/v1/logs`;
  const exporter = new Exporter({ url, headers: { authorization: `Bearer ${shipper.key}` } });
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
  const logger = provider.getLogger('checkout');
  const timestamp = new Date('2026-03-01T10:00:00.000Z');
  for (let n = 0; n < 50; n += 1)
    logger.emit({ timestamp, body: `order ${n} by ${name}`, attributes: { n, 'event.dataset': `otel_${name}` } });
  await provider.forceFlush();
  await provider.shutdown();
  const dataset = `otel_${name.toLowerCase()}`;
  expect(await select(`select count(*) as n, min(_time) as t, sum(attributes.n) as s from ${dataset}`)).toEqual([
    { n: 50, t: '2026-03-01T10:00:00.000Z', s: expect.anything() },
  ]);
});

describe('requests of other shippers', () => {
  test('Filebeat: set-up, then bulk requests with a filter of the response', async () => {
    const filebeat = {
      ...shipper,
      call: (method: 'GET' | 'HEAD' | 'PUT' | 'POST', url: string, body?: string | Buffer, more = {}) =>
        shipper.call(method, `/elasticsearch${url}`, body, {
          authorization: `ApiKey ${Buffer.from(`filebeat:${shipper.key}`).toString('base64')}`,
          'x-elastic-product-origin': 'beats',
          ...more,
        }),
    };
    expect((await filebeat.call('GET', '/')).headers['x-elastic-product']).toBe('Elasticsearch');
    expect((await filebeat.call('GET', '/_license?human=false')).body.license.status).toBe('active');
    for (const url of ['/_ilm/policy/filebeat', '/_index_template/filebeat-8.15.0', '/_data_stream/filebeat-8.15.0']) {
      expect((await filebeat.call('HEAD', url)).status).toBe(200);
      expect((await filebeat.call('PUT', url, '{}')).body).toEqual({ acknowledged: true });
    }
    const event = { '@timestamp': '2026-03-01T10:00:00.000Z', message: 'session opened', agent: { type: 'filebeat' } };
    const body = bulk([
      { create: { _index: 'filebeat-8.15.0' } },
      event,
      { create: { _index: 'filebeat-8.15.0' } },
      [],
    ]);
    const answer = await filebeat.call(
      'POST',
      '/_bulk?filter_path=errors,items.*.error,items.*.status',
      gzipSync(body),
      {
        'content-type': 'application/vnd.elasticsearch+json; compatible-with=8',
        'content-encoding': 'gzip',
      },
    );
    expect(answer).toMatchObject({
      status: 200,
      body: {
        errors: true,
        items: [
          { create: { status: 201 } },
          { create: { status: 400, error: { type: 'document_parsing_exception', reason: 'not a JSON object' } } },
        ],
      },
    });
    expect(Object.keys(answer.body)).toEqual(['errors', 'items']);
    expect(await select('select message, _time from filebeat')).toEqual([
      { message: 'session opened', _time: '2026-03-01T10:00:00.000Z' },
    ]);
  });

  test('Logstash, Vector and Fluent Bit: a repeated body adds nothing', async () => {
    const basic = { authorization: `Basic ${Buffer.from(`any:${shipper.key}`).toString('base64')}`, ...ndjson };
    const requests = [
      [
        '/elasticsearch/_bulk?filter_path=errors,items.*.error,items.*.status',
        { index: { _index: 'logstash-2026.11.23' } },
      ],
      ['/elasticsearch/_bulk?timeout=60s', { create: { _index: 'vector-2026.11.23' } }],
      ['/elasticsearch/fluent-bit/_bulk', { create: {} }],
    ] as const;
    for (const [url, action] of requests)
      for (const encode of [Buffer.from, gzipSync, zstdCompressSync] as ((text: string) => Buffer)[]) {
        const answer = await shipper.call('POST', url, encode(bulk([action, { message: url }])), basic);
        expect(answer).toMatchObject({ status: 200, body: { errors: false } });
      }
    const counts =
      'select (select count(*) from logstash) as a, (select count(*) from vector) as b, (select count(*) from fluent_bit) as c';
    expect(await select(counts)).toEqual([{ a: 1, b: 1, c: 1 }]);
    expect((await shipper.call('GET', '/elasticsearch/_cluster/health', undefined, basic)).body.status).toBe('green');
    expect((await shipper.call('GET', '/elasticsearch/_xpack', undefined, basic)).body.features.ilm.enabled).toBe(true);
  });
});

test('an ID is stored once, whatever body it comes in, and other events of the body are stored', async () => {
  const send = (ids: (string | undefined)[]) =>
    shipper.call(
      'POST',
      '/elasticsearch/ids/_bulk',
      bulk(ids.flatMap((id, n) => [{ create: id === undefined ? {} : { _id: id } }, { n, id, text: 'a\u2028b\n' }])),
      ndjson,
    );
  const statuses = async (ids: (string | undefined)[]) =>
    (await send(ids)).body.items.map((item: { create: { status: number } }) => item.create.status);
  expect(await statuses(['a', 'b', 'a'])).toEqual([201, 201, 409]);
  expect(await statuses(['b', 'c', undefined])).toEqual([409, 201, 201]);
  expect(await statuses(['c', 'a'])).toEqual([409, 409]);
  // A request that meets another one with the same IDs may be refused, and then succeeds when it is sent again.
  const racing = [
    ['x', 'y', '1'],
    ['y', 'x', '2'],
    ['x', 'y', 'z'],
  ];
  for (const { status } of await Promise.all(racing.map(send))) expect([200, 503]).toContain(status);
  for (const ids of racing) expect((await send(ids)).status).toBe(200);
  expect(await select('select id, count(*) as n, min(text) as t from ids group by id order by id nulls first')).toEqual(
    [null, '1', '2', 'a', 'b', 'c', 'x', 'y', 'z'].map((id) => ({ id, n: 1, t: 'a\u2028b\n' })),
  );
});

test('errors have the form of Elasticsearch', async () => {
  const reader = await newKey(org, ['detections:read']);
  const cases = [
    [shipper, 'not json\n', ndjson, 400, 'illegal_argument_exception'],
    [shipper, '', ndjson, 400, 'illegal_argument_exception'],
    [shipper, '{"index":{}}\n{}\n', { ...ndjson, 'content-encoding': 'br' }, 415, 'exception'],
    [reader, '{"index":{}}\n{}\n', ndjson, 403, 'security_exception'],
    [shipper, '{"index":{}}\n{}\n', { authorization: 'ApiKey wrong' }, 401, 'security_exception'],
  ] as const;
  for (const [key, body, headers, status, type] of cases)
    expect(await key.call('POST', '/elasticsearch/web/_bulk', body, headers)).toMatchObject({
      status,
      body: { status, error: { type, reason: expect.stringMatching(/^[A-Z].+\.$/) } },
    });
});

test('Splunk: events, raw lines, acknowledgments, health and errors', async () => {
  const headers = { authorization: `Splunk ${shipper.key}` };
  const send = (url: string, body: string, more: Record<string, string> = {}) =>
    shipper.call('POST', `/services/collector${url}`, body, { ...headers, ...more });
  expect(
    await send('/event', '{"event":{"n":1},"sourcetype":"hec:a"}{"event":"two","sourcetype":"hec:a"}'),
  ).toMatchObject({
    status: 200,
    body: { text: 'Success', code: 0 },
  });
  const acknowledged = await send('/raw?sourcetype=hec:raw', 'one\ntwo\n', { 'x-splunk-request-channel': 'c' });
  const { ackId } = acknowledged.body;
  expect(ackId).toBeTypeOf('number');
  const acks = await send('/ack?channel=c', JSON.stringify({ acks: [ackId, ackId * 2] }));
  expect(acks.body).toEqual({ acks: { [ackId]: true, [ackId * 2]: false } });
  expect(await send('/event', '{"event":{"n":3},"sourcetype":"hec:b"}{"host":"x"}')).toMatchObject({
    status: 400,
    body: { text: 'Event field is required.', code: 12, 'invalid-event-number': 1 },
  });
  expect(await send('/event', '')).toMatchObject({ status: 400, body: { code: 5 } });
  expect(await send('/ack', '{"acks":["a"]}')).toMatchObject({ status: 400, body: { code: 6 } });
  expect(await send('/event', '{}', { authorization: 'Splunk wrong' })).toMatchObject({
    status: 401,
    body: { code: 3 },
  });
  expect((await app.inject('/services/collector/health/1.0')).json()).toEqual({ text: 'HEC is healthy', code: 17 });
  const counts =
    'select (select count(*) from hec_a) as a, (select count(*) from hec_raw) as r, (select count(*) from hec_b) as b';
  expect(await select(counts)).toEqual([{ a: 2, r: 2, b: 1 }]);
});

test('Loki: pushes, and errors as text', async () => {
  const push = (body: string) => shipper.call('POST', '/loki/api/v1/push', body);
  const stream = (values: unknown[]) => JSON.stringify({ streams: [{ stream: { job: 'loki_job' }, values }] });
  expect((await push(stream([['1772359200000000000', 'one']]))).status).toBe(204);
  expect((await push(stream([['1772359200000000000', 'one']]))).status).toBe(204);
  expect(
    await push(
      stream([
        ['1772359200000000001', 'two'],
        ['x', 'three'],
      ]),
    ),
  ).toMatchObject({
    status: 400,
    body: '1 entries were rejected: entry 2: the time is not nanoseconds as text.',
  });
  expect(await select('select message from loki_job order by message')).toEqual([
    { message: 'one' },
    { message: 'two' },
  ]);
});

test('OTLP: a rejected record is a partial success, and errors are a status', async () => {
  const post = (body: string, type: string) => shipper.call('POST', '/v1/logs', body, { 'content-type': type });
  const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'a' } }, 5] }] }] });
  expect(await post(body, 'application/json')).toMatchObject({
    status: 200,
    body: { partialSuccess: { rejectedLogRecords: '1', errorMessage: expect.stringContaining('Record 2') } },
  });
  expect(await post('{', 'application/json')).toMatchObject({ status: 400, body: { code: 3 } });
  expect((await post('xyz', 'application/x-protobuf')).headers['content-type']).toBe('application/x-protobuf');
  expect(await post('{}', 'text/plain')).toMatchObject({ status: 415 });
});
