import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { rejectedListedMax } from './body/read-log-body.ts';

const store = await startLogStore();
const { send, search } = store;

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
  throw new Error('did not fail');
};
const filesOf = (org: string, dataset: string): string[] => {
  try {
    return readdirSync(join(store.deps.segmentStore.folderOf(org), dataset));
  } catch {
    return [];
  }
};

test('stores accepted events in one file and lists rejected ones with their lines', async () => {
  const org = await store.newOrg();
  const body = Buffer.concat([
    Buffer.from('{"@timestamp":"2024-05-01T10:00:00.5Z","user":"ana"}\n'),
    Buffer.from('{"user":'),
    Buffer.from('\n"text"\n[1]\n{"user":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}\n{"user":"a\0b"}\n'),
    Buffer.from(`{"deep":${'['.repeat(100)}${']'.repeat(100)}}\n{"large":"${'x'.repeat(1_100_000)}"}\n{"user":"bo"}`),
  ]);
  const receipt = await send(org, 'auth', body);
  expect(receipt).toMatchObject({ accepted: 2, rejectedTotal: 7, undated: 1, duplicateOf: null });
  expect(receipt.rejected.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8]);
  expect(receipt.rejected.map(({ reason }) => reason)).toEqual([
    'not valid JSON',
    'not a JSON object',
    'not a JSON object',
    'not valid UTF-8',
    'not valid JSON',
    'nested deeper than 64',
    'larger than 1048576 bytes',
  ]);
  expect(filesOf(org, 'auth')).toHaveLength(1);
  const { rows } = await search(org, 'SELECT _id, _time, _ingested, user FROM auth');
  expect(rows).toEqual([
    {
      _id: `${receipt.batchId}:1`,
      _time: '2024-05-01T10:00:00.500Z',
      _ingested: '2024-06-01T00:00:00.000Z',
      user: 'ana',
    },
    {
      _id: `${receipt.batchId}:9`,
      _time: '2024-06-01T00:00:00.000Z',
      _ingested: '2024-06-01T00:00:00.000Z',
      user: 'bo',
    },
  ]);
});

test('a repeated body adds nothing, whether compressed, plain or sent concurrently', async () => {
  const org = await store.newOrg();
  const body = '{"user":"ana","time":1714557600}\n{"user":"bo","time":1714557601}';
  const answers = await Promise.all([
    send(org, 'auth', body),
    send(org, 'auth', body),
    send(org, 'auth', gzipSync(body)),
  ]);
  const first = answers.find((answer) => answer.duplicateOf === null)!;
  const rest = answers.filter((answer) => answer !== first);
  expect(rest.map((answer) => [answer.accepted, answer.duplicateOf])).toEqual([
    [0, first.batchId],
    [0, first.batchId],
  ]);
  expect(filesOf(org, 'auth')).toEqual([`${first.batchId}.events`]);
  expect((await search(org, 'SELECT count(*) AS n FROM auth')).rows).toEqual([{ n: 2 }]);
  expect((await send(org, 'auth', body, { timeField: 'user' })).duplicateOf).toBeNull();
  expect((await send(org, 'other', body)).duplicateOf).toBeNull();
  expect((await send(await store.newOrg(), 'auth', body)).duplicateOf).toBeNull();
});

test("keeps the events' own IDs if they are unique within the batch", async () => {
  const org = await store.newOrg();
  const id = 'f0cce5bc-5f9e-4ee1-bb48-e20fecb32403';
  const receipt = await send(org, 'auth', [{ eventID: id }, { eventID: id, other: 1 }, { id: 7 }]);
  const { rows } = await search(org, 'SELECT _id FROM auth');
  expect(rows.map((row) => row['_id']).toSorted()).toEqual(
    [id, `${receipt.batchId}:2`, `${receipt.batchId}:3`].toSorted(),
  );
});

test.each(['', 'Auth', '1a', 'a-b', 'auth_history', 'feed_sightings', 'a'.repeat(64), '../x', 'a/b', '_a'])(
  'rejects the dataset name %j',
  async (dataset) => {
    expect(await codeOf(send(await store.newOrg(), dataset, [{ a: 1 }]))).toBe('validation_failed');
  },
);

test('broken or oversized bodies leave no files behind', async () => {
  const org = await store.newOrg();
  const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024, `{"a":"${'x'.repeat(10_000)}"}\n`));
  expect(bomb.length).toBeLessThan(1024 * 1024);
  expect(await codeOf(send(org, 'auth', bomb))).toBe('payload_too_large');
  expect(await codeOf(send(org, 'auth', '[{"a":1},{"a":'))).toBe('malformed_json');
  expect(await codeOf(send(org, 'auth', gzipSync('{"a":1}').subarray(0, 15)))).toBe('malformed_json');
  expect(await codeOf(send(org, 'auth', Buffer.from([0x1f, 0x8b, 1, 2, 3])))).toBe('malformed_json');
  expect(filesOf(org, 'auth')).toEqual([]);
  expect(await search(org, 'SELECT * FROM auth')).toMatchObject({ rows: [], noData: true });
});

test('limits the list of rejected events but not their count', async () => {
  const receipt = await send(await store.newOrg(), 'auth', 'x\n'.repeat(rejectedListedMax + 5));
  expect(receipt).toMatchObject({ accepted: 0, rejectedTotal: rejectedListedMax + 5 });
  expect(receipt.rejected).toHaveLength(rejectedListedMax);
});

test('the engine reads back any accepted JSON unchanged', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('\ud800', 'a\u0000b', '\\ud800', '"', '\t\n\r', '\u2028'),
  );
  const event = fc.dictionary(
    text,
    fc.oneof(fc.jsonValue({ maxDepth: 3 }), text, fc.constantFrom(1e300, 5e-324, 2 ** 63, -(2 ** 63))),
    { maxKeys: 6 },
  );
  const org = await store.newOrg();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 100, size: 'max' }), async (events) => {
      run += 1;
      const dataset = `d${run}`;
      const lines = events.map((content, index) => JSON.stringify({ n: index, content }));
      expect(await send(org, dataset, lines.join('\n'))).toMatchObject({ accepted: events.length, rejected: [] });
      const { rows } = await search(org, `SELECT * FROM ${dataset}`);
      const back = rows.map((row) => row['_event'] as { n: number; content: unknown }).toSorted((a, b) => a.n - b.n);
      const wellFormed = (_key: string, value: unknown): unknown =>
        typeof value === 'string' ? value.toWellFormed() : value;
      const whole = lines.map(
        (line) =>
          JSON.parse(line.replaceAll(/[\ud800-\udfff]/gu, '\ufffd'), wellFormed) as {
            content: Record<string, unknown>;
          },
      );
      // Integers beyond 2^53 come back as text, and lone surrogates as U+FFFD.
      const exact = (value: unknown): string =>
        JSON.stringify(value, (_key, content: unknown) =>
          typeof content === 'number' && Number.isInteger(content) && !Number.isSafeInteger(content) ? 'big' : content,
        );
      const big = (json: string): string => json.replaceAll(/"-?\d{17,}"|"-?\d+(?:\.\d+)?e\+?\d+"/g, '"big"');
      for (const [index, { content }] of back.entries()) {
        if (Object.keys(whole[index]!.content).every((key) => key.isWellFormed()))
          expect(big(exact(content))).toBe(big(exact(whole[index]!.content)));
      }
      expect(back).toHaveLength(events.length);
    }),
    { numRuns: 8 },
  );
});
