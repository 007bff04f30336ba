import { unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startHits } from '../../../test/support/detection/raised-hits.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { verifyBundle } from './verify-bundle.ts';

const app = await startApp();
const planted = '<script>alert(1)</script> [click](http://evil.example) | `x`';

/** Starts an organization with an incident of two hits, of which the first one has claims. Returns its ID and that of the hit. */
async function startIncident(): Promise<{ org: TestOrg; id: string; hitId: string; erase: () => Promise<unknown> }> {
  const org = await app.newOrg();
  const hits = await startHits(app.deps.db, org.id);
  const [first] = await hits.raise([
    { name: 'a', at: 0, entity: 'ada', techniques: ['T1078'], fields: { src_ip: '198.51.100.7', agent: planted } },
    { name: 'b', at: 2, entity: 'ada', techniques: ['T1567'], severity: 'high' },
  ]);
  const { facts, rows } = await callOk(org, 'GET', `/api/hits/${first}`);
  const [row] = rows;
  const claim = (text: string, status: string, cites: object[] = []) => ({
    text,
    kind: 'fact',
    cites,
    status,
    reason: null,
  });
  const cell = { observation: 'rows', rowId: row.rowId, field: 'src_ip', value: '198.51.100.7' };
  const claims = [
    claim('ada signed in from 198.51.100.7.', 'supported', [cell]),
    claim(planted, 'cited', [{ ...cell, field: 'agent', value: planted }]),
    claim('It occurred once.', 'cited', [{ fact: 'rows' }]),
    claim('ada is an impostor.', 'assessment'),
    claim('ada dumped LSASS.', 'unproven'),
  ];
  await hits.select`update hits set claims = ${JSON.stringify(claims)}, facts = ${JSON.stringify({ ...facts, rows: 1 })}, open_question = 'Was ada abroad?' where id = ${first!}`;
  await hits.place();
  const [incident] = (await callOk(org, 'GET', '/api/incidents')).incidents;
  const erase = () => hits.select`update hits set rows = '[]' where id = ${first!}`;
  return { org, id: incident.id, hitId: first!, erase };
}

async function exportFiles(org: TestOrg, id: string): Promise<{ zip: Buffer; files: Record<string, Uint8Array> }> {
  const response = await app.app.inject({
    url: `/api/incidents/${id}/bundle`,
    headers: { authorization: `Bearer ${org.key}` },
  });
  expect(response.statusCode).toBe(200);
  return { zip: response.rawPayload, files: unzipSync(response.rawPayload) };
}

test('tells an incident by its stages, with the proven claims of each hit and what they cite', async () => {
  const { org, id, hitId } = await startIncident();
  const { story, hits, leftOut } = await callOk(org, 'GET', `/api/incidents/${id}/report`);
  expect(hits.map((hit: { entity: string }) => hit.entity)).toEqual(['ada', 'ada']);
  expect(story.paragraphs.map(({ tactic }: { tactic: string }) => tactic)).toEqual(['initial-access', 'exfiltration']);
  const [{ sentences }] = story.paragraphs;
  expect(sentences.map(({ status }: { status: string }) => status)).toEqual([
    'cited',
    'supported',
    'cited',
    'cited',
    'assessment',
  ]);
  expect(sentences[0]).toMatchObject({
    hitId,
    cites: [{ hit: hitId }],
    text: expect.stringMatching(/, in the window 2026-03-02 \d\d:00 to \d\d:00 UTC\)$/),
  });
  expect(sentences[1]).toMatchObject({ text: 'ada signed in from 198.51.100.7.', cites: [{ field: 'src_ip' }] });
  expect(sentences[3].cites).toEqual([{ fact: 'rows', value: '1' }]);
  expect(story).toMatchObject({ unproven: 1, openQuestions: [{ hitId, text: 'Was ada abroad?' }] });
  expect(leftOut).toEqual({ hits: 0, isTimelineCut: false, areFindingsCut: false });
});

test('renders the report as a file in which no text of a log is markup', async () => {
  const { org, id } = await startIncident();
  const html = await org.call('GET', `/api/incidents/${id}/report?format=html`);
  expect(html.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-disposition': `attachment; filename="incident-${id}.html"`,
  });
  expect(html.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(html.body).not.toMatch(/<script|<img|src=|LSASS/);
  const markdown = (await org.call('GET', `/api/incidents/${id}/report?format=markdown`)).body as string;
  expect(markdown).toContain(String.raw`\[click\](http\://evil.example) \| \`x\``);
  expect(markdown).toContain('[^2]: ');
  expect((await org.call('GET', `/api/incidents/${id}/report?format=pdf`)).status).toBe(400);
});

test('exports a bundle that can be checked without the service, and finds every change of it', async () => {
  const { org, id, hitId } = await startIncident();
  const { zip, files } = await exportFiles(org, id);
  const result = verifyBundle(zip);
  expect(result).toMatchObject({ incidentId: id, sentences: 6, removed: [], faults: [] });
  const { entries } = await callOk(org, 'GET', '/api/audit?action=incident.export');
  expect(entries).toMatchObject([{ sequence: result.head!.sequence, hash: result.head!.hash, resourceId: id }]);

  const faultsWith = (changes: Record<string, (text: string) => string>, added: Record<string, Uint8Array> = {}) =>
    verifyBundle(
      Buffer.from(
        zipSync({
          ...files,
          ...Object.fromEntries(
            Object.entries(changes).map(([name, change]) => [
              name,
              Buffer.from(change(Buffer.from(files[name]!).toString())),
            ]),
          ),
          ...added,
        }),
      ),
    ).faults;
  const name = `hits/${hitId}.json`;
  const other = (text: string): string => text.replaceAll('198.51.100.7', '198.51.100.8');
  expect(faultsWith({ [name]: other })).toContain(`${name} was changed.`);
  expect(faultsWith({ [name]: other })).toContain(`${name}: the rows of rows do not have the hash of the observation.`);
  expect(faultsWith({ 'report.json': (text) => text.replace('signed in from', 'fled to') })).toEqual([
    'report.json was changed.',
    'report.json tells another story than its hits.',
  ]);
  const isOther = (text: string): string => text.replace('"files"', '"note": 1, "files"');
  expect(faultsWith({ 'manifest.json': isOther })).toEqual(['audit.json records another bundle.']);
  const entry = (text: string): string => text.replace(/"actor": .*/, '"actor": "somebody else",');
  expect(faultsWith({ 'audit.json': entry })).toEqual(['audit.json was changed: it does not have its hash.']);
  expect(faultsWith({}, { 'more.txt': Buffer.from('x') })).toEqual(['more.txt is not part of the bundle.']);
  expect(faultsWith({}, { constructor: Buffer.from('x') } as never)).toEqual([
    'constructor is not part of the bundle.',
  ]);
  expect(verifyBundle(Buffer.from('no archive')).faults).toEqual(['manifest.json is missing.']);
});

test('names what an erasure removed, and needs the scope of the runs', async () => {
  const { org, id, hitId, erase } = await startIncident();
  await erase();
  const { zip } = await exportFiles(org, id);
  const { removed, faults } = verifyBundle(zip);
  expect(faults).toEqual([]);
  expect(removed).toHaveLength(2);
  expect(removed[0]).toMatch(new RegExp(`^hit ${hitId}: rows .* src_ip$`));
  const reader = await app.newKey(org, ['hits:read']);
  expect((await reader.call('GET', `/api/incidents/${id}/report`)).status).toBe(200);
  expect((await reader.call('GET', `/api/incidents/${id}/bundle`)).status).toBe(403);
});
