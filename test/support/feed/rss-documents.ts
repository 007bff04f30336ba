export type TestEntry = { id: string; link?: string; title?: string; date?: string; html?: string };

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Returns an RSS document with these entries. */
export function rssFeed(entries: TestEntry[]): string {
  const items = entries.map(
    ({ id, link, title, date, html }) =>
      `<item><guid isPermaLink="false">${escaped(id)}</guid>${link ? `<link>${escaped(link)}</link>` : ''}${title ? `<title>${escaped(title)}</title>` : ''}${
        date ? `<pubDate>${date}</pubDate>` : ''
      }${html ? `<description>${escaped(html)}</description>` : ''}</item>`,
  );
  return `<?xml version="1.0"?><rss version="2.0"><channel><title>Test</title>${items.join('')}</channel></rss>`;
}

/** Returns a page with an article, navigation and other text around it. */
export function articlePage(title: string, paragraphs: string[], head = ''): string {
  return `<!doctype html><html lang="en"><head><title>${title} - Test Blog</title>${head}</head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About our subscription offers</a></li></ul></nav>
<div class="cookie-banner">We value your privacy and use cookies.</div>
<article><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}
<h2>Indicators of compromise</h2><table><tr><td>evil-host[.]top</td><td>C2</td></tr><tr><td>198.51.101[.]23</td><td>C2</td></tr></table></article>
<footer>Subscribe to our newsletter. Copyright.</footer></body></html>`;
}

/** Returns a number of distinct sentences. */
export const sentences = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, index) =>
      `In step ${index + 1} of the campaign the operators of Emotet sent spearphishing attachments, used PowerShell for stage ${index * 7 + 3}, and then moved on to host number ${index * 13}.`,
  );
