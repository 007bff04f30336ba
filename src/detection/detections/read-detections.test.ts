import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import {
  callOk,
  toIds,
  detectionBody,
  postDetection,
  postSuggestion,
} from '../../../test/support/detection/detection-factory.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });

/** Returns the IDs of each page of two. */
async function readPages(org: TestOrg, path: string, field: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Record<string, never> = await callOk(org, 'GET', `${path}?limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(toIds(page[field]!));
    cursor = page['nextCursor']!;
  }
  return pages;
}

/** Writes a row for each day that a detection has runs. */
const insertDays = (orgId: OrgId, id: string, days: readonly (readonly (string | number)[])[]) =>
  inOrg(deps.db, orgId, async (tx) => {
    for (const day of days) await sql`insert into run_days values (${orgId}, ${id}, ${sql.join(day)})`.execute(tx);
  });

describe('GET /api/detections', () => {
  test('returns all detections newest first, without deleted ones and suggestions', async () => {
    const org = await newOrg();
    expect(await callOk(org, 'GET', '/api/detections')).toEqual({ detections: [] });
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) {
      // IDs of one millisecond are in order only until the clock of another caller comes between them.
      now = new Date(now.getTime() + 1);
      ids.unshift((await postDetection(org)).id);
    }
    await postSuggestion(org);
    await callOk(org, 'DELETE', `/api/detections/${ids[3]}`);
    const list = await callOk(org, 'GET', '/api/detections');
    expect(Object.keys(list)).toEqual(['detections']);
    expect(toIds(list.detections)).toEqual(ids.filter((id) => id !== ids[3]));
  });

  test('applies each filter and all of them together', async () => {
    const org = await newOrg();
    const a = await postDetection(org, {
      name: 'Alpha 100%',
      tags: ['Red', 'blue'],
      siemType: 'splunk',
      detectionCadence: 'hourly',
    });
    const b = await postDetection(org, {
      name: 'beta',
      description: 'Like ALPHA',
      detectionCategory: 'custom',
      tags: ['blue'],
    });
    const found = async (query: string): Promise<string[]> =>
      toIds((await callOk(org, 'GET', `/api/detections?${query}`)).detections);
    expect(await found('category=custom')).toEqual([b.id]);
    expect(await found('tag=RED')).toEqual([a.id]);
    expect(await found('tag=blue')).toEqual([b.id, a.id]);
    expect(await found('tag=blu')).toEqual([]);
    expect(await found('enabled=true')).toEqual([a.id]);
    expect(await found('enabled=false')).toEqual([b.id]);
    expect(await found('siemType=splunk')).toEqual([a.id]);
    expect(await found('q=alpha')).toEqual([b.id, a.id]);
    expect(await found('q=100%25')).toEqual([a.id]);
    expect(await found('q=%25')).toEqual([a.id]);
    expect(await found('tag=blue&enabled=true&category=first_occurrence&siemType=splunk&q=alp')).toEqual([a.id]);
    expect(await found('unknown=1')).toEqual([b.id, a.id]);
  });

  test('sends the whole list again only if it has changed', async () => {
    const org = await newOrg();
    const orgId = org.id as OrgId;
    const other = await newOrg();
    const { id } = await postDetection(org, { siemType: 'splunk' });
    const write = selectIn(deps.db, orgId);
    const before = now;
    const changes: (() => Promise<unknown>)[] = [
      () => postDetection(org),
      () => callOk(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'Another prompt.' }),
      () => callOk(org, 'DELETE', `/api/detections/${id}`),
      () => callOk(org, 'POST', `/api/detections/${id}/restore`),
      () => write`insert into run_facts (organization_id, detection_id, last_run_at) values (${orgId}, ${id}, ${now})`,
      () => write`insert into run_days (organization_id, detection_id, day, runs) values (${orgId}, ${id}, ${now}, 1)`,
      () => write`update run_days set triggered = 1 where detection_id = ${id}`,
      () => write`insert into hit_reviews (organization_id, detection_id, benign) values (${orgId}, ${id}, 1)`,
      () => write`insert into query_warnings (organization_id, detection_id, revision, warnings)
        select ${orgId}, id, revision, '[{"code":"no_data","field":"/detectionQuery","detail":"d"}]' from agents where id = ${id}`,
      () =>
        callOk(org, 'POST', '/api/connections', {
          kind: 'splunk',
          name: 's',
          settings: { url: 'https://splunk.example:8089' },
          credentials: { token: 't' },
        }),
      async () => {
        now = new Date(now.getTime() + 31 * 86_400_000);
      },
    ];
    const get = (etag: unknown = '', path = '/api/detections') =>
      org.call('GET', path, undefined, { 'if-none-match': String(etag) });
    let last = await get();
    for (const change of changes) {
      expect((await get(last.headers['etag'])).status).toBe(304);
      await change();
      const next = await get(last.headers['etag']);
      expect(next.status, String(change)).toBe(200);
      expect(next.body, String(change)).not.toEqual(last.body);
      last = next;
    }
    now = before;
    const etag = String((await get()).headers['etag']);
    await postDetection(other);
    expect((await get(etag)).status).toBe(304);
    expect((await get(etag, '/api/detections?enabled=true')).status).toBe(200);
    expect((await other.call('GET', '/api/detections', undefined, { 'if-none-match': etag })).status).toBe(200);
  });

  test('returns pages for limit and cursor', async () => {
    const org = await newOrg();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await postDetection(org)).id);
    expect(await readPages(org, '/api/detections', 'detections')).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      ids.slice(4),
    ]);
  });

  test.each([
    ['category=other', 'query/category'],
    ['enabled=yes', 'query/enabled'],
    ['limit=0', 'query/limit'],
    ['limit=201', 'query/limit'],
    ['limit=x', 'query/limit'],
    ['cursor=nonsense', 'query/cursor'],
    ['tag=a&tag=b', 'query/tag'],
  ])('rejects ?%s at %s', async (query, pointer) => {
    const org = await newOrg();
    const response = await org.call('GET', `/api/detections?${query}`);
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
  });
});

test('lists open suggestions in pages, newest first', async () => {
  const org = await newOrg();
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await postSuggestion(org)).id);
  expect(await readPages(org, '/api/detections/suggestions', 'suggestions')).toEqual([ids.slice(0, 2), ids.slice(2)]);
});

describe('the 30-day statistics', () => {
  async function figures(
    days: [day: string, basis: string, runs: number, triggered: number, sum: number, scores: number][],
    basis: string | null,
  ) {
    const org = await newOrg();
    const { id } = await postDetection(org);
    await postDetection(org);
    await selectIn(deps.db, org.id)`insert into run_facts (organization_id, detection_id, last_run_at, score_basis)
      values (${org.id}, ${id}, '2026-03-04T09:00:02Z', ${basis})`;
    await insertDays(org.id, id, days);
    const one = await callOk(org, 'GET', `/api/detections/${id}`);
    // Both were created in the same millisecond, so either may be the first.
    const list: { id: string }[] = (await callOk(org, 'GET', '/api/detections')).detections;
    expect(list.find((detection) => detection.id === id)).toEqual(one);
    const other = list.find((detection) => detection.id !== id);
    expect(other).toMatchObject({ runs30d: 0, hits30d: 0, avgEvalScore30d: null, lastDetectionRunAt: null });
    return { runs: one.runs30d, hits: one.hits30d, average: one.avgEvalScore30d, last: one.lastDetectionRunAt };
  }

  test('cover today and the 29 UTC days before', async () => {
    const found = await figures(
      [
        ['2026-02-02', '', 100, 100, 0, 0],
        ['2026-02-03', '', 5, 1, 0, 0],
        ['2026-03-04', '', 7, 2, 0, 0],
        ['2026-03-05', '', 100, 100, 0, 0],
      ],
      null,
    );
    expect(found).toEqual({ runs: 12, hits: 3, average: null, last: '2026-03-04T09:00:02.000Z' });
  });

  test("average scores of the newest run's score basis, rounded to one decimal", async () => {
    const found = await figures(
      [
        ['2026-03-01', 'analyst', 2, 0, 150.5, 2],
        ['2026-03-02', 'analyst', 1, 1, 80.2, 1],
        ['2026-03-02', 'judge', 9, 0, 90, 9],
        ['2026-03-03', '', 4, 0, 0, 0],
      ],
      'analyst',
    );
    expect(found).toMatchObject({ runs: 16, hits: 1, average: 76.9 });
  });

  test('are null without scores and 0 for a score of 0', async () => {
    expect(await figures([['2026-03-01', 'judge', 3, 0, 0, 0]], 'judge')).toMatchObject({ average: null });
    expect(await figures([['2026-03-01', 'judge', 3, 0, 0, 3]], 'judge')).toMatchObject({ average: 0 });
  });
});

describe('access', () => {
  const paths = (id: string): ['GET' | 'POST' | 'PUT' | 'DELETE', string, unknown?][] => [
    ['GET', `/api/detections/${id}`],
    ['PUT', `/api/detections/${id}`, { name: 'mine now' }],
    ['DELETE', `/api/detections/${id}`],
    ['POST', `/api/detections/${id}/restore`],
    ['POST', `/api/detections/${id}/accept`, {}],
    ['POST', `/api/detections/${id}/dismiss`, {}],
    ['GET', `/api/agents/${id}`],
    ['PUT', `/api/agents/${id}`, { enabled: false }],
    ['DELETE', `/api/agents/${id}`],
  ];

  test("returns 404 for another organization's records", async () => {
    const [owner, otherOrg] = [await newOrg(), await newOrg()];
    const record = await postSuggestion(owner);
    for (const [method, url, body] of paths(record.id)) {
      const response = await otherOrg.call(method, url, body);
      expect([method, url, response.status, response.body.code]).toEqual([method, url, 404, 'not_found']);
    }
    for (const list of ['/api/detections/suggestions', '/api/detections', '/api/agents'])
      expect(JSON.stringify(await callOk(otherOrg, 'GET', list))).not.toContain(record.id);
    expect(await callOk(owner, 'GET', `/api/detections/${record.id}`)).toEqual(record);
  });

  test('returns 404 for an unknown id and 400 for a malformed one, and accepts ids in either case', async () => {
    const org = await newOrg();
    for (const [method, url, body] of paths('ffffffff-ffff-ffff-ffff-ffffffffffff'))
      expect((await org.call(method, url, body)).status).toBe(404);
    for (const id of ['1', 'ffffffff-ffff-ffff-ffff-fffffffffffg', 'ffffffffffffffffffffffffffffffff', '%7B0%7D']) {
      for (const [method, url, body] of paths(id)) {
        const response = await org.call(method, url, body);
        expect([url, response.status, response.body.errors?.[0].pointer]).toEqual([url, 400, 'path/id']);
      }
    }
    const { id } = await postDetection(org);
    expect((await callOk(org, 'GET', `/api/detections/${id.toUpperCase()}`)).id).toBe(id);
  });

  test('returns 401 without a key before any other check', async () => {
    const org = await newOrg();
    const none = { authorization: '' };
    for (const [method, url] of [
      ...paths('not-an-id'),
      ['POST', '/api/detections'],
      ['GET', '/api/detections'],
      ['GET', '/api/detections/suggestions/dismissed'],
      ['GET', '/api/agents'],
    ] as const) {
      const response = await org.call(method as 'GET', url, method === 'GET' ? undefined : '{', none);
      expect([url, response.status]).toEqual([url, 401]);
      expect(response.headers['www-authenticate']).toContain('Bearer');
    }
  });

  test('requires separate scopes for reading and writing', async () => {
    const reader = await newOrg(['detections:read']);
    const writer = await newOrg(['detections:write']);
    expect((await reader.call('GET', '/api/detections')).status).toBe(200);
    expect((await reader.call('POST', '/api/detections', detectionBody())).status).toBe(403);
    expect((await writer.call('POST', '/api/detections', detectionBody())).status).toBe(200);
    expect((await writer.call('GET', '/api/detections')).status).toBe(403);
  });
});

test('creates one detection for two requests with the same Idempotency-Key', async () => {
  const org = await newOrg();
  const headers = { 'idempotency-key': 'once' };
  const first = await org.call('POST', '/api/detections', detectionBody(), headers);
  const second = await org.call('POST', '/api/detections', detectionBody(), headers);
  expect(second.body).toEqual(first.body);
  expect((await callOk(org, 'GET', '/api/detections')).detections).toHaveLength(1);
  expect((await org.call('POST', '/api/detections', detectionBody({ name: 'other' }), headers)).status).toBe(422);
});

test('returns the same statistics in the list and for one detection as days pass', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org);
  await insertDays(org.id, id, [['2026-03-04', '', 3, 1, 0, 0]]);
  const before = now;
  now = new Date('2026-04-02T23:59:59Z');
  expect(await callOk(org, 'GET', `/api/detections/${id}`)).toMatchObject({ runs30d: 3, hits30d: 1 });
  now = new Date('2026-04-03T00:00:00Z');
  expect(await callOk(org, 'GET', `/api/detections/${id}`)).toMatchObject({ runs30d: 0, hits30d: 0 });
  now = before;
});
