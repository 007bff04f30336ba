import { comparePublishTimes, type UnreadText } from '../../model/source-record.ts';
import type { ParseResult, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../fetch-session.ts';
import type { FeedEntry } from './feed-entry.ts';
import { toSkipped } from '../read-parts.ts';
import { feedTypes, fetchFeed } from './fetch-feed.ts';
import { idMaxChars, identifyEntries, type IdentifiedEntry } from './read-feed.ts';
import { selectEntries } from './select-entries.ts';

/** RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 and JSON Feed, and the page of each entry if fetched over the network. */
export const rss: SourceFormat = {
  label: 'RSS, RDF, Atom and JSON feeds, with their articles',
  isText: true,
  accept: feedTypes,
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  files: /\.(?:xml|rss|rdf|atom|json)$/i,
  fetch: fetchFeed,
  digest: ([feed, state]) => selectEntries(feed!, state!),
  parse: parseFeeds,
};

/** Reads the feeds of a directory and the pages of entries. A feed that cannot be read is skipped, or throws if it is the only one. */
function parseFeeds(parts: SourceDocument[]): ParseResult {
  const texts = new Map<string, UnreadText>();
  const skipped: ParseResult['skipped'] = [];
  const add = (text: UnreadText): void => {
    const known = texts.get(text.recordId);
    const order = known ? comparePublishTimes(timeOf(text), timeOf(known)) : 1;
    if (order > 0) texts.set(text.recordId, text);
    else if (order === 0 && (text.html !== known?.html || text.title !== known?.title))
      skipped.push({ entry: text.recordId, reason: 'another entry of the directory has the same id and time' });
  };
  for (const part of parts) {
    if (part.entry) {
      add(toUnreadText(part.entry as FeedEntry, part));
      continue;
    }
    try {
      skipped.push(...identifyEntries(part, (entry) => add(toUnreadText(entry))));
    } catch (error) {
      if (parts.length === 1) throw error;
      skipped.push(toSkipped(part.name, error));
    }
  }
  return { records: [], texts: [...texts.values()], skipped };
}

const timeOf = ({ modifiedAt, publishTime }: UnreadText): string | undefined => modifiedAt ?? publishTime;

function toUnreadText(entry: FeedEntry, part?: SourceDocument): UnreadText {
  const { recordId } = entry as IdentifiedEntry;
  return {
    recordId,
    externalId: entry.id?.slice(0, idMaxChars).toWellFormed(),
    title: entry.title,
    link: /^https?:\/\//i.test(entry.link ?? '') ? entry.link : undefined,
    publishTime: entry.published ?? entry.created ?? entry.updated,
    modifiedAt: entry.updated,
    language: entry.language?.slice(0, 35),
    html: entry.content ?? entry.summary,
    ...(part && part.bytes.length > 0
      ? { page: { bytes: part.bytes, contentType: part.contentType, url: part.url! } }
      : {}),
  };
}
