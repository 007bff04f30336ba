import { beforeEach, describe, expect, test } from 'vitest';
import { createFetchSession, type FetchSessionResult } from '../fetch-session.ts';
import type { ParseResult } from '../source-format.ts';
import { csafAdvisory } from '../../../../test/support/feed/csaf-documents.ts';
import { serverOfTests } from '../../../../test/support/feed/source-server.ts';
import { csaf } from './csaf.ts';

const server = await serverOfTests();

const parse = (...documents: object[]): ParseResult =>
  csaf.parse(
    documents.map((document, index) => ({ name: `${index}.json`, bytes: Buffer.from(JSON.stringify(document)) })),
    { reliability: 0.9 },
  );
const one = (more: Parameters<typeof csafAdvisory>[1] = {}) => parse(csafAdvisory('ACME-1', more)).records[0]!;

describe('an advisory', () => {
  test('reads identity, products, scores and mappings', () => {
    const record = one();
    expect(record).toMatchObject({
      canonicalKey: 'adv:acme.example:ACME-1',
      externalId: 'ACME-1',
      publisher: 'Acme CERT',
      url: 'https://acme.example/advisories/ACME-1',
      tlp: 'CLEAR',
      severity: 'high',
      severityRule: 'cvss:3.1',
      withdrawn: false,
      affectedProducts: [{ vendor: 'Acme', product: 'Gadget', versions: ['<2.0'], confidence: 0.9 }],
    });
    expect(record.classification.mappings.map(({ framework, id }) => `${framework} ${id}`)).toEqual([
      'observable:advisory ACME-1',
      'cve CVE-2024-1234',
      'cwe CWE-125',
    ]);
    expect(record.passages.map(({ start, end }) => record.storedText.slice(start, end))).toEqual([
      'Acme Gadget ACME-1',
      'Gadget reads too far. An attacker may take it over.',
      'CVE-2024-1234',
    ]);
  });

  test('uses the newest CVSS version per vulnerability and the worst vulnerability', () => {
    const scored = (...scores: object[]) => ({ cve: 'CVE-2024-1', scores });
    const v3 = (baseScore: number) => ({ cvss_v3: { version: '3.1', baseScore } });
    const v4 = (baseScore: number) => ({ cvss_v4: { version: '4.0', baseScore } });
    const severity = (...vulnerabilities: object[]) => one({ vulnerabilities }).severity;
    expect(severity(scored(v3(9.8), v4(5)))).toBe('medium');
    expect(severity(scored(v4(5)), scored(v3(9.8)))).toBe('critical');
    expect(severity(scored({ cvss_v2: { version: '2.0', baseScore: 7.2 } }))).toBe('high');
    expect(one({ vulnerabilities: [], document: { aggregate_severity: { text: 'Moderate' } } })).toMatchObject({
      severity: 'medium',
      severityRule: 'source',
    });
    const mittel = { vulnerabilities: [], document: { lang: 'de-DE', aggregate_severity: { text: 'mittel' } } };
    expect(one(mittel)).toMatchObject({ severity: 'medium', severityRule: 'source' });
  });

  test.each([
    [{ document: { category: 'csaf_withdrawn' } }, true],
    [{ document: { title: 'WITHDRAWN: Acme Gadget' } }, true],
    [
      {
        tracking: { revision_history: [{ number: '2', date: '2024-02-01T00:00:00Z', summary: 'Advisory withdrawn' }] },
      },
      true,
    ],
    [{ document: { title: 'Withdrawn sessions can be replayed' } }, false],
    [
      {
        tracking: { revision_history: [{ number: '2', date: '2024-02-01T00:00:00Z', summary: 'Certificate revoked' }] },
      },
      false,
    ],
  ])('detects withdrawn advisories: %j', (more, withdrawn) => {
    expect(one(more).withdrawn).toBe(withdrawn);
  });

  test('describes a VEX document by its vulnerability, and rates no vulnerability that no product has', () => {
    const score = { cvss_v3: { version: '3.1', baseScore: 9.8 } };
    const vulnerability = (status: string, more: object = {}) => ({
      cve: 'CVE-2024-1001',
      product_status: { [status]: ['P-1'] },
      scores: [score],
      ...more,
    });
    const notes = [
      { category: 'summary', text: 'Too short' },
      { category: 'description', text: 'Gadget reads too far.' },
    ];
    const vex = { document: { category: 'csaf_vex', notes: [] } };
    const affected = one({ ...vex, vulnerabilities: [vulnerability('known_affected', { notes })] });
    expect(affected).toMatchObject({ severity: 'critical', summary: 'Gadget reads too far.' });
    const texts = affected.passages.map(({ start, end }) => affected.storedText.slice(start, end));
    expect(texts.some((text) => text.includes('Gadget reads too far.'))).toBe(true);
    expect(one({ ...vex, vulnerabilities: [vulnerability('known_not_affected')] }).severity).toBe('none');
  });

  test('uses the highest impact that vulnerabilities without a score state as a severity', () => {
    const threats = (...details: string[]) => ({
      cve: 'CVE-2024-1001',
      threats: details.map((text) => ({ category: 'impact', details: text })),
    });
    const rate = (...details: string[]) => one({ document: { notes: [] }, vulnerabilities: [threats(...details)] });
    expect(rate('Moderate', 'Important')).toMatchObject({ severity: 'high', severityRule: 'source' });
    expect(rate('Elevation of Privilege').severity).toBe('none');
  });

  test('reads packages that are fixed, and the products of which they are components', () => {
    const rpm = (arch: string) => ({
      category: 'architecture',
      name: arch,
      branches: [
        {
          category: 'product_version',
          name: `zzd-0:2.4-3.el9.${arch}`,
          product: {
            product_id: `zzd.${arch}`,
            name: `zzd-0:2.4-3.el9.${arch}`,
            product_identification_helper: { purl: `pkg:rpm/redhat/zzd@2.4-3.el9?arch=${arch}` },
          },
        },
      ],
    });
    const platform = {
      category: 'product_name',
      name: 'Enterprise Linux (v. 9)',
      product: { product_id: 'el9', name: 'EL 9' },
    };
    const arches = ['x86_64', 'aarch64'];
    const tree = {
      branches: [{ category: 'vendor', name: 'Red Hat', branches: [platform, ...arches.map(rpm)] }],
      relationships: arches.map((arch) => ({
        category: 'default_component_of',
        product_reference: `zzd.${arch}`,
        relates_to_product_reference: 'el9',
        full_product_name: { product_id: `el9:zzd.${arch}`, name: `zzd as a component of EL 9` },
      })),
    };
    const fixed = arches.map((arch) => `el9:zzd.${arch}`);
    const read = (product_status: object) =>
      one({ product_tree: tree, vulnerabilities: [{ cve: 'CVE-2026-1001', product_status }] }).affectedProducts.map(
        ({ vendor, product, versions }) => [vendor, product, versions],
      );
    expect(read({ fixed })).toEqual([
      ['Red Hat', 'zzd', ['< 2.4-3.el9']],
      ['Red Hat', 'Enterprise Linux (v. 9)', []],
    ]);
    expect(read({ known_affected: ['el9'], fixed })).toEqual([['Red Hat', 'Enterprise Linux (v. 9)', []]]);
    expect(read({ known_not_affected: fixed })).toEqual([]);
  });

  test('orders two revisions of one day', () => {
    const tracking = {
      revision_history: [1, 2].map((number) => ({ number: String(number), date: '2024-01-01T00:00:00Z' })),
    };
    expect(one({ tracking }).modifiedAt! > one().modifiedAt!).toBe(true);
  });

  test('reads the TLP marking and skips an invalid document among several', () => {
    expect(one({ document: { distribution: { tlp: { label: 'AMBER' } } } }).tlp).toBe('AMBER');
    const { records, skipped } = parse(csafAdvisory('A-1'), { x: 1 }, csafAdvisory('A-2'));
    expect([records.length, skipped]).toEqual([
      2,
      [{ entry: '1.json', reason: 'the document is not a CSAF advisory' }],
    ]);
  });
});

