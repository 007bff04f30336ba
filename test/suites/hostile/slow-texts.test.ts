import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createThreadPool } from '../../../src/platform/lib/threads/thread-pool.ts';
import { csafAdvisory } from '../../support/feed/csaf-documents.ts';
import { kevCatalogue, kevRow } from '../../support/feed/kev-source.ts';
import { mispAttribute, mispEvent } from '../../support/feed/misp-documents.ts';
import { nvdPage, nvdRow } from '../../support/feed/nvd-documents.ts';
import { osvRecord } from '../../support/feed/osv-documents.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';
import { growthMax } from '../../support/linear-time.ts';
import type { FuzzTask } from './fuzz-thread.ts';

/*
 * Texts that make a backtracking regular expression explode: many repetitions between a start and an end that do not match. A parser that hangs loses
 * its thread.
 */
const timeoutMs = 500_000;
const threads = createThreadPool<FuzzTask, number>({
  file: new URL('fuzz-thread.ts', import.meta.url),
  threadsMax: 1,
  waitingMax: 4,
  memoryMb: 512,
});
afterAll(() => threads.close());

const mark = 'MARK';
const rss = `<rss><channel><item><title>${mark}</title><link>https://a.example/${mark}</link><pubDate>${mark}</pubDate><description>${mark}</description></item></channel></rss>`;
const documents: [FuzzTask['kind'], string][] = [
  ['text', mark],
  ['csv', mark],
  ['csv', `# ${mark}\nurl,ip,confidence,first_seen\n"${mark}",1.2.3.4 ${mark},${mark},${mark}\n`],
  ['rss', rss],
  ['rss', `<rss ${mark}`],
  ['osv', mark],
  [
    'osv',
    JSON.stringify({
      ...osvRecord('PYSEC-2024-1'),
      summary: mark,
      details: mark,
      severity: [{ type: 'CVSS_V3', score: mark }],
    }),
  ],
  [
    'kev',
    JSON.stringify(
      kevCatalogue(1, [kevRow(1, { product: mark, shortDescription: mark, notes: mark, dateAdded: mark })]),
    ),
  ],
  ['stix', JSON.stringify(stixBundle([mark], { name: mark, description: mark, modified: mark }))],
  [
    'misp',
    JSON.stringify(
      mispEvent('a', {
        info: mark,
        date: mark,
        Tag: [{ name: mark }],
        Attribute: ['text', 'url', 'domain', 'filename', 'regkey', 'ip-dst', 'ssdeep', 'email'].map((type) =>
          mispAttribute(type, mark),
        ),
      }),
    ),
  ],
  [
    'csaf',
    JSON.stringify(csafAdvisory('A-1', { document: { title: mark, notes: [{ category: 'summary', text: mark }] } })),
  ],
  ['nvd', JSON.stringify(nvdPage([nvdRow('CVE-2024-1234')])).replaceAll(/"value":"[^"]*"/g, `"value":"${mark}"`)],
];

const pieces = [
  ..." \t\n.,-_/\\!#*=:;'([{<&%@|+0a\u200bé",
  ...'a. 1. [.] ]( <td> &lt; %41 a@ http://a.b/ CVE-2020- #\n='.split(' '),
  ..."A | #|' OR |T1059 |Emotet |<META\tCHARSET=|HKLM\\a |C:\\a |AND ".split('|'),
];
const beginnings = [
  '',
  ..."http://a.example/ C:\\ HKLM\\Software\\ /tmp/ [ a # = ' arn:aws:s3::: CVSS:3.1/".split(' '),
];
const endings = ['', 'x', '\u0000', '#x', '!', ']', "'"];

const shaped = fc.record({
  before: fc.constantFrom(...beginnings),
  part: fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  after: fc.constantFrom(...endings),
});

async function expectLinear(task: Omit<FuzzTask, 'mark'>): Promise<void> {
  expect(await threads.run({ ...task, mark }, { timeoutMs }), JSON.stringify(task)).toBeLessThan(growthMax);
}

// Every second repetition in one document, and the others in the next, often of the same kind.
test.each(documents.map(([kind, document], number) => ({ kind, document, number })))(
  'parses $kind document $number in linear time with each repetition alone',
  { timeout: 600_000 },
  async ({ kind, document, number }) => {
    for (const part of pieces.filter((_, at) => at % 2 === number % 2))
      await expectLinear({ kind, document, before: 'a', part, after: 'x' });
  },
);

test('parses any combination of repetitions in linear time', { timeout: 600_000 }, async () => {
  const which = fc.constantFrom(...documents);
  await fc.assert(
    fc.asyncProperty(which, shaped, async ([kind, document], text) => expectLinear({ kind, document, ...text })),
    { numRuns: 30, endOnFailure: true },
  );
});
