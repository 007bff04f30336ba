import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { FeedList } from '../../src/feed/model/item.schema.ts';
import { publicPoolId } from '../../src/feed/items/writing/feed-pools.store.ts';
import { fillFeed, type FeedSize } from './fill-feed.ts';
import { measureInTurn, measureMs, type Benchmark, type BenchmarkRow, type FeedOptions } from '../benchmark.ts';
import { findKeptSize, withKeptFeed } from './kept-feed.ts';
import { measureProfileChange, overrideItems } from './override-items.ts';
import { compareCachedPages } from '../list-items.ts';
import {
  apiKey,
  withClient,
  withDataDir,
  withRunningProgram,
  type RunningProgram,
} from '../../test/support/program-environment.ts';

// 2,200 items of 2,000 entries, 100 of 91.
const sizeOf = (items: number): FeedSize => ({
  numbers: 2_000,
  copies: Math.ceil(items / 2_200),
  organizations: 10,
  ownNumbers: 91,
});
const rounds = 5;

const lists: Record<string, string> = {
  'first page of 100': '/items?perPage=100',
  'severity=critical': '/items?severity=critical',
  'platform=windows': '/items?platform=windows',
  'source with a fifth of all items': '/items?source=northmere',
  'three filters combined': '/items?severity=high&platform=windows&source=northmere',
  'duplicates=hide': '/items?duplicates=hide',
  'duplicates=hide and source': '/items?duplicates=hide&source=northmere',
  'indicator of one item': '/items?indicator=HOST-10001711[.]example',
  'cve of one item': '/items?cve=CVE-2030-10001711',
  'technique of a twentieth of the items': '/items?technique=T1059',
  'technique and actor': '/items?technique=T1059&actor=Sofacy',
  'technique and severity=high': '/items?technique=T1059&severity=high',
  'q matching one item': '/items?q=host-10001711.example',
  'q with the CVE of one item': '/items?q=CVE-2030-10001711',
  'q with a typo': '/items?q=TYPO',
  'q with a rare word (about one item in 1,000)': '/items?q=RARE',
  'q with two words (about one item in 100)': '/items?q=SOME',
  'updatedSince, the newest 10,000': '/items?updatedSince=RECENT',
  'q with two words, updatedSince, the newest 10,000': '/items?updatedSince=RECENT&q=SOME',
};

/** Requests that are faster when they are repeated, also after the feed changed. */
const repeated: Record<string, string> = {
  'a page of 20 at 80 % of the list': '/items?page=DEEP',
  'q with a word in a twentieth of the items': '/items?q=TWENTIETH',
  'q with a word in half of the items': '/items?q=HALF',
  'q with a word in half of the items, duplicates=hide': '/items?duplicates=hide&q=HALF',
  'q with a word in half of the items, severity=high': '/items?severity=high&q=HALF',
  'q with a word in half of the items, newest first': '/items?searchOrder=newest&q=HALF',
  'q with a word in half of the items, technique': '/items?technique=T1059&q=HALF',
};

/** Requested again after the organization has overrides of 1,000 items. */
const overridden: Record<string, string> = {
  'first page of 20, 1,000 overrides': '/items',
  'severity=critical, 1,000 overrides': '/items?severity=critical',
  'status=retracted, 1,000 overrides': '/items?status=retracted',
  'duplicates=hide, 1,000 overrides': '/items?duplicates=hide',
};

/** Requested once the organization has a profile. */
const relevant: Record<string, string> = {
  'relevancyMode=relevant': '/items?relevancyMode=relevant',
  'relevancyMode=relevant, severity=high': '/items?relevancyMode=relevant&severity=high',
  'relevancyMode=relevant, technique': '/items?relevancyMode=relevant&technique=T1059',
  'relevancyMode=relevant, q with a word in half of the items': '/items?relevancyMode=relevant&q=HALF',
};

const assignedPools = 100;
/** Requested once the organization is assigned the pools of further sources, which have no items yet. */
const assigned: Record<string, string> = {
  'first page of 100': '/items?perPage=100',
  'severity=high': '/items?severity=high',
  'updatedSince, the newest 10,000': '/items?updatedSince=RECENT',
  'q with a word in half of the items': '/items?q=HALF',
};

const env = { TOCSIN_FETCH_ALLOW: '127.0.0.1' };

type FeedBenchmark = { running: RunningProgram; client: pg.Client; report: (text: string) => void };