describe('a provider', () => {
  beforeEach(() => {
    for (const id of ['a', 'b']) server.document(`/2024/${id}.json`, JSON.stringify(csafAdvisory(`ACME-${id}`)));
  });
  const collect = (path: string, cursor?: unknown): Promise<FetchSessionResult> =>
    csaf.fetch!(
      createFetchSession({
        url: `${server.base}${path}`,
        cursor,
        now: new Date(),
        allow: ['127.0.0.1'],
        digest: async (documents) => csaf.digest!(documents),
      }),
    ) as Promise<FetchSessionResult>;
  const entry = (id: string) => ({
    id,
    updated: '2024-01-01T00:00:00Z',
    content: { type: 'application/json', src: `${server.base}/2024/${id}.json` },
  });
  const feed = (path: string, ...ids: string[]) =>
    server.document(path, JSON.stringify({ feed: { entry: ids.map(entry) } }));
  const provider = (...paths: string[]) => {
    const feeds = paths.map((path) => ({ url: `${server.base}${path}` }));
    server.document(
      '/metadata.json',
      JSON.stringify({ distributions: [{ rolie: { feeds } }, { directory_url: 'x' }] }),
    );
  };
  const changes = (times: string[]) => times.map((time, index) => `"2024/${'ab'[index]}.json","${time}"`).join('\n');

  test('fetches only documents with a changed time in changes.csv', async () => {
    server.document('/changes.csv', changes(['2024-01-02T00:00:00Z', '2024-01-01T00:00:00Z']), 'text/csv');
    const first = await collect('/changes.csv');
    expect(first.parts.map(({ url }) => url)).toEqual([`${server.base}/2024/a.json`, `${server.base}/2024/b.json`]);
    expect(csaf.parse(first.parts, { reliability: 1 }).records[0]!.textUrl).toBe(`${server.base}/2024/a.json`);
    server.document('/changes.csv', changes(['2024-01-02T00:00:00Z', '2024-01-03T00:00:00Z']), 'text/csv');
    const second = await collect('/changes.csv', first.cursor);
    expect([second.parts.map(({ url }) => url), second.unchanged]).toEqual([[`${server.base}/2024/b.json`], 1]);
  });

  test('follows provider-metadata.json of the domain to a directory and falls back to index.txt', async () => {
    const metadata = { canonical_url: 'x', distributions: [{ directory_url: `${server.base}/` }] };
    server.document('/.well-known/csaf/provider-metadata.json', JSON.stringify(metadata));
    server.document('/index.txt', '2024/a.json\n2024/b.json\n', 'text/plain');
    const first = await collect('/');
    expect(first.parts).toHaveLength(2);
    // The list has no times, so each document is requested conditionally.
    expect(await collect('/', first.cursor)).toMatchObject({ parts: [], unchanged: 2 });
  });

  test('prefers ROLIE feeds and skips a feed that cannot be read', async () => {
    feed('/white.json', 'a', 'b');
    provider('/white.json', '/gone.json');
    const { parts, skipped } = await collect('/metadata.json');
    expect(parts).toHaveLength(2);
    expect(skipped).toEqual([{ entry: `${server.base}/gone.json`, reason: expect.stringContaining('404') }]);
  });

  test('requests lists conditionally and preserves the state of a failing list', async () => {
    feed('/one.json', 'a');
    feed('/two.json', 'b');
    provider('/one.json', '/two.json');
    const first = await collect('/metadata.json');
    server.asked.length = 0;
    const second = await collect('/metadata.json', JSON.parse(JSON.stringify(first.cursor)));
    expect(second).toMatchObject({ parts: [], unchanged: 2, skipped: [], more: false });
    expect(server.asked.map(({ path }) => path)).toEqual(['/metadata.json', '/one.json', '/two.json']);
    expect(server.asked.every(({ headers }) => headers['if-none-match'])).toBe(true);
    server.routes.set('/two.json', (response) => void response.writeHead(500).end());
    const third = await collect('/metadata.json', second.cursor);
    expect([third.unchanged, third.skipped.length]).toEqual([2, 1]);
    server.document('/2024/c.json', JSON.stringify(csafAdvisory('ACME-c')));
    feed('/two.json', 'b', 'c');
    const fourth = await collect('/metadata.json', third.cursor);
    expect([fourth.parts.map(({ url }) => url), fourth.unchanged]).toEqual([[`${server.base}/2024/c.json`], 2]);
  });

  test('spreads many lists over several pulls without losing state', async () => {
    const ids = Array.from({ length: 120 }, (_, n) => `n${n}`);
    for (const id of ids) {
      server.document(`/2024/${id}.json`, JSON.stringify(csafAdvisory(id)));
      if (id !== 'n3') feed(`/${id}.json`, id);
    }
    provider(...ids.map((id) => `/${id}.json`));
    const pulls: FetchSessionResult[] = [];
    for (let pull = 0; pull < 6; pull += 1)
      pulls.push(await collect('/metadata.json', JSON.parse(JSON.stringify(pulls.at(-1)?.cursor ?? null))));
    expect(pulls.map(({ parts, more }) => [parts.length, more])).toEqual([
      [49, true],
      [50, true],
      [20, false],
      [0, true],
      [0, true],
      [0, false],
    ]);
    expect(pulls.map(({ skipped }) => skipped.length)).toEqual([1, 0, 0, 1, 0, 0]);
    expect(pulls.at(-1)!.unchanged).toBe(119);
  });

  test('accepts a list of 90,000 documents and skips a second list beyond the limit', async () => {
    const many = (name: string) =>
      Array.from({ length: 90_000 }, (_, n) => `${name}-${n}.json,2024-01-01T00:00:00Z`).join('\n');
    for (const name of ['x', 'y']) server.document(`/${name}/changes.csv`, many(name), 'text/csv');
    const distributions = ['x', 'y'].map((name) => ({ directory_url: `${server.base}/${name}/` }));
    server.document('/metadata.json', JSON.stringify({ distributions }));
    const seen = Object.fromEntries(
      many('x')
        .split('\n')
        .map((row) => [`${server.base}/x/${row.split(',')[0]}`, '2024-01-01T00:00:00.000Z']),
    );
    const { unchanged, skipped } = await collect('/metadata.json', { seen });
    expect([unchanged, skipped]).toEqual([
      90_000,
      [{ entry: `${server.base}/y/`, reason: expect.stringContaining('more than 100000') }],
    ]);
  });

  test('does not fall back to index.txt if changes.csv fails temporarily', async () => {
    server.document('/metadata.json', JSON.stringify({ distributions: [{ directory_url: `${server.base}/` }] }));
    server.routes.set('/changes.csv', (response) => void response.writeHead(500).end());
    server.document('/index.txt', '2024/a.json\n', 'text/plain');
    await expect(collect('/metadata.json')).rejects.toThrow('status 500');
  });

  test('fetches a single document and handles 304', async () => {
    const first = await collect('/2024/a.json');
    expect(first.parts).toHaveLength(1);
    expect(await collect('/2024/a.json', first.cursor)).toMatchObject({ parts: [], unchanged: 1 });
  });

  test.each([
    ['something else', '{"a":1}', /neither a CSAF/],
    ['no list', 'hello', /neither a CSAF/],
    ['cut off', '{"document":', /not valid JSON/],
    ['nothing to read', '{"distributions":[]}', /no feed and no directory/],
    ['an inner address', '{"distributions":[{"directory_url":"http://169.254.169.254/"}]}', /not a public address/],
    ['a file', '{"distributions":[{"rolie":{"feeds":[{"url":"file:///etc/passwd"}]}}]}', /not supported/],
  ])('rejects %s', async (_name, body, reason) => {
    server.document('/x.json', body);
    await expect(collect('/x.json')).rejects.toThrow(reason);
  });
});
