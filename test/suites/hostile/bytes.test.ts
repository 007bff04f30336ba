import { expect, test } from 'vitest';
import type { SourceKind } from '../../../src/feed/formats/registry.ts';
import { csafAdvisory } from '../../support/feed/csaf-documents.ts';
import { kevCatalogue, kevRow } from '../../support/feed/kev-source.ts';
import { mispEvent } from '../../support/feed/misp-documents.ts';
import { nvdPage, nvdRow } from '../../support/feed/nvd-documents.ts';
import { osvRecord } from '../../support/feed/osv-documents.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';
import { startHostile } from './hostile.ts';

const { app, org, pullFrom, items } = await startHostile();
const feed = (title: string): string =>
  `<rss><channel><item><guid>${title}</guid><title>${title}</title><description>${title} evil-host[.]top</description></item></channel></rss>`;
const documents: [SourceKind, string][] = [
  ['kev', JSON.stringify(kevCatalogue(1, [kevRow(1, { vulnerabilityName: 'MARK', product: 'MARK' })]))],
  ['stix', JSON.stringify(stixBundle(['a.example'], { name: 'MARK', description: 'MARK. MARK.' }))],
  ['misp', JSON.stringify(mispEvent('a', { info: 'MARK' }))],
  ['csaf', JSON.stringify(csafAdvisory('A-1', { document: { title: 'MARK' } }))],
  ['osv', JSON.stringify({ ...osvRecord('PYSEC-2024-1'), summary: 'MARK', details: 'MARK' })],
  [
    'nvd',
    JSON.stringify(nvdPage([nvdRow('CVE-2024-1234')])).replace(
      '"descriptions":[',
      '"descriptions":[{"lang":"en","value":"MARK"},',
    ),
  ],
  ['rss', feed('MARK')],
  ['csv', '# MARK\nurl,malware\nhttp://evil-host.top/MARK,MARK\n'],
];

/** Characters that PostgreSQL cannot store or that readers may misinterpret, as JSON escapes and as bytes. */
const escapes: Record<string, string> = {
  'U+0000': String.raw`a\u0000b`,
  'a lone high surrogate': String.raw`a\ud800b`,
  'a lone low surrogate': String.raw`a\udc00b`,
  'a right-to-left override': String.raw`a\u202eb`,
  'a noncharacter': String.raw`a\uffffb`,
};

test.each(Object.entries(escapes))(
  '%s in a text affects no other record and is never returned',
  async (name, escape) => {
    for (const [kind, text] of documents) {
      const isJson = text.startsWith('{');
      const bad = isJson ? escape : (JSON.parse(`"${escape}"`) as string);
      const result = await pullFrom(kind, text.replaceAll('MARK', bad));
      expect(result.error ?? '', `${kind} ${name}`).not.toMatch(/inside the service/);
      expect(result.added + result.skipped.length, kind).toBeGreaterThan(0);
    }
    for (const item of await items()) {
      const text = JSON.stringify(item);
      expect(text).not.toContain(String.raw`\u0000`);
      expect(text).not.toMatch(/\\ud[89a-f]/i);
    }
  },
);

const bytes: Record<string, Buffer> = {
  'a byte that is invalid in UTF-8': Buffer.from([0x61, 0xff, 0x62]),
  'a truncated sequence': Buffer.from([0x61, 0xe2, 0x82]),
  'an overlong slash': Buffer.from([0xc0, 0xaf]),
  'a surrogate in UTF-8': Buffer.from([0xed, 0xa0, 0x80]),
  'a byte 0': Buffer.from([0x61, 0x00, 0x62]),
};

test.each(Object.entries(bytes))('%s results in a reason or a readable text', async (_name, bad) => {
  for (const [kind, text] of documents) {
    const [before = '', after = ''] = text.split('MARK', 2);
    const rest = text.slice(before.length + 4);
    expect(after).toBeDefined();
    const result = await pullFrom(kind, Buffer.concat([Buffer.from(before), bad, Buffer.from(rest)]));
    expect(result.error ?? '', kind).not.toMatch(/inside the service/);
    expect(result.error !== undefined || result.added + result.skipped.length > 0, kind).toBe(true);
  }
  expect((await org.call('GET', '/items?perPage=100')).status).toBe(200);
});

