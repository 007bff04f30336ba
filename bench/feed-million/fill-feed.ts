import { openDb } from '../../src/platform/db/db.ts';
import { createCaller, createOrganizationWithKey, type ApiCall } from '../../test/support/api-client.ts';
import { multiplyItems } from './multiply-items.ts';
import { firstNumber, pullSeeds, buildSeeds } from './seed-sources.ts';
import { measureMs } from '../benchmark.ts';
import type { RunningProgram } from '../../test/support/program-environment.ts';

/** The number of entries in the shared sources, the copies of each, the organizations, and the private entries of each organization. */
export type FeedSize = { numbers: number; copies: number; organizations: number; ownNumbers: number };

const firstOwnNumber = 90_000_000;

/** Pulls private items for every organization and shared items for the first one, then copies the shared items. */
export async function fillFeed(running: RunningProgram, size: FeedSize, report: (text: string) => void): Promise<void> {
  const { numbers, copies, organizations, ownNumbers } = size;
  const day = new Date(Date.now() - 3 * 86_400_000);
  const ms = await measureMs(async () => {
    await pullSeeds(running.call, buildSeeds(firstNumber, numbers, day), 'shared');
    const calls = [running.call, ...(await addOrganizations(running, organizations - 1))];
    for (const [index, call] of calls.entries())
      await pullSeeds(call, buildSeeds(firstOwnNumber + index * ownNumbers, ownNumbers, day), 'private');
  });
  report(`pulled by the program: ${Math.round(ms / 1_000)} s`);
  const items = await multiplyItems(running.databaseUrl, { copies, existing: 1, numbers }, report);
  report(`${items.toLocaleString('en')} items`);
}

/** Adds copies of the shared items to a feed that has fewer of them. */
export async function extendFeed(
  running: RunningProgram,
  kept: FeedSize,
  { copies, numbers }: FeedSize,
  report: (text: string) => void,
): Promise<void> {
  const items = await multiplyItems(running.databaseUrl, { copies, existing: kept.copies, numbers }, report);
  report(`${items.toLocaleString('en')} items`);
}

/** Creates more organizations. Returns a caller with an API key for each. */
async function addOrganizations(running: RunningProgram, count: number): Promise<ApiCall[]> {
  const db = openDb(running.databaseUrl);
  const calls: ApiCall[] = [];
  for (let n = 1; n <= count; n += 1) {
    const { key } = await createOrganizationWithKey({ db }, `neighbor ${n}`);
    calls.push(createCaller(running.url, key));
  }
  await db.destroy();
  return calls;
}
