import { describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOk } from '../support/walk/api-calls.ts';
import { fillOrganization } from '../support/walk/fill-organization.ts';
import { pullDocument } from '../support/api-client.ts';
import { startApp } from '../support/harness.ts';
import { callerOf } from '../support/org-requests.ts';
import { findInterfaceFaults } from '../support/interface-document.ts';
import { root } from '../support/program.ts';

// The runs take place an hour after the start. The clock is behind in the last hour of a day, so that they count for today.
const behindMs = new Date().getUTCHours() === 23 ? 3_600_000 : 0;
const { deps, newOrg } = await startApp({
  clock: () => new Date(Date.now() - behindMs),
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' },
});
const org = await newOrg();
await fillOrganization(deps, org);
for (const [kind, file] of [
  ['kev', 'exploited.kev.json'],
  ['stix', 'fjordwatch.stix.json'],
] as const)
  await pullDocument(callerOf(org), { kind, name: kind }, readFileSync(join(root, 'src/demo/feed', file), 'utf8'));

const least = { name: 'x', detectionCategory: 'custom', systemPrompt: 'p', detectionQuery: 'SELECT 1 AS n' };
const most = {
  name: 'n'.repeat(255),
  detectionCategory: 'sequence_pattern',
  systemPrompt: 'p',
  detectionQuery: 'q',
  description: 'd'.repeat(1000),
  siemType: 'Any Name',
  toolNames: ['get_rows', 'of tomorrow'],
  detectionCadence: 'weekly',
  customCronSchedule: '7 4 * * mon-fri',
  tags: ['A'.repeat(100)],
  modelAlias: 'analyst',
  planningMode: 'always',
  mode: 'sandbox',
  inputs: [{ type: 'text', name: 'host', description: 'which', required: true }],
  contextDocs: [{ provider: 'drive', id: '1', name: 'Runbook', mimeType: 'text/plain' }],
  structuredOutputSchema: {
    type: 'object',
    title: 't',
    properties: { a: { type: 'string' } },
    required: ['a'],
    'x-service': { preset: 1 },
  },
};
const nothing = {
  description: null,
  siemType: null,
  toolNames: null,
  detectionCadence: null,
  customCronSchedule: null,
};

describe('detections', () => {
  test.each([
    ['the least', least],
    ['the most', most],
    ['null where null is allowed', { ...least, ...nothing }],
  ])('POST with %s returns a record', async (_name, body) => {
    const record = await readOk(org.call('POST', '/api/detections', body));
    expect(findInterfaceFaults('Agent', record)).toEqual([]);
    expect(record).toMatchObject({
      organizationId: org.id,
      agentType: 'detection',
      isBuiltIn: false,
      isSuggestion: false,
      deletedAt: null,
    });
    expect(record).toMatchObject({ lastDetectionRunAt: null, runs30d: 0, hits30d: 0, avgEvalScore30d: null });
    if (body !== most) return;
    const { systemPrompt, ...given } = most;
    const expected = { ...given, tags: ['a'.repeat(100)], cronSchedule: most.customCronSchedule, enabled: true };
    expect(record).toMatchObject({ ...expected, activeSystemPrompt: { prompt: systemPrompt, version: 1 } });
  });

  test('PUT, DELETE and restore return records', async () => {
    const { id } = await readOk(org.call('POST', '/api/detections', most));
    for (const [method, path, body] of [
      ['PUT', '', {}],
      ['PUT', '', { ...nothing, tags: ['ABC', 'abc'] }],
      ['DELETE', '', undefined],
      ['POST', '/restore', undefined],
    ] as const) {
      const record = await readOk(org.call(method, `/api/detections/${id}${path}`, body));
      expect(findInterfaceFaults('Agent', record)).toEqual([]);
    }
    const now = await readOk(org.call('GET', `/api/detections/${id}`));
    expect(now).toMatchObject({
      description: '',
      siemType: null,
      toolNames: [],
      cronSchedule: null,
      enabled: false,
      tags: ['abc'],
    });
  });

  test('the lists return records, including detections that have run', async () => {
    const list = await readOk(org.call('GET', '/api/detections'));
    expect(findInterfaceFaults('DetectionList', list)).toEqual([]);
    const ran = list.detections.find((one: { runs30d: number }) => one.runs30d > 0);
    expect(ran).toMatchObject({
      lastDetectionRunAt: expect.any(String),
      // Its runs had no candidates, so there was nothing to score.
      avgEvalScore30d: null,
      hits30d: expect.any(Number),
    });
    expect(list.detections.some((one: { hits30d: number }) => one.hits30d > 0)).toBe(true);
    const dismissed = await readOk(org.call('GET', '/api/detections/suggestions/dismissed'));
    expect(findInterfaceFaults('SuggestionList', dismissed)).toEqual([]);
    expect(dismissed.suggestions).toMatchObject([{ isSuggestion: true, deletedAt: expect.any(String) }]);
    const { agents } = await readOk(org.call('GET', '/api/agents?limit=200'));
    for (const agent of agents) expect(findInterfaceFaults('Agent', agent)).toEqual([]);
  });

  const limits: [string, unknown, string][] = [
    ['name', '', '/name'],
    ['name', 'n'.repeat(256), '/name'],
    ['description', 'd'.repeat(1001), '/description'],
    ['detectionCategory', 'other', '/detectionCategory'],
    ['detectionCategory', null, '/detectionCategory'],
    ['systemPrompt', '', '/systemPrompt'],
    ['detectionQuery', '', '/detectionQuery'],
    ['siemType', 1, '/siemType'],
    ['toolNames', 'get_rows', '/toolNames'],
    ['detectionCadence', 'monthly', '/detectionCadence'],
    ['customCronSchedule', '*/30 * * * *', '/customCronSchedule'],
    ['customCronSchedule', '0,1 * * * *', '/customCronSchedule'],
    ['customCronSchedule', 'often', '/customCronSchedule'],
    ['tags', [''], '/tags/0'],
    ['tags', ['t'.repeat(101)], '/tags/0'],
    ['detectionCadance', 'hourly', '/detectionCadance'],
  ];
  test.each(limits)('rejects %s %j on create and update', async (field, value, pointer) => {
    const { id } = await readOk(org.call('POST', '/api/detections', least));
    for (const answer of [
      await org.call('POST', '/api/detections', { ...least, [field]: value }),
      await org.call('PUT', `/api/detections/${id}`, { [field]: value }),
    ]) {
      expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, pointer]);
    }
  });

  test.each(['name', 'detectionCategory', 'systemPrompt', 'detectionQuery'])('requires %s on create', async (field) => {
    const { [field]: _left, ...rest } = least as Record<string, string>;
    const answer = await org.call('POST', '/api/detections', rest);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, `/${field}`]);
  });

  test.each(['PUT', 'POST'] as const)(
    '%s returns 400 for an id that is not a UUID and 404 for an unknown one',
    async (method) => {
      const path = (id: string): string => `/api/detections/${id}${method === 'POST' ? '/restore' : ''}`;
      const wrong = await org.call(method, path('1'), {});
      expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, 'path/id']);
      expect((await org.call(method, path('018F0000-0000-7000-8000-00000000000A'), {})).status).toBe(404);
    },
  );
});

