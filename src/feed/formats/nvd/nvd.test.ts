import { beforeEach, describe, expect, test } from 'vitest';
import { createFetchSession, type FetchBounds, type FetchSessionResult } from '../fetch-session.ts';
import { nvdPage, nvdRow } from '../../../../test/support/feed/nvd-documents.ts';
import { serverOfTests, type RecordedRequest } from '../../../../test/support/feed/source-server.ts';
import { nvd } from './nvd.ts';

const server = await serverOfTests();

const one = (more: object = {}) =>
  nvd.parse([{ name: 'page', bytes: Buffer.from(JSON.stringify(nvdPage([nvdRow('CVE-2024-1234', more)]))) }], {
    reliability: 0.9,
  }).records[0]!;
const metric = (version: string, baseScore: number, type = 'Primary') => [{ type, cvssData: { version, baseScore } }];

describe('a CVE', () => {
  test('reads identity, score, products and weaknesses', () => {
    expect(one()).toMatchObject({
      canonicalKey: 'cve:CVE-2024-1234',
      title: 'Gadget before 2.0 reads too far.',
      publishTime: '2024-01-01T10:00:00.000Z',
      modifiedAt: '2024-02-01T10:00:00.000Z',
      severity: 'high',
      severityRule: 'cvss:3.1',
      withdrawn: false,
      classification: {
        platforms: ['linux'],
        mappings: [
          { framework: 'cve', id: 'CVE-2024-1234', confidence: 0.9 },
          { framework: 'cwe', id: 'CWE-125', confidence: 0.9 },
        ],
      },
      affectedProducts: [
        { vendor: 'acme corp', product: 'gadget:pro', versions: ['< 2.0'] },
        { vendor: 'linux', product: 'linux kernel', versions: ['6.1 rc1'] },
      ],
    });
  });

  test.each([
    [{ cvssMetricV40: metric('4.0', 5), cvssMetricV31: metric('3.1', 9.8) }, 'medium', 'cvss:4.0'],
    [{ cvssMetricV31: metric('3.1', 9.8), cvssMetricV30: metric('3.0', 2) }, 'critical', 'cvss:3.1'],
    [{ cvssMetricV30: metric('3.0', 2), cvssMetricV2: metric('2.0', 10) }, 'low', 'cvss:3.0'],
    [{ cvssMetricV2: metric('2.0', 10) }, 'high', 'cvss:2.0'],
    [{ cvssMetricV31: metric('3.1', 9.1, 'Secondary') }, 'critical', 'cvss:3.1'],
    [{}, 'none', 'none'],
  ])('rates by the preferred metric of %j', (metrics, severity, severityRule) => {
    expect(one({ metrics })).toMatchObject({ severity, severityRule });
  });

  test('rates exploited CVEs at least high and withdraws rejected ones', () => {
    const listed = {
      metrics: { cvssMetricV31: metric('3.1', 3) },
      cisaExploitAdd: '2024-01-05',
      cisaVulnerabilityName: 'Gadget Flaw',
    };
    expect(one(listed)).toMatchObject({ severity: 'high', severityRule: 'floor:kev', title: 'Gadget Flaw' });
    expect(one({ vulnStatus: 'Rejected' }).withdrawn).toBe(true);
  });
});

describe('the API', () => {
  let held: { id: string; at: string }[] = [];
  const now = new Date('2025-01-01T00:00:00Z');
  beforeEach(() => {
    held = Array.from({ length: 5 }, (_, index) => ({
      id: `CVE-2024-100${index}`,
      at: `2024-12-0${index + 1}T00:00:00.000`,
    }));
    server.routes.set('/cves', (response, asked) => answer(response, asked));
  });
  /** Serves pages of two changes in the requested range. */
  const answer = (
    response: Parameters<Parameters<typeof server.routes.set>[1]>[0],
    { query }: RecordedRequest,
  ): void => {
    const [from, to] = [query.get('lastModStartDate')!, query.get('lastModEndDate')!];
    const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
    if (days > 120) return void response.writeHead(404).end();
    const start = Number(query.get('startIndex'));
    const all = held.filter(({ at }) => `${at}Z` >= from && `${at}Z` <= to);
    const rows = all.slice(start, start + 2).map(({ id, at }) => nvdRow(id, { lastModified: at }));
    response.end(JSON.stringify(nvdPage(rows, { startIndex: start, totalResults: all.length })));
  };
  const collect = (cursor?: unknown, bounds: Partial<FetchBounds> = {}): Promise<FetchSessionResult> => {
    const context = createFetchSession({
      url: `${server.base}/cves?resultsPerPage=2`,
      cursor,
      now,
      allow: ['127.0.0.1'],
      digest: async (documents) => nvd.digest!(documents),
      headers: { apikey: 'k' },
      bounds,
    });
    return nvd.fetch!({ ...context, pause: async () => undefined }) as Promise<FetchSessionResult>;
  };
  const ids = ({ parts }: FetchSessionResult): string[] =>
    nvd
      .parse(parts, { reliability: 1 })
      .records.map(({ recordId }) => recordId)
      .toSorted();

  test('fetches the last 120 days, then changes with an overlap', async () => {
    const first = await collect();
    expect(ids(first)).toEqual(held.map(({ id }) => id));
    expect(first.cursor).toEqual({ from: '2024-12-31T22:00:00.000Z' });
    expect(server.asked.every(({ headers }) => headers['apikey'] === 'k')).toBe(true);
    held[1]!.at = '2024-12-31T23:00:00.000';
    expect(ids(await collect(first.cursor))).toEqual(['CVE-2024-1001']);
  });

  test('splits a long time into ranges of at most 120 days', async () => {
    held[0]!.at = '2024-02-01T00:00:00.000';
    const found = await collect({ from: '2024-01-01T00:00:00.000Z' });
    expect([ids(found).length, found.more]).toEqual([5, false]);
  });

  test('continues where the bounds cut the last pull', async () => {
    const first = await collect(undefined, { documentsMax: 2 });
    expect([ids(first).length, first.more]).toEqual([4, true]);
    const second = await collect(JSON.parse(JSON.stringify(first.cursor)), { documentsMax: 2 });
    expect([ids(second), second.more]).toEqual([['CVE-2024-1004'], false]);
  });

  test('misses no record if another changes between pages', async () => {
    server.routes.set('/cves', (response, asked) => {
      if (asked.query.get('startIndex') === '2') held[0]!.at = '2025-01-01T00:00:01.000';
      answer(response, asked);
    });
    expect(ids(await collect())).toEqual(held.map(({ id }) => id));
  });

  test.each([
    ['{"message":"no"}', /not a page/],
    ['{"vulnera', /not valid JSON/],
    ['<html>', /XML or HTML/],
  ])('rejects the response %s', async (body, reason) => {
    server.routes.set('/cves', (response) => void response.end(body));
    await expect(collect()).rejects.toThrow(reason);
  });
});

test.each([
  [{ CVE_data_type: 'CVE', CVE_Items: [] }],
  [{ data_type: 'CVE', data_format: 'MITRE', data_version: '4.0' }],
])('names the format of a retired document: %j', (document) => {
  const parts = [{ name: 'cve.json', bytes: Buffer.from(JSON.stringify(document)) }];
  expect(() => nvd.parse(parts, { reliability: 0.9 })).toThrow('retired');
});
