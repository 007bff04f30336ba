import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg } from '../../platform/db/db.ts';
import { startApp } from '../../../test/support/harness.ts';
import { asked, idsOf, input, made, suggested } from '../../../test/support/detection/detection-factory.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });

describe('GET /api/detections', () => {
  test('answers all, newest first, without what is deleted or suggested', async () => {
    const org = await newOrg();
    expect(await asked(org, 'GET', '/api/detections')).toEqual({ detections: [] });
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) ids.unshift((await made(org)).id);
    await suggested(org);
    await asked(org, 'DELETE', `/api/detections/${ids[3]}`);
    const list = await asked(org, 'GET', '/api/detections');
    expect(Object.keys(list)).toEqual(['detections']);
    expect(idsOf(list.detections)).toEqual(ids.filter((id) => id !== ids[3]));
  });

  test('is narrowed by each filter and by all at once', async () => {
    const org = await newOrg();
    const a = await made(org, {
      name: 'Alpha 100%',
      tags: ['Red', 'blue'],
      siemType: 'splunk',
      detectionCadence: 'hourly',
    });
    const b = await made(org, { name: 'beta', description: 'Like ALPHA', detectionCategory: 'custom', tags: ['blue'] });
    const found = async (query: string): Promise<string[]> =>
      idsOf((await asked(org, 'GET', `/api/detections?${query}`)).detections);
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

  test('is paged by limit and cursor', async () => {
    const org = await newOrg();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await made(org)).id);
    const pages: string[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { detections: { id: string }[]; nextCursor: string | null } = await asked(
        org,
        'GET',
        `/api/detections?limit=2${cursor && `&cursor=${cursor}`}`,
      );
      pages.push(idsOf(page.detections));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  });

  test.each([
    ['category=other', 'query/category'],
    ['enabled=yes', 'query/enabled'],
    ['limit=0', 'query/limit'],
    ['limit=201', 'query/limit'],
    ['limit=x', 'query/limit'],
    ['cursor=nonsense', 'query/cursor'],
    ['tag=a&tag=b', 'query/tag'],
  ])('?%s is refused at %s', async (query, pointer) => {
    const org = await newOrg();
    const answer = await org.call('GET', `/api/detections?${query}`);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });
});

test('open suggestions are paged, newest first', async () => {
  const org = await newOrg();
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await suggested(org)).id);
  const first = await asked(org, 'GET', '/api/detections/suggestions?limit=2');
  const second = await asked(org, 'GET', `/api/detections/suggestions?limit=2&cursor=${first.nextCursor}`);
  expect([idsOf(first.suggestions), idsOf(second.suggestions), second.nextCursor]).toEqual([
    ids.slice(0, 2),
    ids.slice(2),
    null,
  ]);
});

