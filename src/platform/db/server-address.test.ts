import pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { findFreeLoopbackPort } from '../embedded-postgres/address.ts';
import { explainConnectionFailure } from './server-address.ts';

async function failureOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  const error = await client.connect().then(
    () => undefined,
    (failure: unknown) => failure,
  );
  await client.end().catch(() => undefined);
  return (explainConnectionFailure(url, error) as Error).message;
}

test('says which host refused the connection', async () => {
  const { port } = await findFreeLoopbackPort();
  expect(await failureOf(`postgres://tocsin@localhost:${port}/x`)).toBe(
    `DATABASE_URL: localhost:${port} refused the connection. Check that PostgreSQL runs there and accepts TCP connections (listen_addresses).`,
  );
});

test('says which host cannot be resolved', async () => {
  expect(await failureOf('postgres://tocsin@db.invalid/x')).toMatch(/the host db\.invalid cannot be resolved/);
});

test('says which database does not exist and never repeats the password', async () => {
  const url = new URL((await testDatabase()).url);
  url.pathname = '/no_such_database';
  const message = await failureOf(url.href);
  expect(message).toMatch(/^DATABASE_URL: the database no_such_database does not exist/);
  if (url.password) expect(message).not.toContain(decodeURIComponent(url.password));
});

test('returns other errors unchanged', () => {
  const error = new Error('Migration 0001 failed');
  expect(explainConnectionFailure('postgres://a@b/c', error)).toBe(error);
});
