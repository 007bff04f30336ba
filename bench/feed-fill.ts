import { openDb } from '../src/platform/db/db.ts';
import { systemClock } from '../src/platform/lib/clock.ts';
import { scopes } from '../src/platform/orgs/caller.ts';
import { createKey } from '../src/platform/orgs/keys.ts';
import { createOrganization } from '../src/app/bootstrap.ts';
import { multiplyFeed } from './feed-load.ts';
import { firstNumber, pullSeeds, seedsOf } from './feed-seeds.ts';
import { timed } from './figure.ts';
import { callWith, type Running } from './place.ts';

/** Entries of the shared sources and how often each stands in the feed; organizations, and entries that each has alone. */
export type FeedSize = { numbers: number; copies: number; organizations: number; ownNumbers: number };

const firstOwnNumber = 9_000_000;

/** Every organization reads its own items through the program, the first one the shared ones too; these are then copied. */
export async function fillFeed(running: Running, size: FeedSize, say: (text: string) => void): Promise<void> {
  const { numbers, copies, organizations, ownNumbers } = size;
  const day = new Date(Date.now() - 3 * 86_400_000);
  const ms = await timed(async () => {
    await pullSeeds(running.call, seedsOf(firstNumber, numbers, day), 'shared');
    const calls = [running.call, ...(await addNeighbours(running, organizations - 1))];
    for (const [index, call] of calls.entries())
      await pullSeeds(call, seedsOf(firstOwnNumber + index * ownNumbers, ownNumbers, day), 'private');
  });
  say(`read by the program: ${Math.round(ms / 1_000)} s`);
  const items = await multiplyFeed(running.databaseUrl, { copies, numbers }, say);
  say(`${items.toLocaleString('en')} items`);
}

/** More organizations, by what calls the program with a key of each. */
async function addNeighbours(running: Running, count: number): Promise<Running['call'][]> {
  const db = openDb(running.databaseUrl);
  const calls: Running['call'][] = [];
  for (let n = 1; n <= count; n += 1) {
    const { id } = await createOrganization({ db, clock: systemClock }, `neighbour ${n}`);
    const caller = { orgId: id, keyId: null, scopes: new Set<string>(scopes) };
    const { key } = await createKey({ db }, caller, { name: 'bench', scopes: [...scopes] });
    calls.push(callWith(running.url, key!));
  }
  await db.destroy();
  return calls;
}
