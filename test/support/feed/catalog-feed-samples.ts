/** A document in the structure of a source and what it must bring: the title of an item, and values of its indicators and mappings. */
export type CatalogSample = { document: string; title?: string | RegExp; values?: string[]; mappings?: string[] };

const title = 'Emotet returns';
const link = 'https://blog.example/emotet-returns';
const summary = 'Emotet is back &amp; spreads by spearphishing.';
const body = '<p>Emotet contacted evil-host[.]top from 198.51.101[.]23 by spearphishing attachments.</p>';
const expected = { title, values: ['evil-host.top', '198.51.101.23'] };

/** The elements of an entry as the platforms of blogs write them. The texts are made up. */
const items = {
  wordpress: `<title>${title}</title><link>${link}/</link><comments>${link}/#respond</comments>
<dc:creator><![CDATA[An Analyst]]></dc:creator><pubDate>Mon, 02 Mar 2026 10:00:00 +0000</pubDate>
<category><![CDATA[Malware]]></category><guid isPermaLink="false">https://blog.example/?p=1</guid>
<description><![CDATA[<p>${summary}</p><p>The post <a href="${link}/">${title}</a> appeared first on <a href="https://blog.example">Blog</a>.</p>]]></description>
<content:encoded><![CDATA[${body}]]></content:encoded><slash:comments>0</slash:comments>`,
  ghost: `<title><![CDATA[${title}]]></title><description><![CDATA[${summary}]]></description><link>${link}/</link>
<guid isPermaLink="false">65f0a1b2c3d4e5f6a7b8c9d0</guid><category><![CDATA[Malware]]></category><dc:creator><![CDATA[An Analyst]]></dc:creator>
<pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate><media:content url="https://blog.example/a.png" medium="image"/>
<content:encoded><![CDATA[<img src="https://blog.example/a.png" alt="${title}">${body}]]></content:encoded>`,
  drupal: `<title>${title}</title><link>${link}</link>
<description>&lt;span class="field field--name-title"&gt;${title}&lt;/span&gt; ${body.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</description>
<pubDate>Mon, 02 Mar 26 10:00:00 +0000</pubDate><dc:creator>An Analyst</dc:creator><guid isPermaLink="false">/node/1</guid>`,
  plain: `<title>${title}</title><link>${link}/</link><description><![CDATA[${body}]]></description>
<guid isPermaLink="true">${link}/</guid><pubDate>Mon, 02 Mar 2026 10:00:00 +0000</pubDate>`,
  feedburner: `<title>${title}</title><description><![CDATA[${body}]]></description><link>${link}</link>
<guid isPermaLink="false">${link}</guid><pubDate>Mon, 02 Mar 2026 15:30:00 +0530</pubDate><author>news@blog.example (Blog)</author>
<enclosure length="12216320" type="image/jpeg" url="https://blog.example/a.jpg"/>`,
  node: `<title>\n<![CDATA[ ${title} ]]>\n</title><link>${link}</link><guid>${link}</guid>
<pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate><description>\n<![CDATA[ ${body} ]]>\n</description><dc:creator>An Analyst</dc:creator>`,
};

export const rssSample = (platform: keyof typeof items): CatalogSample => ({
  ...expected,
  document: `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom"
xmlns:slash="http://purl.org/rss/1.0/modules/slash/"><channel><title>Blog</title><link>https://blog.example</link>
<atom:link href="https://blog.example/feed/" rel="self" type="application/rss+xml"/><item>${items[platform]}</item></channel></rss>`,
});

/** Blogger and Movable Type. */
export const atomSample = (type: string): CatalogSample => ({
  ...expected,
  document: `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>tag:blog.example,2026:blog</id>
<updated>2026-03-02T11:00:00Z</updated><title type="text">Blog</title><link rel="self" href="https://blog.example/feeds/posts/default"/><entry>
<id>tag:blog.example,2026:blog.post-1</id><published>2026-03-02T10:00:00Z</published><updated>2026-03-02T11:00:00Z</updated>
<title type="text">${title}</title><content type="${type}">${body.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</content>
<link rel="replies" type="application/atom+xml" href="${link}/comments"/><link rel="alternate" type="text/html" href="${link}"/>
<author><name>An Analyst</name></author></entry></feed>`,
});

/** RSS 1.0, which has a date and a link, and often no text. */
export const rdfSample: CatalogSample = {
  title,
  document: `<?xml version="1.0" encoding="UTF-8"?><rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns:dc="http://purl.org/dc/elements/1.1/" xml:lang="en"><channel rdf:about="https://cert.example/rss.rdf"><title>Alerts</title><items><rdf:Seq>
<rdf:li rdf:resource="${link}"/></rdf:Seq></items></channel><item rdf:about="${link}"><title>${title}</title><link>${link}</link>
<description>${summary}</description><dc:date>2026-03-02T19:00+09:00</dc:date></item></rdf:RDF>`,
};