test.each([
  ['UTF-16 without a mark', Buffer.from(feed('Title'), 'utf16le')],
  ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(feed('Title'), 'utf16le')])],
  ['a wrongly declared encoding', Buffer.from(`<?xml version="1.0" encoding="utf-16"?>${feed('Title')}`)],
  ['an unknown encoding', Buffer.from(`<?xml version="1.0" encoding="x-evil"?>${feed('Title')}`)],
  ['UTF-7', Buffer.from(`<?xml version="1.0" encoding="utf-7"?>${feed('+ADw-script+AD4-')}`)],
])('reads a feed in %s or gives a reason', async (_name, document) => {
  const { error, added } = await pullFrom('rss', document, 'application/xml');
  expect(error === undefined ? added : error).toSatisfy((told) => told === 1 || /\w/.test(String(told)));
  expect(error ?? '').not.toMatch(/inside the service/);
});

test('rejects NUL and lone surrogates in paths and parameters with the field name, and invalid UTF-8 in bodies', async () => {
  for (const path of [
    '/items?q=%00',
    '/items?source=a%00b',
    '/items?indicator=%00',
    '/items?actor=%00',
    '/api/indicators?value=%00',
    '/items/%00',
    '/items?asOf=%00',
  ])
    expect((await org.call('GET', path)).status, path).toBe(400);
  for (const [path, pointer] of [
    ['/api/detections?q=a%00b', 'query/q'],
    ['/api/detections?tag=%00', 'query/tag'],
    ['/api/hits?entity=%00', 'query/entity'],
    ['/api/audit?cursor=%00', 'query/cursor'],
    ['/taxii2/root/collections/all/objects/?match[id]=%00', 'query/match[id]'],
    ['/taxii2/root/collections/all/objects/%00/', 'path/objectId'],
    ['/api/feed/sources?cursor=%00', 'query/cursor'],
  ] as const)
    expect((await org.call('GET', path)).body.errors?.[0]?.pointer, path).toBe(pointer);
  const broken = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff]), Buffer.from('"}')]);
  expect((await org.call('POST', '/api/feed/items', broken)).status).toBe(400);
  expect((await app.app.inject('/readyz')).statusCode).toBe(200);
});

test('replaces characters in bodies that cannot be stored, except in queries and names of fields', async () => {
  for (const text of ['a report\u0000 on evil-nul.top\u0000', 'a report\ud800 on evil-half.top\ud800']) {
    const posted = await org.call('POST', '/api/feed/items', { text, title: `A ${text.slice(2, 9)}` });
    expect([posted.status, posted.body.event.title]).toEqual([200, 'A report\ufffd']);
    expect(posted.body.iocs.domains).toHaveLength(1);
  }
  const detection = {
    name: 'A\u0000b',
    detectionCategory: 'custom',
    systemPrompt: 'Judge\u0000 it.',
    detectionQuery: 'SELECT "user" FROM auth',
  };
  const created = await org.call('POST', '/api/detections', detection);
  expect([created.status, created.body.name]).toEqual([200, 'A\ufffdb']);
  const refused = [
    { ...detection, detectionQuery: "SELECT 'a\u0000'" },
    { ...detection, 'na\u0000me': 1 },
  ];
  for (const body of refused) expect((await org.call('POST', '/api/detections', body)).status).toBe(400);
});

test('reads values beside control characters in every format', async () => {
  const report = 'C2 at evil-esc.top\u0001 and \u001bevil-tail.top';
  const posted = await org.call('POST', '/api/feed/items', { text: report });
  expect(posted.body.iocs.domains.map(({ value }: { value: string }) => value)).toEqual([
    'evil-esc.top',
    'evil-tail.top',
  ]);
  const padded = 'domain,note\nevil-pad-1.top\u0000\u0000,x\u0001\nevil-pad-2.top\u0000,y\n';
  expect(await pullFrom('csv', padded)).toMatchObject({ added: 1, skipped: [] });
  const found = await org.call('GET', '/api/indicators?value=evil-pad-1.top');
  expect(found.body.items).toHaveLength(1);
});

test('every list rejects an invalid cursor with the field name', async () => {
  const cursors = [
    'x',
    '2026-01-01T00:00:00.000Z x',
    '2026-01-01T00:00:00.000Z a\u0000b',
    '-271821-04-20T00:00:00.000Z 01900000-0000-7000-8000-000000000001',
    '2026-01-01T00:00:00.000Z',
  ].map((text) => Buffer.from(text).toString('base64url'));
  const lists = ['detections', 'detections/suggestions', 'agents', 'hits', 'audit', 'connections', 'destinations'];
  for (const list of lists) {
    for (const cursor of cursors) {
      const { status, body } = await org.call('GET', `/api/${list}?cursor=${cursor}`);
      expect([status, body.errors?.[0]?.pointer], `${list} ${cursor}`).toEqual([400, 'query/cursor']);
    }
  }
  for (const list of ['entities', 'keys'])
    expect((await org.call('GET', `/api/${list}?cursor=${cursors[2]}`)).status, list).toBe(400);
});
