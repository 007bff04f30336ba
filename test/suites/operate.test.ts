import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIdentityProvider } from '../support/browser/identity-provider.ts';
import { newEmptyDatabase } from '../support/database.ts';
import { startS3Server } from '../support/detection/s3-server.ts';
import {
  blocksOf,
  expectBlocksRun,
  startService,
  type RunningService,
  type ShellBlock,
} from '../support/typed-commands.ts';

const bucket = await startS3Server();
const provider = await startIdentityProvider({
  redirectUri: 'https://tocsin.example.com/api/session/single-sign-on/callback',
  groups: {},
});
const [database, recovered] = [await newEmptyDatabase(), await newEmptyDatabase()];

/** Replaces the addresses of the pages, which belong to nobody, with those of servers on this machine. */
const withLocalServers = (text: string): string =>
  text
    .replaceAll('postgres://tocsin@db/tocsin', database)
    .replaceAll('postgres://tocsin@db/recovered', recovered)
    .replaceAll(/s3:\/\/my-logs\/recovered\?region=\S+?(?=')/g, bucket.url.replace('?', '/recovered?'))
    .replaceAll(/s3:\/\/my-logs\/tocsin\?region=\S+?(?=')/g, bucket.url)
    .replaceAll(/(s3:\/\/no-such-bucket\/tocsin)\?region=\S+?(?=')/g, `$1?${new URL(bucket.url).searchParams}`)
    .replaceAll('https://id.example.com', provider.issuer)
    .replaceAll('CLIENT_SECRET=...', `CLIENT_SECRET='${provider.clientSecret}'`);

const blocks = (page: string, mark: string): ShellBlock[] =>
  blocksOf(`docs/operate/${page}.md`)
    .filter((block) => block.mark === mark)
    .map((block) => ({ ...block, shell: withLocalServers(block.shell), prints: withLocalServers(block.prints) }));
const shellOf = (page: string, mark: string): string =>
  blocks(page, mark)
    .map(({ shell }) => shell)
    .join('');

const settings = `
export TOCSIN_API_KEY=choose-a-long-random-key TOCSIN_SECRET_KEY=${'k'.repeat(32)} TOCSIN_FETCH_ALLOW=localhost
tocsin() { "$PROGRAM_NODE" "$PROGRAM" "$@"; }
${shellOf('single-sign-on', 'run: single sign-on')}
${shellOf('object-storage', 'run: bucket')}`;

describe('a service on a PostgreSQL, a bucket and an identity provider of its own', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(settings, /listens on/);
  });
  afterAll(() => service?.stop());

  test('the page checks the settings before the start', () => {
    expect(service.output()).toMatch(/^ok +log storage|^warning +migrations/m);
    expect(service.output()).not.toMatch(/^failed/m);
  });

  test.each([
    ['object-storage', 'run: bucket use'],
    ['single-sign-on', 'run: single sign-on use'],
    ['keys', 'run: keys'],
    ['disaster-recovery', 'run: disaster'],
  ])('the commands of %s run in order', async (page, mark) => {
    const here = settings
      .replace(/^tocsin (doctor|serve)$/gm, '')
      .replace(/^tocsin\(\).*$/m, 'tocsin() { run_here "$@"; }');
    await expectBlocksRun(service, blocks(page, mark), here);
  });
});
