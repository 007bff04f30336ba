import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { PostItem, postItem } from '../../src/feed/ingestion/post-item.ts';
import { listItems } from '../../src/feed/items/list-items.ts';
import type { FeedList } from '../../src/feed/model/item.schema.ts';
import { operatorOf } from '../../src/platform/http/caller.ts';
import { readCampaigns } from '../prose/eset-campaigns.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';
import { readRecordedRows } from '../recorded-inputs.ts';
import { withFeedEnvironment, type FeedEnvironment } from './feed-environment.ts';
import { readSourceDocuments, recordedSources } from './passages.ts';

const Query = z.strictObject({ q: z.string(), items: z.array(z.string()).min(1) });
type Query = z.infer<typeof Query>;
const QueryFile = z.strictObject({
  reports: z.array(PostItem),
  first: z.array(Query),
  fresh: z.array(Query),
});

const shownMax = 5;

/** Searches a feed of all recorded inputs, and counts the searches that have an expected item among the first five. */
export function measureSearch(verbose: boolean): Promise<QualityFigure[]> {
  const path = resolve(import.meta.dirname, 'search-queries.yaml');
  const { reports, first, fresh } = QueryFile.parse(parse(readFileSync(path, 'utf8')));
  return withFeedEnvironment(async (place) => {
    await fillFeed(place, reports);
    const countFound = async (queries: Query[]): Promise<number> => {
      let found = 0;
      for (const query of queries) if (await isFound(place, query, verbose)) found += 1;
      return found;
    };
    const [ofFirst, ofFresh] = [await countFound(first), await countFound(fresh)];
    const [found, all] = [ofFirst + ofFresh, first.length + fresh.length];
    const measure = (part: number, of: number): string => `${formatRatio(part, of)} (${part}/${of})`;
    return [
      {
        name: 'found among the first five, written before the search was changed',
        measured: measure(ofFirst, first.length),
      },
      { name: 'found among the first five, written after the last change', measured: measure(ofFresh, fresh.length) },
      {
        name: 'found among the first five, all',
        measured: measure(found, all),
        target: '≥ 0.95',
        isMet: found >= all * 0.95,
      },
    ];
  });
}

type TextRow = { title: string; text: string; publisher?: string | null; date?: string | null; url?: string | null };

async function fillFeed({ deps, orgId, createSourceOf }: FeedEnvironment, reports: PostItem[]): Promise<void> {
  for (const [kind, path] of recordedSources) {
    const documents = readSourceDocuments(path).map(({ name, bytes }) => [name.replaceAll('/', '-'), bytes as Buffer]);
    await (
      await createSourceOf(kind, Object.fromEntries(documents))
    )();
  }
  const texts = ['feed/tram/reports', 'feed/annoctr/dev', 'feed/duplicates/docs'].flatMap((name) =>
    readRecordedRows<TextRow>(`${name}.ndjson.gz`),
  );
  const campaigns = readCampaigns().map(({ campaign, text }) => ({ title: campaign, text, publisher: 'ESET' }));
  for (const input of [...reports, ...[...campaigns, ...texts].map(toReport)])
    await postItem(deps, operatorOf(orgId), input);
}

/** The recorded texts begin with their title and address. */
const heading = /^title: .*\n(?:url: .*\n)?\s*/;

const toReport = ({ title, text, publisher, date, url }: TextRow): PostItem => ({
  title: title.trim(),
  text: text.replace(heading, ''),
  ...(publisher ? { publisher } : {}),
  ...(date ? { publishTime: date } : {}),
  ...(url ? { sourceUrl: url } : {}),
});

async function isFound({ deps, orgId }: FeedEnvironment, { q, items }: Query, verbose: boolean): Promise<boolean> {
  const page = await listItems(deps, { orgId }, { q, perPage: String(shownMax) });
  const list = JSON.parse(String(await page.bytes('identity'))) as FeedList;
  const listed = list.items.map(({ externalId, event }) => [externalId ?? '', event.title]);
  const place = listed.findIndex((names) => items.some((item) => names.some((name) => name.startsWith(item))));
  if (verbose) {
    console.log(`${place === -1 ? 'missed' : place + 1}: ${q} (${list.total} items)`);
    if (place === -1) for (const names of listed) console.log(`    ${names.join(' ')}`);
  }
  return place !== -1;
}
