import { expect, test } from 'vitest';
import { planMigrations, type Migration } from './migrate.ts';

const known = ['0001_a.sql', '0002_b.sql', '0003_c.sql'].map((name): Migration => ({
  name,
  sha256: `hash of ${name}`,
}));

test('returns what the database lacks, in order', () => {
  expect(planMigrations(known, [])).toEqual(['0001_a.sql', '0002_b.sql', '0003_c.sql']);
  expect(planMigrations(known, known.slice(0, 1))).toEqual(['0002_b.sql', '0003_c.sql']);
  expect(planMigrations(known, known)).toEqual([]);
});

test.each<[string, Migration[], RegExp]>([
  [
    'a newer version',
    [...known, { name: '0004_d.sql', sha256: '' }],
    /newer version \(0004_d\.sql\).*Start that.*or.*restore/,
  ],
  ['a gap', [known[0]!, known[2]!], /lacks the migration 0002_b\.sql although it has the later 0003_c\.sql/],
  [
    'a migration of an early version',
    [known[0]!, { name: '0002_old.sql', sha256: '' }],
    /0002_old\.sql.*before the first release/,
  ],
  [
    'other migrations throughout',
    [
      { name: '0001_old.sql', sha256: '' },
      { name: '0009_old.sql', sha256: '' },
    ],
    /0001_old\.sql.*before the first release/,
  ],
  ['changed statements', [known[0]!, { name: '0002_b.sql', sha256: 'other' }], /0002_b\.sql was changed after/],
  ['no hashes', [{ name: '0001_a.sql', sha256: null }], /0001_a\.sql was changed after.*before the first release/],
])('refuses a database with %s and says what to do', (_, applied, message) => {
  expect(() => planMigrations(known, applied)).toThrow(message);
});