describe('the 30-day figures', () => {
  async function figures(
    days: [day: string, basis: string, runs: number, triggered: number, sum: number, scores: number][],
    basis: string | null,
  ) {
    const org = await newOrg();
    const { id } = await made(org);
    await made(org);
    await inOrg(deps.db, org.id, async (tx) => {
      await sql`insert into run_facts (organization_id, detection_id, last_run_at, score_basis) values (${org.id}, ${id}, '2026-03-04T09:00:02Z', ${basis})`.execute(
        tx,
      );
      for (const [day, score_basis, runs, triggered, sum, scores] of days) {
        await sql`insert into run_days values (${org.id}, ${id}, ${day}, ${score_basis}, ${runs}, ${triggered}, ${sum}, ${scores})`.execute(
          tx,
        );
      }
    });
    const one = await asked(org, 'GET', `/api/detections/${id}`);
    const [other, same] = (await asked(org, 'GET', '/api/detections')).detections;
    expect(same).toEqual(one);
    expect(other).toMatchObject({ runs30d: 0, hits30d: 0, avgEvalScore30d: null, lastDetectionRunAt: null });
    return { runs: one.runs30d, hits: one.hits30d, average: one.avgEvalScore30d, last: one.lastDetectionRunAt };
  }

  test('count today and the 29 UTC days before', async () => {
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

  test('the average is over the basis of the newest run, to one decimal', async () => {
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

  test('no score is null, never 0; a score of 0 is 0', async () => {
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

  test("another organization's records do not exist", async () => {
    const [owner, stranger] = [await newOrg(), await newOrg()];
    const record = await suggested(owner);
    for (const [method, url, body] of paths(record.id)) {
      const answer = await stranger.call(method, url, body);
      expect([method, url, answer.status, answer.body.code]).toEqual([method, url, 404, 'not_found']);
    }
    for (const list of ['/api/detections/suggestions', '/api/detections', '/api/agents'])
      expect(JSON.stringify(await asked(stranger, 'GET', list))).not.toContain(record.id);
    expect(await asked(owner, 'GET', `/api/detections/${record.id}`)).toEqual(record);
  });

  test('an unknown id is 404, another form 400, either case found', async () => {
    const org = await newOrg();
    for (const [method, url, body] of paths('ffffffff-ffff-ffff-ffff-ffffffffffff'))
      expect((await org.call(method, url, body)).status).toBe(404);
    for (const id of ['1', 'ffffffff-ffff-ffff-ffff-fffffffffffg', 'ffffffffffffffffffffffffffffffff', '%7B0%7D']) {
      for (const [method, url, body] of paths(id)) {
        const answer = await org.call(method, url, body);
        expect([url, answer.status, answer.body.errors?.[0].pointer]).toEqual([url, 400, 'path/id']);
      }
    }
    const { id } = await made(org);
    expect((await asked(org, 'GET', `/api/detections/${id.toUpperCase()}`)).id).toBe(id);
  });

  test('no key is 401 before anything else is judged', async () => {
    const org = await newOrg();
    const none = { authorization: '' };
    for (const [method, url] of [
      ...paths('not-an-id'),
      ['POST', '/api/detections'],
      ['GET', '/api/detections'],
      ['GET', '/api/detections/suggestions/dismissed'],
      ['GET', '/api/agents'],
    ] as const) {
      const answer = await org.call(method as 'GET', url, method === 'GET' ? undefined : '{', none);
      expect([url, answer.status, answer.headers['www-authenticate']]).toEqual([
        url,
        401,
        expect.stringContaining('Bearer'),
      ]);
    }
  });

  test('reading and writing have a scope each', async () => {
    const reader = await newOrg(['detections:read']);
    const writer = await newOrg(['detections:write']);
    expect((await reader.call('GET', '/api/detections')).status).toBe(200);
    expect((await reader.call('POST', '/api/detections', input())).status).toBe(403);
    expect((await writer.call('POST', '/api/detections', input())).status).toBe(200);
    expect((await writer.call('GET', '/api/detections')).status).toBe(403);
  });
});

test('an Idempotency-Key makes one detection of two requests', async () => {
  const org = await newOrg();
  const headers = { 'idempotency-key': 'once' };
  const first = await org.call('POST', '/api/detections', input(), headers);
  const second = await org.call('POST', '/api/detections', input(), headers);
  expect(second.body).toEqual(first.body);
  expect((await asked(org, 'GET', '/api/detections')).detections).toHaveLength(1);
  expect((await org.call('POST', '/api/detections', input({ name: 'other' }), headers)).status).toBe(422);
});

test('list and one agree on figures as the days go by', async () => {
  const org = await newOrg();
  const { id } = await made(org);
  await inOrg(deps.db, org.id, (tx) =>
    sql`insert into run_days (organization_id, detection_id, day, runs, triggered) values (${org.id}, ${id}, '2026-03-04', 3, 1)`.execute(
      tx,
    ),
  );
  const before = now;
  now = new Date('2026-04-02T23:59:59Z');
  expect(await asked(org, 'GET', `/api/detections/${id}`)).toMatchObject({ runs30d: 3, hits30d: 1 });
  now = new Date('2026-04-03T00:00:00Z');
  expect(await asked(org, 'GET', `/api/detections/${id}`)).toMatchObject({ runs30d: 0, hits30d: 0 });
  now = before;
});
