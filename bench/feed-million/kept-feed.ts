import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withClient, withProgramIn, type RunningProgram } from '../../test/support/program-environment.ts';
import { fillFeed, type FeedSize } from './fill-feed.ts';

type KeptFeedOptions = {
  dir: string;
  size: FeedSize;
  env: Record<string, string>;
  report: (text: string) => void;
};

/**
 * Runs `work` on a feed in a directory that stays afterwards. Fills the directory if it does not exist. Otherwise removes what an earlier
 * measurement added. Throws if the directory has a feed of another size, or one that was not filled to the end.
 */
export async function withKeptFeed<T>(
  { dir, size, env, report }: KeptFeedOptions,
  work: (running: RunningProgram) => Promise<T>,
): Promise<T> {
  const sizeFile = join(dir, 'feed-size.json');
  const isNew = !existsSync(dir);
  if (isNew) mkdirSync(dir, { recursive: true });
  else if (!existsSync(sizeFile) || readFileSync(sizeFile, 'utf8') !== JSON.stringify(size))
    throw new Error(`${dir} has no complete feed of ${JSON.stringify(size)}. Delete it, or name another directory.`);
  return withProgramIn(dir, env, async (running) => {
    if (isNew) {
      await fillFeed(running, size, report);
      writeFileSync(sizeFile, JSON.stringify(size));
    } else await removeOwnState(running.databaseUrl);
    return work(running);
  });
}

/** Removes the overrides, the profiles and the scores of all organizations. */
const removeOwnState = (databaseUrl: string): Promise<unknown> =>
  withClient(databaseUrl, (client) =>
    client.query(`
      truncate feed_overrides, feed_override_states, feed_relevance, feed_relevance_builds, feed_relevance_cursors, feed_profiles, item_states`),
  );
