import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { FeedList } from '../src/feed/schema.ts';
import { whileServing } from '../test/fill.ts';
import { multiplyFeed, type Size } from './feed-load.ts';
import { alternate, timed, type Figure, type Line } from './figure.ts';
import { changeProfile, overrideItems } from './feed-relevance.ts';
import { compareHot, variedCatalogue } from './items.ts';
import { apiKey, withDir, withProgram, type Running } from './place.ts';

const size: Size = { copies: 500, organizations: 10, privateItems: 100 };
const rounds = 5;

const lists: Record<string, string> = {
  'first page of 100': '/items?perPage=100',
  'page 40,000 of 20, straight away': '/items?page=40000',
  'severity=critical': '/items?severity=critical',
  'platform=windows': '/items?platform=windows',
  'source, a fifth of all': '/items?source=northmere',
  'three filters at once': '/items?severity=high&platform=windows&source=northmere',
  'duplicates=hide': '/items?duplicates=hide',
  'duplicates=hide and source': '/items?duplicates=hide&source=northmere',
  'indicator, of one item': '/items?indicator=HOST-4711[.]example',
  'cve, of one item': '/items?cve=CVE-2030-4711',
  'q, one item': '/items?q=host-4711.example',
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

/** Fetches once and reads the answer to its end. */
async function get(running: Running, path: string): Promise<string> {
  const response = await fetch(`${running.url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Another moment of the feed: nothing that is kept in memory holds for it. */
async function moveOn(client: pg.Client, orgId: string): Promise<void> {
  await client.query(`update feed_pools set seq = seq + 1 where organization_id = '${orgId}' and kind = 'private'`);
  await new Promise((passed) => {
    setTimeout(passed, 150);
  });
}

type Place = { running: Running; client: pg.Client; orgId: string };

/** A page that is in no memory, beside one statement that reads the same documents by their ids. */
async function cold({ running, client, orgId }: Place, what: string, path: string): Promise<Line> {
  const { items, total } = JSON.parse(await get(running, path)) as FeedList;
  const ids = items.map(({ id }) => id);
  const ours = async (): Promise<number> => {
    await moveOn(client, orgId);
    return timed(() => get(running, path));
  };
  const bare = (): Promise<number> =>
    timed(() => client.query('select doc from items where id = any($1::uuid[])', [ids]));
  const found = await alternate(rounds, { ours, bare, better: 'less' });
  return { what: `${what}: ${total.toLocaleString('en')} in all`, unit: 'ms', ...found };
}

async function plain({ running, client, orgId }: Place, what: string, path: string): Promise<Line> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await moveOn(client, orgId);
    times.push(await timed(() => get(running, path)));
  }
  return { what, unit: 'ms', ours: times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]! };
}

async function wordsOf(client: pg.Client): Promise<Record<'RARE' | 'SOME' | 'HALF', string>> {
  const { rows } = await client.query<{ word: string; ndoc: number }>(
    `select word, ndoc from ts_stat('select words from item_search tablesample system (2)') where word ~ '^[a-z]+$' order by ndoc`,
  );
  const all = (await client.query('select count(*) * 0.02 as n from item_search')).rows[0].n as number;
  const near = (share: number): string =>
    rows.toSorted((a, b) => Math.abs(a.ndoc - share * all) - Math.abs(b.ndoc - share * all))[0]!.word;
  return { RARE: near(0.001), SOME: `${near(0.1)} ${near(0.12)}`, HALF: near(0.5) };
}

function memoryOf(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return found ? Number(found[1]) / 1024 : Number.NaN;
}

async function fill(running: Running, say: (text: string) => void): Promise<string> {
  say('filling the feed');
  await whileServing(variedCatalogue(2_000), async (url) => {
    const source = { kind: 'kev', name: 'bench', url, visibility: 'shared' };
    const { id } = (await running.call('POST', '/api/feed/sources', source)) as { id: string };
    await running.call('POST', `/api/feed/sources/${id}/pull`);
  });
  const client = new pg.Client({ connectionString: running.databaseUrl });
  await client.connect();
  const orgId = String((await client.query('select organization_id as id from feed_sources')).rows[0].id);
  await client.end();
  const ms = await timed(async () => say(`${await multiplyFeed(running.databaseUrl, orgId, size)} items`));
  say(`copied and indexed in ${Math.round(ms / 1000)} s`);
  return orgId;
}

export const feedMillion: Figure = {
  title: 'A feed of a million items, ten organizations with 100 private ones and 1,000 overrides each',
  run: (say) =>
    withProgram({ TOCSIN_FETCH_ALLOW: '127.0.0.1' }, async (running) => {
      const orgId = await fill(running, say);
      const client = new pg.Client({ connectionString: running.databaseUrl });
      await client.connect();
      try {
        const place = { running, client, orgId };
        const words = await wordsOf(client);
        const at = (
          await client.query(
            "select added_to_feed_at as at from items where pool_id = '00000000-0000-7000-8000-000000000001' order by 1 desc offset 10000 limit 1",
          )
        ).rows[0].at as Date;
        const lines: Line[] = [];
        for (const [what, path] of Object.entries(lists)) {
          const named = path.replace(/RARE|SOME|HALF|RECENT/, (name) =>
            encodeURIComponent(name === 'RECENT' ? at.toISOString() : words[name as 'RARE']),
          );
          say(`${what}: ${named}`);
          lines.push(await cold(place, `cold, ${what}`, named));
        }
        lines.push(await plain(place, 'cold, `GET /stats`', '/stats'));
        say('hot');
        lines.push(...(await withDir((dir) => compareHot(dir, running))));
        say('1,000 overrides an organization');
        await overrideItems(client);
        for (const [what, path] of Object.entries(overridden)) lines.push(await cold(place, `cold, ${what}`, path));
        lines.push(await plain(place, 'cold, `GET /stats` with 1,000 overrides', '/stats'));
        say('a profile change');
        lines.push(await changeProfile(running, [words.RARE]));
        lines.push(await cold(place, 'cold, relevancyMode=relevant', '/items?relevancyMode=relevant'));
        const pid = running.program.pid;
        return [...lines, { what: 'memory of the server afterwards', unit: 'MiB', ours: memoryOf(pid) }];
      } finally {
        await client.end();
      }
    }),
};