describe('feed', () => {
  test('GET /items returns a page of items', async () => {
    const page = await readOk(org.call('GET', '/items?perPage=100'));
    expect(findInterfaceFaults('FeedList', page)).toEqual([]);
    expect(page.items.length).toBeGreaterThan(10);
    expect(page).toMatchObject({ total: page.items.length, page: 1, perPage: 100, hasNext: false });
    const values = (name: 'iocs' | 'classification') =>
      page.items.flatMap((item: Record<string, object>) => Object.values(item[name]!).flat());
    expect(values('iocs').length).toBeGreaterThan(0);
    expect(values('classification').length).toBeGreaterThan(0);
  });

  test('GET /stats summarizes the items of GET /items', async () => {
    const stats = await readOk(org.call('GET', '/stats'));
    expect(findInterfaceFaults('Stats', stats)).toEqual([]);
    const { total } = await readOk(org.call('GET', '/items'));
    const severities = Object.values(stats.severityBreakdown as Record<string, number>);
    expect([stats.totalItems, severities.reduce((sum, n) => sum + n, 0), stats.recentItems.length]).toEqual([
      total,
      total,
      10,
    ]);
  });

  test.each(['page', 'perPage', 'severity', 'status', 'relevancyMode'])(
    'rejects invalid values of %s',
    async (name) => {
      const wrong = {
        page: ['0', '-1', '1.5', 'x', ''],
        perPage: ['0', '101', '1e1'],
        severity: ['urgent', ''],
        status: ['open'],
        relevancyMode: ['some'],
      }[name]!;
      for (const value of [...wrong, `a&${name}=a`]) {
        const answer = await org.call('GET', `/items?${name}=${value}`);
        expect([answer.status, answer.body.errors?.[0]?.pointer], value).toEqual([400, `query/${name}`]);
      }
    },
  );

  test.each([
    ['severity=critical', (item: { event: { severity: string } }) => item.event.severity === 'critical'],
    ['status=active', (item: { event: { status: string } }) => item.event.status === 'active'],
    ['status=retracted', (item: { event: { status: string } }) => item.event.status === 'retracted'],
    [
      'platform=Windows',
      (item: { classification: { platforms: string[] } }) => item.classification.platforms.includes('windows'),
    ],
    [
      'source=KEV',
      (item: { source: { name: string; publisher: string } }) =>
        [item.source.name, item.source.publisher].includes('kev'),
    ],
  ])('%s returns exactly the matching items', async (query, isMatch) => {
    const all = (await readOk(org.call('GET', '/items?perPage=100'))).items;
    const narrowed = await readOk(org.call('GET', `/items?perPage=100&${query}`));
    const expected = all.filter(isMatch);
    expect(narrowed.items).toEqual(expected);
    expect(narrowed.total).toBe(expected.length);
    expect(expected.length, 'no item matches the filter').toBeGreaterThan(0);
  });
});
