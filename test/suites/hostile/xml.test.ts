import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { articlePage, sentences } from '../../support/feed/rss-documents.ts';
import { startHostile, startTrap } from './hostile.ts';

const { app, server, pullFrom, items } = await startHostile();
const trap = await startTrap();
const secret = join(app.dataDir, 'secret.txt');
writeFileSync(secret, 'the-secret-of-this-machine');

const laughs = Array.from(
  { length: 12 },
  (_, level) => `<!ENTITY l${level + 1} "${`&l${level || 0};`.repeat(10)}">`,
).join('');
const entry = (title: string, link = ''): string =>
  `<rss version="2.0"><channel><item><title>${title}</title>${link}<description>Emotet was seen.</description></item></channel></rss>`;

const external = (address: string): string =>
  `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "${address}"><!ENTITY % p SYSTEM "${address}"> %p;]>`;

const documents: Record<string, string> = {
  'a billion laughs': `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY l0 "ha">${laughs}]>${entry('a &l12; b')}`,
  'quadratic blow-up': `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY b "${'B'.repeat(100_000)}">]>${entry('&b;'.repeat(1_000))}`,
  'a file entity': external(pathToFileURL(secret).href) + entry('&x;'),
  'a URL entity': external(`${trap.base}/entity`) + entry('&x;'),
  'an external DTD': `<?xml version="1.0"?><!DOCTYPE rss SYSTEM "${trap.base}/evil.dtd">${entry('T')}`,
  'a style sheet': `<?xml version="1.0"?><?xml-stylesheet href="${trap.base}/x.xsl" type="text/xsl"?>${entry('T')}`,
  'an inclusion': entry(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="${trap.base}/x" parse="text"/>T`),
};

test.each(Object.entries(documents))('reads a feed with %s and ignores it', async (name, document) => {
  const result = await pullFrom('rss', document, 'application/xml');
  expect(result, name).toMatchObject({ added: 1 });
  const [item] = await items();
  const text = JSON.stringify(item);
  expect(text).not.toContain('the-secret-of-this-machine');
  expect(text).not.toMatch(/(?:ha){50}|B{200}/);
  expect(text.length).toBeLessThan(50_000);
  expect(trap.asked).toEqual([]);
});

test('fetches nothing that a page links to: images, frames, scripts, refreshes', async () => {
  const head = `<meta http-equiv="refresh" content="0;url=${trap.base}/r"><base href="${trap.base}/"><link rel="stylesheet" href="${trap.base}/s">`;
  const more = `<img src="${trap.base}/i"><iframe src="${trap.base}/f"></iframe><script src="${trap.base}/j"></script><object data="${trap.base}/o"></object>`;
  server.document('/page', articlePage('Report', [...sentences(8), more], head), 'text/html');
  const result = await pullFrom('rss', entry('Page', `<link>${server.base}/page</link>`), 'application/xml');
  expect(result).toMatchObject({ added: 1 });
  expect(trap.asked).toEqual([]);
});

test.each([
  ['nested elements', '<div>'.repeat(200_000)],
  ['nested tables', '<table><tr><td>'.repeat(50_000)],
  ['an element with many attributes', `<p ${Array.from({ length: 50_000 }, (_, n) => `a${n}=x`).join(' ')}>`],
])('uses the text of the feed instead of an article with %s', async (name, html) => {
  const path = `/${encodeURIComponent(name)}`;
  server.document(path, `<html><body>${html}`, 'text/html');
  const result = await pullFrom('rss', entry(name, `<link>${server.base}${path}</link>`), 'application/xml');
  expect(result).toMatchObject({ added: 1, skipped: [] });
});