/** Sends one request and returns the whole response body. */
async function get(running: RunningProgram, path: string): Promise<string> {
  const response = await fetch(`${running.url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Advances the feed, which makes all cached pages outdated. */
async function invalidateCaches(client: pg.Client): Promise<void> {
  await client.query("update feed_pools set seq = seq + 1 where kind = 'private'");
  await sleep(150);
}

/** Measures an uncached response. The baseline reads the same rows by their known IDs. */
async function cold({ running, client, report }: FeedBenchmark, path: string, baseline: () => Promise<unknown>) {
  const tocsin = async (): Promise<number> => {
    await invalidateCaches(client);
    return measureMs(() => get(running, path));
  };
  const result = await measureInTurn(rounds, { tocsin, baseline: () => measureMs(baseline), better: 'less' });
  report(`${path}: ${result.tocsin.toFixed(1)} ms`);
  return { unit: 'ms', ...result };
}

/** Measures an uncached page of a list. The baseline reads the documents by ID. */
async function coldList(benchmark: FeedBenchmark, what: string, path: string): Promise<BenchmarkRow> {
  const { items, total } = JSON.parse(await get(benchmark.running, path)) as FeedList;
  const ids = items.map(({ id }) => id);
  const result = await cold(benchmark, path, () =>
    benchmark.client.query('select doc from items where id = any($1::uuid[])', [ids]),
  );
  return { label: `cold, ${what}: ${total.toLocaleString('en')} items`, ...result };
}

/** Changes 100 items that match frequent words, as a pull would. */
async function changeItems(client: pg.Client): Promise<void> {
  await client.query(`
    with pool as (update feed_pools set seq = seq + 1 where id = '${publicPoolId}' returning seq)
    update items set seq = pool.seq from pool
    where items.id in (select id from items where pool_id = '${publicPoolId}' order by id desc limit 100)`);
}

/** Assigns pools of the first organization to all organizations. */
const assignPools = (client: pg.Client): Promise<unknown> =>
  client.query(
    `insert into feed_pools (id, organization_id, kind, assigned_to)
    select gen_random_uuid(), (select min(id::text)::uuid from organizations), 'assigned', (select array_agg(id) from organizations)
    from generate_series(1, ${assignedPools})`,
  );

/** Measures the first request, and then requests after 100 items changed. */
async function repeatedList(benchmark: FeedBenchmark, what: string, path: string): Promise<BenchmarkRow[]> {
  const first = await measureMs(() => get(benchmark.running, path));
  await changeItems(benchmark.client);
  return [
    { label: `cold, ${what}: the first request`, unit: 'ms', tocsin: first },
    await coldList(benchmark, `${what}, requested again`, path),
  ];
}

/** Measures uncached statistics. The baseline reads the stored counts and the titles of the newest items. */
async function coldStats(benchmark: FeedBenchmark, what: string): Promise<BenchmarkRow> {
  const { recentItems } = JSON.parse(await get(benchmark.running, '/stats')) as { recentItems: { id: string }[] };
  const ids = recentItems.map(({ id }) => id);
  const result = await cold(benchmark, '/stats', async () => {
    await benchmark.client.query('select severity, platforms, publisher, n from feed_counts');
    await benchmark.client.query('select title, severity, publish_time from items where id = any($1::uuid[])', [ids]);
  });
  return { label: what, ...result };
}

/** Items whose words are counted. The time of that grows faster than their number. */
const sampleItemsMax = 20_000;

/** Returns the values for the placeholders in the paths above, which depend on the feed's content. */
async function valuesOf(client: pg.Client): Promise<Record<string, string>> {
  const [{ n }] = (await client.query<{ n: number }>('select count(*)::int as n from item_search')).rows as [
    { n: number },
  ];
  const sampled = Math.min(0.02, sampleItemsMax / n);
  const { rows } = await client.query<{ word: string; ndoc: number }>(
    `select word, ndoc from ts_stat('select words from item_search tablesample system (${100 * sampled})') where word ~ '^[a-z]+$' order by ndoc`,
  );
  const near = (share: number, minChars = 1): string => {
    const away = ({ ndoc }: { ndoc: number }): number => Math.abs(ndoc - share * n * sampled);
    const words = rows.filter(({ word }) => word.length >= minChars);
    return words.toSorted((a, b) => away(a) - away(b))[0]!.word;
  };
  const recent = await client.query<{ at: Date }>(
    `select added_to_feed_at as at from items where pool_id = '${publicPoolId}' order by 1 desc offset 10000 limit 1`,
  );
  return {
    DEEP: String(Math.floor((n * 0.8) / 20)),
    RARE: near(0.001),
    SOME: `${near(0.1)} ${near(0.12)}`,
    TWENTIETH: near(0.05),
    HALF: near(0.5),
    // Invented words have no x.
    TYPO: near(0.05, 6).replace(/^.../, '$&x'),
    RECENT: recent.rows[0]!.at.toISOString(),
  };
}

function memoryOf(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return found ? Number(found[1]) / 1024 : Number.NaN;
}

async function measure(benchmark: FeedBenchmark): Promise<BenchmarkRow[]> {
  const { running, client, report } = benchmark;
  const values = await valuesOf(client);
  const lines: BenchmarkRow[] = [];
  const withValue = (path: string): string =>
    path.replace(/[A-Z]{4,}/g, (name) => encodeURIComponent(values[name] ?? name));
  for (const [what, path] of Object.entries(lists)) lines.push(await coldList(benchmark, what, withValue(path)));
  for (const [what, path] of Object.entries(repeated))
    lines.push(...(await repeatedList(benchmark, what, withValue(path))));
  lines.push(await coldStats(benchmark, 'cold, `GET /stats`'));
  const worth = await measureMs(() => get(running, '/api/feed/sources/worth'));
  lines.push({ label: 'what each of five sources is worth', unit: 'ms', tocsin: worth });
  report('hot');
  lines.push(...(await withDataDir((dir) => compareCachedPages(dir, running))));
  await overrideItems(client);
  report('1,000 overrides per organization');
  for (const [what, path] of Object.entries(overridden)) lines.push(await coldList(benchmark, what, path));
  lines.push(await coldStats(benchmark, 'cold, `GET /stats`, 1,000 overrides'));
  lines.push(await measureProfileChange(running, [values['RARE']!]));
  report(`a profile change: ${Math.round(lines.at(-1)!.tocsin)} s`);
  for (const [what, path] of Object.entries(relevant)) lines.push(await coldList(benchmark, what, withValue(path)));
  await assignPools(client);
  for (const [what, path] of Object.entries(assigned))
    lines.push(await coldList(benchmark, `${what}, ${assignedPools} assigned sources`, withValue(path)));
  return [...lines, { label: 'memory of the server at the end', unit: 'MiB', tocsin: memoryOf(running.program.pid) }];
}

const organizations = 'ten organizations with 100 private items and 1,000 overrides each';

const createFeedBenchmark = (title: string, findSize: (options: FeedOptions) => FeedSize): Benchmark => ({
  note: 'The total of a list is exact. A search with more than 500 matches ranks the newest 500, of a frequent text the newest 200. A text that more than about 6,000 items match is searched among the newest items, and its total is an estimate from a sample of the items.',
  title,
  run: (report, options) => {
    const size = findSize(options);
    const measureIn = (running: RunningProgram): Promise<BenchmarkRow[]> =>
      withClient(running.databaseUrl, (client) => measure({ running, client, report }));
    const fillAndMeasure = async (running: RunningProgram): Promise<BenchmarkRow[]> => {
      await fillFeed(running, size, report);
      return measureIn(running);
    };
    return options.keptDir === undefined
      ? withRunningProgram(env, fillAndMeasure)
      : withKeptFeed({ dir: options.keptDir, size, env, report }, measureIn);
  },
});

export const feedMillionBenchmark = createFeedBenchmark(
  `A feed of a million items and ${organizations}`,
  ({ items = 1_000_000 }) => sizeOf(items),
);

/** Returns the requested size. Without a request, that of the kept feed, or else of five million items. */
const findLargeSize = ({ items, keptDir }: FeedOptions): FeedSize =>
  (items === undefined && keptDir !== undefined ? findKeptSize(keptDir) : undefined) ?? sizeOf(items ?? 5_000_000);

const largeTitle = 'A large feed';

export const feedLargeBenchmark: Benchmark = {
  ...createFeedBenchmark(largeTitle, findLargeSize),
  titleOf: (options) => {
    const { numbers, copies } = findLargeSize(options);
    return `${largeTitle}: ${(numbers * 1.1 * copies).toLocaleString('en')} items and ${organizations}`;
  },
  isOnlyByName: true,
};
