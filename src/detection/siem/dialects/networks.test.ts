import { afterAll, expect, test } from 'vitest';
import { createTestFolder } from '../../../../test/support/detection/log-store.ts';
import { openEvents } from '../../../../test/support/detection/sigma/sigma-events.ts';
import { anyOf, noneOf, type Expression } from '../../matching/expression.ts';
import { duckdb } from './duckdb.ts';

const addresses = ['10.1.2.3', '11.1.2.3', 'fe80::1', '::ffff:10.0.0.1', 'none', '', undefined];
const local = await openEvents(createTestFolder(), { d: addresses.map((f, n) => ({ f, n })) });
afterAll(() => local.close());

const inNetwork = (network: string): Expression => ({ kind: 'match', field: 'f', test: { kind: 'cidr', network } });

test('tests many networks with one call of the function', async () => {
  const networks = ['10.0.0.0/8', 'fe80::/10', ...Array.from({ length: 60 }, (_, n) => `192.168.${n}.0/24`)];
  const find = async (where: Expression): Promise<string[]> => {
    const fields = [{ name: 'f', names: ['f'] }];
    const sql = duckdb.writeRule({ table: 'd', time: '_time', fields, columns: ['f'], constants: {}, where });
    expect(sql.split('cidr_match')).toHaveLength(2);
    return (await local.run(sql)).map((row) => String(row['f'])).toSorted();
  };
  const found = ['10.1.2.3', '::ffff:10.0.0.1', 'fe80::1'];
  expect(await find(anyOf(networks.map(inNetwork)))).toEqual(found);
  expect(await find(noneOf(anyOf(networks.map(inNetwork))))).toEqual(
    addresses
      .map((one) => String(one ?? null))
      .filter((one) => !found.includes(one))
      .toSorted(),
  );
});
