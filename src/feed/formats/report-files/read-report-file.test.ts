import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildOutlookMessage } from '../../../../test/support/report-files/outlook-message.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { readReportFile, withReadablePage } from './read-report-file.ts';

const folder = join(import.meta.dirname, '../../../../test/support/report-files');
const pdf = readFileSync(join(folder, 'report.pdf'));
const read = (bytes: Uint8Array | string, name = 'report') => readReportFile({ name, bytes: Buffer.from(bytes) });

/** A message with parts, as mail programs write it. */
function buildEml(parts: { type: string; body: string; name?: string; encoding?: string }[]): string {
  const lines = parts.flatMap(({ type, body, name, encoding = '8bit' }) => [
    '--b1',
    `Content-Type: ${type}`,
    `Content-Transfer-Encoding: ${encoding}`,
    ...(name ? [`Content-Disposition: attachment; filename="${name}"`] : []),
    '',
    body,
  ]);
  return [
    'Received: from mail.relay.top (203.0.113.9)',
    ' by mx.acme.example; Mon, 23 Nov 2026 10:00:01 +0100',
    'From: Anna <anna@cert.example>',
    'Subject: =?utf-8?q?Bericht_=C3=BCber_Angriffe?=',
    'Date: Mon, 23 Nov 2026 10:00:00 +0100',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b1',
    '',
    ...lines,
    '--b1--',
    '',
  ].join('\r\n');
}
const plain = { type: 'text/plain; charset=utf-8', body: 'The C2 is evil-mail[.]top.' };
const attachedPdf = { type: 'application/pdf', name: 'r.pdf', encoding: 'base64', body: pdf.toString('base64') };

describe('a PDF', () => {
  test('has its paragraphs, and hashes that a narrow column broke are whole', async () => {
    const { text, title } = await read(pdf);
    expect(title).toBe('Operation Night Heron hits banks');
    expect(text).toMatch(/^Operation Night Heron hits banks\n\nOn Monday the actor APT28 .*\nthe document ran/);
    expect(text).toContain('\n\nIndicators of compromise\n\n');
    expect(text).toContain('\n275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f\n');
  });

  test('has no headers and footers of its pages', async () => {
    const { text } = await read(pdf);
    expect(text).not.toContain('ACME CERT');
    expect(text).not.toMatch(/Page \d of \d/);
  });

  test.each([
    ['encrypted.pdf', 'encrypted'],
    ['drawing.pdf', 'has no text'],
  ])('of the file %s is refused: it %s', async (name, reason) => {
    await expect(read(readFileSync(join(folder, name)))).rejects.toThrow(reason);
  });

  test('that is damaged is refused, or read as far as it goes', async () => {
    await expect(read(pdf.subarray(0, 2_000))).rejects.toThrow('the PDF');
    await fc.assert(
      fc.asyncProperty(fc.nat(pdf.length - 40), fc.uint8Array({ minLength: 1, maxLength: 40 }), async (at, noise) => {
        const damaged = Buffer.from(pdf);
        damaged.set(noise, at);
        const outcome = await read(damaged).catch((error: Error) => error.message);
        expect(outcome).toEqual(
          typeof outcome === 'string'
            ? expect.stringContaining('PDF')
            : { text: expect.any(String), ...('title' in outcome ? { title: expect.any(String) } : {}) },
        );
      }),
      { numRuns: 10 },
    );
  });

  test('is the page of a feed entry that links it', async () => {
    const page = { bytes: pdf, contentType: 'application/pdf', url: 'https://cert.example/r.pdf' };
    const { page: readable, title } = await withReadablePage({ recordId: '1', link: page.url, page });
    expect(readable!.contentType).toContain('text/plain');
    expect(Buffer.from(readable!.bytes).toString()).toContain('evil-bank[.]top');
    expect(title).toBe('Operation Night Heron hits banks');
    const broken = { ...page, bytes: pdf.subarray(0, 2_000) };
    expect(await withReadablePage({ recordId: '1', page: broken })).toEqual({ recordId: '1', page: broken });
  });
});

describe('an e-mail', () => {
  test('has its subject, date and text, and no other header', async () => {
    const html = { type: 'text/html', body: '<p>Other</p>' };
    expect(await read(buildEml([plain, html]))).toEqual({
      title: 'Bericht über Angriffe',
      publishTime: '2026-11-23T09:00:00.000Z',
      text: expect.stringMatching(/^The C2 is evil-mail\[\.\]top\./),
    });
  });

  test('has the text of the reports attached to it, and of the messages inside', async () => {
    const image = {
      type: 'image/png',
      name: 'logo.png',
      encoding: 'base64',
      body: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
    };
    const inner = {
      type: 'message/rfc822',
      name: 'inner.eml',
      body: buildEml([{ ...plain, body: 'Inner 198.51.100[.]7' }]).replaceAll('b1', 'b2'),
    };
    const { text } = await read(buildEml([plain, attachedPdf, image, inner]));
    for (const part of ['evil-mail[.]top', 'evil-bank[.]top', 'Inner 198.51.100[.]7']) expect(text).toContain(part);
    expect(text).not.toContain('203.0.113.9');
    expect(text).not.toContain('PNG');
  });

  test('of HTML alone is read as prose', async () => {
    const html = {
      type: 'text/html; charset=utf-8',
      body: '<style>p{}</style><p>The C2 is <b>evil-html[.]top</b>.</p>',
    };
    expect((await read(buildEml([html]))).text.trim()).toBe('The C2 is evil-html[.]top.');
  });

  test('that Outlook saved has its subject and text', async () => {
    const message = buildOutlookMessage({ subject: 'Night Heron', body: 'Hello,\r\nthe C2 is evil-msg[.]top.' });
    expect(await read(message, 'night.msg')).toMatchObject({
      title: 'Night Heron',
      text: 'Hello,\nthe C2 is evil-msg[.]top.',
    });
    for (const bytes of [message.slice(0, 600), message.slice(0, 1_024)])
      await expect(read(bytes, 'night.msg')).rejects.toThrow(new ExternalError('the Outlook message is damaged'));
  });

  test('without any text is refused, as are endless messages inside of each other', async () => {
    await expect(read(buildEml([{ ...plain, body: ' ' }]))).rejects.toThrow('no text');
    let nested = buildEml([plain]);
    for (let depth = 0; depth < 30; depth += 1)
      nested = buildEml([
        { type: 'message/rfc822', name: 'm.eml', body: nested.replaceAll(/b(\d+)/g, (_, n) => `b${Number(n) + 1}`) },
      ]);
    await expect(read(nested)).rejects.toThrow();
  });
});

test('an HTML page is its article, and a text itself', async () => {
  const article = '<p>The actor used evil-page[.]top for its servers, and the victims were banks.</p>'.repeat(12);
  const page = `<!doctype html><html><head><title>Night Heron</title></head><body><nav>Home</nav><article>${article}</article></body></html>`;
  expect((await read(page, 'r.html')).text).toMatch(/^The actor used/);
  expect(await read('To: do\nevil[.]top\r\n', 'notes.txt')).toEqual({ text: 'To: do\nevil[.]top\n' });
  await expect(read(Buffer.from('504b0304140000000000', 'hex'), 'r.docx')).rejects.toThrow(
    'only PDF, e-mail, HTML and text',
  );
});
