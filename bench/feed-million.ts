import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { FeedList } from '../src/feed/model/item.schema.ts';
import { publicPool } from '../src/feed/items/writing/feed-pools.store.ts';
import { fillFeed, type FeedSize } from './feed-fill.ts';
import { alternate, timed, type Figure, type Line } from './figure.ts';
import { changeProfile, overrideItems } from './feed-relevance.ts';
import { compareHot } from './items.ts';
import { apiKey, withDir, withProgram, type Running } from './place.ts';

// 2,200 items of 2,000 entries, 100 of 91.
const million: FeedSize = { numbers: 2_000, copies: 455, organizations: 10, ownNumbers: 91 };
const rounds = 5;

const lists: Record<string, string> = {
  'first page of 100': '/items?perPage=100',
  'a page of 20 behind four fifths of all, straight away': '/items?page=DEEP',
  'severity=critical': '/items?severity=critical',
  'platform=windows': '/items?platform=windows',
  'source, a fifth of all': '/items?source=northmere',
  'three filters at once': '/items?severity=high&platform=windows&source=northmere',
  'duplicates=hide': '/items?duplicates=hide',
  'duplicates=hide and source': '/items?duplicates=hide&source=northmere',
  'indicator, of one item': '/items?indicator=HOST-1004711[.]example',
  'cve, of one item': '/items?cve=CVE-2030-1004711',
  'q, one item': '/items?q=host-1004711.example',
  'q, a rare word (about one in 1,000)': '/items?q=RARE',
  'q, two words (about one in 100)': '/items?q=SOME',
  'q, a word of half the items': '/items?q=HALF',
  'updatedSince, the newest 10,000': '/items?updatedSince=RECENT',
};

/** Asked once more where the organization says something of 1,000 items itself. */
const overridden: Record<string, string> = {
  'first page of 20, 1,000 overrides': '/items',
  'severity=critical, 1,000 overrides': '/items?severity=critical',
  'status=retracted, 1,000 overrides': '/items?status=retracted',
  'duplicates=hide, 1,000 overrides': '/items?duplicates=hide',
};

type Place = { running: Running; client: pg.Client; say: (text: string) => void };

/** Fetches once and reads the answer to its end. */
async function get(running: Running, path: string): Promise<string> {
  const response = await fetch(`${running.url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Another moment of the feed: nothing that is kept in memory holds for it. */
async function moveOn(client: pg.Client): Promise<void> {
  await client.query("update feed_pools set seq = seq + 1 where kind = 'private'");
  await new Promise((passed) => {
    setTimeout(passed, 150);
  });
}

/** An answer that is in no memory, beside statements that read the same rows and know which. */
async function cold({ running, client, say }: Place, path: string, bare: () => Promise<unknown>) {
  const ours = async (): Promise<number> => {
    await moveOn(client);
    return timed(() => get(running, path));
  };
  const found = await alternate(rounds, { ours, bare: () => timed(bare), better: 'less' });
  say(`${path}: ${found.ours.toFixed(1)} ms`);
  return { unit: 'ms', ...found };
}

/** The bare counterpart reads the documents by their ids. */
async function coldList(place: Place, what: string, path: string): Promise<Line> {
  const { items, total } = JSON.parse(await get(place.running, path)) as FeedList;
  const ids = items.map(({ id }) => id);
  const found = await cold(place, path, () =>
    place.client.query('select doc from items where id = any($1::uuid[])', [ids]),
  );
  return { what: `cold, ${what}: ${total.toLocaleString('en')} in all`, ...found };
}

/** The bare counterpart reads the kept counts and the titles of the newest. */
async function coldStats(place: Place, what: string): Promise<Line> {
  const { recentItems } = JSON.parse(await get(place.running, '/stats')) as { recentItems: { id: string }[] };
  const ids = recentItems.map(({ id }) => id);
  const found = await cold(place, '/stats', async () => {
    await place.client.query('select severity, platforms, publisher, n from feed_counts');
    await place.client.query('select title, severity, publish_time from items where id = any($1::uuid[])', [ids]);
  });
  return { what, ...found };
}

/** What stands in the paths above for something that depends on the feed. */
async function valuesOf(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ word: string; ndoc: number }>(
    `select word, ndoc from ts_stat('select words from item_search tablesample system (2)') where word ~ '^[a-z]+$' order by ndoc`,
  );
  const [{ n }] = (await client.query<{ n: number }>('select count(*)::int as n from item_search')).rows as [
    { n: number },
  ];
  const near = (share: number): string => {
    const away = ({ ndoc }: { ndoc: number }): number => Math.abs(ndoc - share * n * 0.02);
    return rows.toSorted((a, b) => away(a) - away(b))[0]!.word;
  };
  const recent = await client.query<{ at: Date }>(
    `select added_to_feed_at as at from items where pool_id = '${publicPool}' order by 1 desc offset 10000 limit 1`,
  );
  return {
    DEEP: String(Math.floor((n * 0.8) / 20)),
    RARE: near(0.001),
    SOME: `${near(0.1)} ${near(0.12)}`,
    HALF: near(0.5),
    RECENT: recent.rows[0]!.at.toISOString(),
  };
}

function memoryOf(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return found ? Number(found[1]) / 1024 : Number.NaN;
}

async function measure(place: Place): Promise<Line[]> {
  const { running, client, say } = place;
  const values = await valuesOf(client);
  const lines: Line[] = [];
  for (const [what, path] of Object.entries(lists)) {
    const named = path.replace(/[A-Z]{4,}$/, (name) => encodeURIComponent(values[name]!));
    lines.push(await coldList(place, what, named));
  }
  lines.push(await coldStats(place, 'cold, `GET /stats`'));
  say('hot');
  lines.push(...(await withDir((dir) => compareHot(dir, running))));
  await overrideItems(client);
  say('1,000 overrides an organization');
  for (const [what, path] of Object.entries(overridden)) lines.push(await coldList(place, what, path));
  lines.push(await coldStats(place, 'cold, `GET /stats`, 1,000 overrides'));
  lines.push(await changeProfile(running, [values['RARE']!]));
  say(`a profile change: ${Math.round(lines.at(-1)!.ours)} s`);
  lines.push(await coldList(place, 'relevancyMode=relevant', '/items?relevancyMode=relevant'));
  return [...lines, { what: 'memory of the server afterwards', unit: 'MiB', ours: memoryOf(running.program.pid) }];
}

export const feedMillion: Figure = {
  title: 'A feed of a million items, ten organizations with 100 private ones and 1,000 overrides each',
  run: (say) =>
    withProgram({ TOCSIN_FETCH_ALLOW: '127.0.0.1' }, async (running) => {
      await fillFeed(running, million, say);
      const client = new pg.Client({ connectionString: running.databaseUrl });
      await client.connect();
      try {
        return await measure({ running, client, say });
      } finally {
        await client.end();
      }
    }),
};
