import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toReaderVersion } from '../../src/feed/ingestion/content-hash.ts';
import { withClient, withProgramIn, type RunningProgram } from '../../test/support/program-environment.ts';
import { extendFeed, fillFeed, type FeedSize } from './fill-feed.ts';

type KeptFeedOptions = {
  dir: string;
  size: FeedSize;
  env: Record<string, string>;
  report: (text: string) => void;
};

const sizeFileOf = (dir: string): string => join(dir, 'feed-size.json');

/** Returns the size of the feed in a directory, or undefined if the directory holds no complete feed. */
export function findKeptSize(dir: string): FeedSize | undefined {
  const file = sizeFileOf(dir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FeedSize) : undefined;
}

/**
 * Runs `work` on a feed in a directory that stays afterwards. Fills the directory if it does not exist. Otherwise removes what an earlier
 * measurement added, and adds the copies that the feed lacks. Throws if the directory has a larger feed, one of other items, or one that was not
 * filled to the end.
 */
export async function withKeptFeed<T>(
  { dir, size, env, report }: KeptFeedOptions,
  work: (running: RunningProgram) => Promise<T>,
): Promise<T> {
  const isNew = !existsSync(dir);
  const kept = isNew ? undefined : findKeptSize(dir);
  if (isNew) mkdirSync(dir, { recursive: true });
  else if (!kept || !isWithin(kept, size))
    throw new Error(
      `${dir} has no complete feed that is part of ${JSON.stringify(size)}. Delete it, or name another directory.`,
    );
  return withProgramIn(dir, env, async (running) => {
    if (kept) {
      await markAsRead(running.databaseUrl);
      await removeOwnState(running.databaseUrl);
    }
    if (kept?.copies !== size.copies) {
      // A directory without the file is not complete.
      rmSync(sizeFileOf(dir), { force: true });
      await (kept ? extendFeed(running, kept, size, report) : fillFeed(running, size, report));
      writeFileSync(sizeFileOf(dir), JSON.stringify(size));
    }
    return work(running);
  });
}

const isWithin = (kept: FeedSize, size: FeedSize): boolean =>
  kept.copies <= size.copies && JSON.stringify({ ...kept, copies: size.copies }) === JSON.stringify(size);

/**
 * Marks all items as read by the current version of the extraction, so that a program that reads differently than the one that filled the feed
 * does not read them all again during the measurement. A new column with a default needs no update of the rows.
 */
export const markAsRead = (databaseUrl: string): Promise<unknown> =>
  withClient(databaseUrl, async (client) => {
    const current = toReaderVersion(false, 0);
    const stale = await client.query('select 1 from items where reading < $1 limit 1', [current]);
    if (stale.rows.length === 0) return;
    await client.query(`
      alter table items drop column reading;
      alter table items add column reading int not null default ${current};
      alter table items alter column reading set default 0;
      create index on items (reading)`);
  });

/** Removes the overrides, the profiles and the scores of all organizations. */
const removeOwnState = (databaseUrl: string): Promise<unknown> =>
  withClient(databaseUrl, (client) =>
    client.query(`
      truncate feed_overrides, feed_override_states, feed_relevance, feed_relevance_builds, feed_relevance_cursors, feed_profiles, item_states`),
  );
