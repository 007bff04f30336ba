import { expect, test } from 'vitest';
import { planMigrations, type Migration } from './migrate.ts';

const migration = (name: string, sha256 = `hash of ${name}`): Migration => ({ name, sha256 });
const known = ['0001_a.sql', '0002_b.sql', '0003_c.sql'].map((name) => migration(name));

test('returns what the database lacks, in order', () => {
  expect(planMigrations(known, [])).toEqual(['0001_a.sql', '0002_b.sql', '0003_c.sql']);
  expect(planMigrations(known, known.slice(0, 1))).toEqual(['0002_b.sql', '0003_c.sql']);
  expect(planMigrations(known, known)).toEqual([]);
});

const created = /^The database was created by a development version.*Create a new database .* before 0\.1\.0\.$/;

test.each<[string, Migration[], RegExp]>([
  ['a newer version', [...known, migration('0004_d.sql')], /newer version \(0004_d\.sql\).*Start that.*or.*restore/],
  ['a gap', [known[0]!, known[2]!], /lacks the migration 0002_b\.sql although it has the later 0003_c\.sql/],
  ['changed statements', [known[0]!, migration('0002_b.sql', 'other')], created],
  ['another migration in between', [known[0]!, migration('0002_old.sql'), known[1]!, known[2]!], created],
  ['other migrations throughout', [migration('0001_old.sql'), migration('0009_old.sql')], created],
])('refuses a database with %s and says what to do', (_, applied, message) => {
  expect(() => planMigrations(known, applied)).toThrow(message);
});

test('recognizes the longer list of migrations that development versions had', () => {
  const former = ['0001_a.sql', '0002_x.sql', '0003_c.sql', '0043_y.sql'].map((name) => migration(name, `old ${name}`));
  expect(() => planMigrations(known, former)).toThrow(/whose migration 0001_a\.sql is not that of this version/);
});
