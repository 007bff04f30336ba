import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { articlePage, rssFeed, sentences } from '../../../../test/support/feed/rss-documents.ts';
import { readArticle, toCanonicalUrl, isSameSite } from './read-entry-text.ts';
import { parseFeedDate } from '../parse-date.ts';
import { decodeDocument } from '../decode-document.ts';
import { type FeedEntry, readFeed } from './read-feed.ts';
import { htmlToText } from './html-text.ts';
import { webAddresses } from '../../../../test/support/feed/web-addresses.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const entriesOf = (text: string | Buffer, more: object = {}): FeedEntry[] =>
  readFeed({ bytes: Buffer.from(text as string), ...more }).entries;

test('uses the summary of a podcast if there is no other', () => {
  const item = '<item><title>T</title><itunes:summary>Spoken &amp; heard</itunes:summary></item>';
  const feed = `<rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" version="2.0"><channel>${item}</channel></rss>`;
  expect(entriesOf(feed)[0]!.summary).toContain('Spoken');
  expect(entriesOf(feed.replace('<title>', '<description>D</description><title>'))[0]!.summary).toBe('D');
});

test('prefers the full text of the content module to the description', () => {
  const item = '<item><description>Short</description><content:encoded>Whole</content:encoded></item>';
  const space = 'xmlns:content="http://purl.org/rss/1.0/modules/content/"';
  expect(entriesOf(`<rss ${space} version="2.0"><channel>${item}</channel></rss>`)[0]).toMatchObject({
    content: 'Whole',
    summary: 'Short',
  });
});

