import { Feed } from 'feed';
import { toPublicLink } from '../../platform/lib/outbound-http/addresses.ts';
import { toXmlText } from '../../platform/lib/text/storable-text.ts';
import {
  type DocumentWriter,
  htmlWriter,
  markdownWriter,
  toHtmlPage,
} from '../../platform/lib/text/document-writer.ts';
import type { Digest } from './digest.schema.ts';

export const renderMarkdown = (digest: Digest, publicUrl: string | null): string =>
  renderParts(digest, publicUrl, markdownWriter).join('\n');

export const renderHtml = (digest: Digest, publicUrl: string | null): string =>
  toHtmlPage(digest.title, renderParts(digest, publicUrl, htmlWriter));

/** Renders digests as RSS 2.0, each as one entry with its contents as HTML. */
export function renderRss(digests: readonly Digest[], publicUrl: string | null): string {
  const feed = new Feed({
    title: 'Threats of the week',
    description: 'What was relevant in each week.',
    id: 'urn:tocsin:digests',
    link: toPublicLink(publicUrl, '/console/digest') ?? 'urn:tocsin:digests',
    generator: 'Tocsin',
    updated: new Date(digests[0]?.to ?? 0),
  });
  for (const digest of digests) {
    const urn = `urn:tocsin:digest:${digest.week}`;
    feed.addItem({
      title: digest.title,
      id: urn,
      guid: urn,
      link: toPublicLink(publicUrl, toDigestPath(digest)) ?? urn,
      date: new Date(digest.to),
      description: toXmlText(digest.summary),
      content: toXmlText(renderParts(digest, publicUrl, htmlWriter).slice(1).join('\n')),
    });
  }
  return feed.rss2();
}

export const toDigestPath = ({ week }: Pick<Digest, 'week'>): string => `/console/digest?week=${week}`;

type Reference = Pick<Digest['exploited'][number], 'itemId' | 'title' | 'severity'>;

function renderParts(digest: Digest, publicUrl: string | null, write: DocumentWriter): string[] {
  const { escape } = write;
  const { stories, exploited, requirements, changes, seen } = digest;
  const linkTo = ({ itemId, title, severity }: Reference): string => {
    const address = toPublicLink(publicUrl, `/console/feed/${itemId}`);
    const text = escape(`${title} (${severity})`);
    return address === null ? text : write.link(text, address);
  };
  const part = (title: string, items: string[]): string[] =>
    items.length === 0 ? [] : [write.heading(title), write.list(items)];
  return [
    write.title(escape(digest.title)),
    write.paragraph(escape(`${digest.summary} TLP:${digest.tlp}`)),
    ...part(
      'Exploited vulnerabilities in your products',
      exploited.map((one) => `${linkTo(one)}: ${escape(`${one.cves.join(', ')} in ${one.products.join(', ')}`)}`),
    ),
    ...part(
      'Seen in your logs',
      seen.map((one) => `${escape(`${one.value} in ${one.datasets.join(', ')}`)}: ${linkTo(one)}`),
    ),
    ...part(
      stories.total > stories.list.length ? `Stories (${stories.list.length} of ${stories.total})` : 'Stories',
      stories.list.map((one) => `${linkTo(one)} ${escape(describeStory(one))}`),
    ),
    ...part(
      'Requirements',
      requirements.map(({ name, total, items }) => `${escape(`${name}: ${total}`)} · ${items.map(linkTo).join(' · ')}`),
    ),
    ...part(
      'Corrected and retracted',
      changes.map(
        (one) =>
          `${linkTo(one)}: ${escape([one.status, one.changed.map(toWords).join(', '), one.note].filter(Boolean).join(', '))}`,
      ),
    ),
  ];
}

const toWords = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function describeStory({ publishers, summary, reasons, advice }: Digest['stories']['list'][number]): string {
  const why = [...new Set(reasons.map(({ kind, matched }) => `${kind} ${matched}`))].join(', ');
  return [
    publishers.join(', '),
    ...(summary ? [summary] : []),
    ...(why ? [`Why: ${why}.`] : []),
    ...(advice.length > 0 ? [`What to do: ${advice.map(({ text }) => text).join(' ')}`] : []),
  ].join(' — ');
}
