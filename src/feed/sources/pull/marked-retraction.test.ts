import { afterAll, expect, test } from 'vitest';
import { startServer } from '../../../../test/support/feed/source-server.ts';
import { mispEvent } from '../../../../test/support/feed/misp-documents.ts';
import { stixBundle } from '../../../../test/support/feed/stix-documents.ts';
import { startApp } from '../../../../test/support/harness.ts';

const server = await startServer();
afterAll(() => server.stop());
const { newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });

const rss = (title: string): string =>
  `<rss><channel><item><guid>g1</guid><title>${title}</title><description>The C2 servers of the campaign are evil-marked[.]top and 45.9.148.7.</description></item></channel></rss>`;
const stix = (name: string): string => {
  const modified = name.startsWith('[') ? '2026-02-02T00:00:00.000Z' : '2026-02-01T00:00:00.000Z';
  return JSON.stringify(stixBundle(['evil-marked.top'], { name, modified }));
};
const misp = (info: string): string =>
  JSON.stringify(mispEvent('a', { info, timestamp: info.startsWith('[') ? '1900000001' : '1900000000' }));

test.each([
  ['rss', rss, 'application/xml'],
  ['stix', stix, 'application/json'],
  ['misp', misp, 'application/json'],
] as const)(
  'a mark in the title of a record of %s retracts its item and ends its values',
  async (kind, write, type) => {
    const org = await newOrg();
    const path = `/${kind}`;
    server.document(path, write('The Bluefin campaign'), type);
    const { body: source } = await org.call('POST', '/api/feed/sources', { kind, name: kind, url: server.base + path });
    const pull = async () => (await org.call('POST', `/api/feed/sources/${source.id}/pull`)).body;
    expect(await pull()).toMatchObject({ added: 1 });
    const blocklist = async () =>
      (await org.call('GET', '/api/feed/export/blocklist?type=domain,ipv4&minConfidence=0&maxTlp=RED')).body;
    // The values of the other documents are older than their lifetime.
    if (kind === 'rss') expect(await blocklist()).toBe('45.9.148.7\nevil-marked.top\n');
    server.document(path, write('[RETRACTED] The Bluefin campaign: not malicious'), type);
    expect(await pull()).toMatchObject({ corrected: 0, retracted: 1 });
    const [item] = (await org.call('GET', '/items')).body.items;
    expect(item.event.status).toBe('retracted');
    const statuses = (Object.values(item.iocs) as { status: string }[][]).flat().map(({ status }) => status);
    expect(statuses).toContain('revoked');
    expect(statuses).not.toContain('active');
    expect(await blocklist()).toBe('');
  },
);