describe('dates', () => {
  test.each([
    ['Thu, 01 Jan 2004 19:48:21 GMT', '2004-01-01T19:48:21.000Z'],
    ['Thu, 01 Jan 04 19:48 EST', '2004-01-02T00:48:00.000Z'],
    ['1 January 2004', '2004-01-01T00:00:00.000Z'],
    ['Thu, 1 Jan 2004 19:48:21 +0530', '2004-01-01T14:18:21.000Z'],
    ['Thu, 01 Jan 2004 19:48:21 CET', '2004-01-01T18:48:21.000Z'],
    ['Jan 5, 2004 10:00:00 PST', '2004-01-05T18:00:00.000Z'],
    ['Sun Jan  4 16:29:06 2004', '2004-01-04T16:29:06.000Z'],
    ['2003-12-31T10:14:55Z', '2003-12-31T10:14:55.000Z'],
    ['2003-12-31T10:14:55.25-08:00', '2003-12-31T18:14:55.000Z'],
    ['2003-12-31 10:14:55', '2003-12-31T10:14:55.000Z'],
    ['20031231', '2003-12-31T00:00:00.000Z'],
    ['2003-12', '2003-12-01T00:00:00.000Z'],
    ['2003', '2003-01-01T00:00:00.000Z'],
    ['yesterday', undefined],
    ['Thu, 41 Jan 2004', undefined],
    ['2003-13-01', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('parses the date %s', (text, expected) => expect(parseFeedDate(text)).toBe(expected));
});

describe('encodings', () => {
  const xml = (encoding: string): string =>
    `<?xml version="1.0" encoding="${encoding}"?><rss><channel><item><title>é漢</title></item></channel></rss>`;
  test.each([
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${xml('utf-8')}`), undefined, 'é漢'],
    ['UTF-16 with a mark', Buffer.from(`\uFEFF${xml('utf-16')}`, 'utf16le'), undefined, 'é漢'],
    ['UTF-16 without', Buffer.from(xml('utf-16'), 'utf16le'), undefined, 'é漢'],
    [
      'as declared',
      Buffer.concat([
        Buffer.from('<?xml version="1.0" encoding="gb2312"?><rss><channel><item><title>'),
        Buffer.from([0xba, 0xba]),
        Buffer.from('</title></item></channel></rss>'),
      ]),
      undefined,
      '汉',
    ],
    [
      'by content type before the declaration',
      Buffer.from(xml('utf-8').replace('漢', ''), 'latin1'),
      'text/xml; charset="iso-8859-1"',
      'é',
    ],
    ['UTF-8 that claims to be ASCII', Buffer.from(xml('us-ascii')), 'text/xml; charset=us-ascii', 'é漢'],
    [
      'windows-1252 that says nothing',
      Buffer.from('<rss><channel><item><title>\x93é\x94</title></item></channel></rss>', 'latin1'),
      undefined,
      '“é”',
    ],
    [
      'windows-1252 that claims to be UTF-8',
      Buffer.from('<?xml version="1.0" encoding="utf-8"?><rss><item><title>caf\xe9</title></item></rss>', 'latin1'),
      undefined,
      'café',
    ],
    [
      'UTF-8 with a damaged byte',
      Buffer.concat([Buffer.from('<rss><item><title>éé'), Buffer.from([0xff]), Buffer.from('</title></item></rss>')]),
      'text/xml; charset=utf-8',
      'éé\uFFFD',
    ],
    ['an unknown name', Buffer.from(xml('klingon')), 'text/xml; charset=x-none', 'é漢'],
  ])('decodes %s', (_name, bytes, contentType, title) =>
    expect(entriesOf(bytes, { contentType })[0]?.title).toBe(title),
  );

  test('decodes arbitrary bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        (bytes) => typeof decodeDocument(Buffer.from(bytes), 'text/html; charset=utf-32') === 'string',
      ),
    );
  });
});

test('resolves relative links of a JSON Feed, and reports what is no item', () => {
  const feed = { version: 'https://jsonfeed.org/version/1.1', items: [{ id: '1', url: '/posts/1' }, 'x'] };
  const { entries } = readFeed({ bytes: Buffer.from(JSON.stringify(feed)), url: 'https://blog.example/feed.json' });
  expect(entries.map(({ link }) => link)).toEqual(['https://blog.example/posts/1', undefined]);
});

describe('hostile feeds', () => {
  const readOrReject = (text: string): void => {
    try {
      entriesOf(text);
    } catch (error) {
      expect(error).toBeInstanceOf(ExternalError);
    }
  };
  const bomb = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">${Array.from({ length: 9 }, (_, level) => `<!ENTITY lol${level + 1} "${`&lol${level || ''};`.repeat(10)}">`).join('')}]>`;

  test('does not expand or load DTD entities', () => {
    const [entry] = entriesOf(`${bomb}<rss><channel><item><title>a&lol9;b</title></item></channel></rss>`);
    expect(entry?.title).toBe('a&lol9;b');
    const external =
      '<!DOCTYPE x [<!ENTITY xxe SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM "http://10.0.0.1/x"> %p;]>';
    expect(entriesOf(`${external}<rss><channel><item><title>&xxe;</title></item></channel></rss>`)[0]?.title).toBe(
      '&xxe;',
    );
    // Markup in an entity value is not part of the feed.
    const inValue =
      '<!DOCTYPE rss [<!ENTITY e "<evil>x</evil>">]><rss><channel><item><title>T</title></item></channel></rss>';
    expect(entriesOf(inValue).map(({ title }) => title)).toEqual(['T']);
  });

  const namespaces = Array.from({ length: 150 }, (_, index) => `<a xmlns:n${index}="u">`).join('');
  test.each<[string, (length: number) => string]>([
    ['nested deep', repeated('<a>', '<rss>')],
    ['many elements', repeated('<a/>', '<rss><channel>')],
    ['many items', repeated('<item><title>x</title></item>', '<rss><channel>')],
    [
      'many attributes',
      (length) =>
        `<rss ${Array.from({ length: length / 10 }, (_, index) => `a${index}="1"`).join(' ')}><channel/></rss>`,
    ],
    ['many namespaces', repeated('<b xmlns:q="u"/>', `<rss>${namespaces}`)],
    ['many doctypes', repeated('<!DOCTYPE x [ "')],
    ['unfinished entities', repeated('&a', '<rss><channel><item><title>')],
    ['unfinished tags', repeated('<item <', '<rss><channel>')],
    ['an endless date', repeated('1 ', '<rss><channel><item><pubDate>', '</pubDate></item></channel></rss>')],
    ['a title of cells', repeated('&lt;td>', '<rss><channel><item><title>', '&lt;/td></title></item></channel></rss>')],
  ])('takes linear time: %s', (_name, textOf) => expectLinearTime(textOf, readOrReject, 400_000));

  test('takes linear time: deep JSON', () =>
    // From a million levels on, JSON.parse alone needs 25 times as long for eight times the text.
    expectLinearTime(repeated('[', '{"version":"1","items":'), readOrReject, 100_000));

  test('reads bytes that are no text', () => {
    const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => (index * 7919) % 256));
    expect(() => entriesOf(bytes)).toThrow(Error);
  });

  test('returns valid entries or an error for arbitrary text', () => {
    const markup =
      `<rss> <channel> <item> </item> <title> </title> <![CDATA[ ]]> <!-- --> & &lt; " > < x { <?xml ?>`.split(' ');
    const piece = fc.constantFrom(...markup, '<a b="', '\u0000', '\ud800', '<link href=x>');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        try {
          for (const entry of entriesOf(pieces.join('')))
            for (const text of Object.values(entry))
              if (text !== undefined) expect([text.isWellFormed(), text.includes('\u0000')]).toEqual([true, false]);
        } catch (error) {
          expect((error as Error).message).toMatch(/\w/);
          expect(error).toBeInstanceOf(ExternalError);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('addresses of articles', () => {
  test.each([
    ['https://www.blog.example/a/b/?utm_source=rss&utm_medium=feed#top', 'blog.example/a/b'],
    ['http://blog.example:80/a/b', 'blog.example/a/b'],
    ['https://blog.example/a/b/index.html', 'blog.example/a/b'],
    ['https://blog.example/?p=12&fbclid=x', 'blog.example?p=12'],
    ['https://blog.example/a?b=2&a=1', 'blog.example/a?a=1&b=2'],
    ['https://amp.blog.example/a/b', 'blog.example/a/b'],
    ['https://blog.example/a/b/amp/', 'blog.example/a/b'],
    ['https://www.google.com/amp/s/blog.example/a/b', 'blog.example/a/b'],
    ['https://blog-example.cdn.ampproject.org/c/s/blog.example/a/b', 'blog.example/a/b'],
    ['https://web.archive.org/web/20250101000000/https://blog.example/a/b?x=1', 'blog.example/a/b?x=1'],
    ['https://web.archive.org/web/2025id_/http://www.blog.example/a', 'blog.example/a'],
    ['https://Blog.Example/A', 'blog.example/A'],
    ['https://blog.example:8443/a', 'blog.example:8443/a'],
    ['javascript:alert(1)', undefined],
    ['', undefined],
  ])('the canonical form of %s', (address, expected) => expect(toCanonicalUrl(address)).toBe(expected));

  test('is idempotent', () => {
    fc.assert(
      fc.property(webAddresses, (address) => {
        const once = toCanonicalUrl(address);
        if (once !== undefined) expect(toCanonicalUrl(`https://${once}`)).toBe(once);
      }),
      { numRuns: 100 },
    );
  });

  test('accepts a canonical address only on the same site', () => {
    expect(isSameSite('https://www.blog.example/a?x', 'https://blog.example/a')).toBe(true);
    expect(isSameSite('https://news.blog.example/a', 'https://blog.example/news/a')).toBe(true);
    expect(isSameSite('https://blog.example/a', 'https://evil.example/a')).toBe(false);
    expect(isSameSite('https://blog.example/a', 'https://blog.example/')).toBe(false);
    expect(isSameSite('https://blog.example/a', 'file:///a')).toBe(false);
  });
});

describe('text of HTML', () => {
  test('converts blocks, cells and items to lines and omits invisible elements', () => {
    const html = `<h2>Indicators</h2><p>One <b>bold</b>&nbsp;word.<br>Next</p><ul><li><p>evil[.]top</p></li><li>b</li></ul><script>no</script>
      <table><tr><th>Host</th><th>Use</th></tr><tr><td>c[.]top</td><td><p>C2</p></td></tr></table><pre>a\n  b</pre><style>no</style><a href="https://x.example">link</a>`;
    expect(htmlToText(html)).toBe(
      '## Indicators\n\nOne bold word.\nNext\n\n- evil[.]top\n\n- b\n\n| Host | Use\n| c[.]top | C2\n\na\n  b\n\nlink',
    );
  });

  test.each(['<td>', '<li><p>', '<h1>', '<pre>\n', '<div>', '<script>', '<b', '&#', '|', '- '])(
    'converts a page full of %j in linear time',
    (piece) => expectLinearTime(repeated(piece), htmlToText, 200_000),
  );

  test('extracts the article and its canonical address', () => {
    const html = articlePage('Emotet again', sentences(10), '<link rel="canonical" href="/the-name">');
    const { text, canonical } = readArticle({
      bytes: Buffer.from(html),
      contentType: 'text/html',
      url: 'https://blog.example/x?utm_source=a',
    });
    expect(canonical).toBe('https://blog.example/the-name');
    expect(text).toContain(sentences(10).at(-1)!);
    expect(text).toContain('| evil-host[.]top | C2');
    expect(text).not.toMatch(/newsletter|privacy|subscription/);
  });
});

test('parses deterministically and returns entries with equal ids', () => {
  const feed = rssFeed([
    { id: 'a', title: 'First' },
    { id: 'a', title: 'Second' },
  ]);
  expect(entriesOf(feed)).toEqual(entriesOf(feed));
  expect(entriesOf(feed).map(({ title }) => title)).toEqual(['First', 'Second']);
});
