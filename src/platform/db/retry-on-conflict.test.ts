import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { acrossOrgs, acrossOrgsPipelined, asRehearsed, inOrg, queryRows, type Tx } from './db.ts';
import { retryOnLockTimeout } from './retry-on-conflict.ts';

const { db } = await testDatabase();
const rename = (tx: Tx, id: string, name: string) =>
  sql`update organizations set name = name || ${name} where id = ${id}`.execute(tx);
const namesOf = (ids: string[]) =>
  acrossOrgs(
    db,
    (tx) =>
      queryRows<{ name: string }>(tx)`select name from organizations where id = any(${ids}::uuid[]) order by name`,
  );

test('repeats a transaction that deadlocks, and keeps the changes of both', async () => {
  const ids = [await newOrgId(db, 'a'), await newOrgId(db, 'b')] as [string, string];
  let runs = 0;
  let firstLocks = 0;
  const both = Promise.withResolvers<void>();
  const change = (order: string[], name: string) =>
    acrossOrgs(db, async (tx) => {
      runs += 1;
      await rename(tx, order[0]!, name);
      firstLocks += 1;
      if (firstLocks === 2) both.resolve();
      await both.promise;
      await rename(tx, order[1]!, name);
    });
  await Promise.all([change(ids, '-1'), change(ids.toReversed(), '-2')]);
  expect(runs).toBe(3);
  for (const { name } of await namesOf(ids)) expect(name.split('-').toSorted().join('')).toMatch(/^12[ab]$/);
});

test.each(['40001', '40P01'])('gives up after six failures with the code %s', async (code) => {
  let runs = 0;
  const fails = (tx: Tx) => {
    runs += 1;
    return sql`do ${sql.raw(`$$ begin raise exception sqlstate '${code}'; end $$`)}`.execute(tx);
  };
  await expect(acrossOrgs(db, fails)).rejects.toMatchObject({ code });
  expect(runs).toBe(6);
});

test('repeats background work that waited too long for a lock, and nothing else', async () => {
  const fail = (code: string) => Promise.reject(Object.assign(new Error('failed'), { code }));
  const codes = ['55P03', '55P03'];
  expect(await retryOnLockTimeout(() => (codes.length > 0 ? fail(codes.pop()!) : Promise.resolve('done')))).toBe(
    'done',
  );
  let runs = 0;
  await expect(retryOnLockTimeout(() => fail((runs += 1) > 0 ? '57014' : ''))).rejects.toMatchObject({ code: '57014' });
  expect(runs).toBe(1);
});

test('does not repeat a transaction that failed for another reason', async () => {
  const orgId = await newOrgId(db);
  let runs = 0;
  const failing = inOrg(db, orgId, async (tx) => {
    runs += 1;
    await sql`select 1 / 0`.execute(tx);
  });
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  await expect(acrossOrgsPipelined(db, [sql`select 1 / 0`])).rejects.toMatchObject({ code: '22012' });
  expect(runs).toBe(1);
});

test('a rehearsed pool runs every transaction twice and keeps the changes of one', async () => {
  const id = await newOrgId(db, 'c');
  const rehearsed = asRehearsed(db);
  let runs = 0;
  await acrossOrgs(rehearsed, (tx) => {
    runs += 1;
    return rename(tx, id, '+');
  });
  expect(runs).toBe(2);
  expect(await namesOf([id])).toEqual([{ name: 'c+' }]);
});
