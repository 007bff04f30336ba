import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { startApp } from '../../../../test/support/harness.ts';

const app = await startApp();
const migration = resolve(import.meta.dirname, '../../../../migrations/0023_feed_roots.sql');

test('counts the roots of a feed as the migration counts those of an older one', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org, { publisher: 'Birch' })];
  await one.write({ 1: {}, 2: {}, 3: { words: 'critical' } });
  await two.write({ 1: {}, 2: {}, 4: {} });
  const client = new pg.Client({ connectionString: app.url });
  await client.connect();
  const read = async () =>
    (await client.query('select n, roots, publisher, severity from feed_counts order by 3, 4')).rows;
  const counted = await read();
  expect(counted.reduce((sum, { n, roots }) => sum + n - roots, 0)).toBe(2);
  await client.query(`begin; alter table feed_counts drop column roots; ${readFileSync(migration, 'utf8')} commit`);
  expect(await read()).toEqual(counted);
  await client.end();
});
