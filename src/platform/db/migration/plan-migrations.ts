/** `sha256` is the hash of the statements, in hexadecimal. Null if the database was created before hashes were recorded. */
export type Migration = { name: string; sha256: string | null };

/** Earlier texts of migrations, with the same result: they forced row-level security themselves, which `migrate` does for every table. */
const formerHashes: Record<string, string> = {
  '0007_logs.sql': 'de82f9f303204a29efaaaf8c9410ce34134c0c8346e9724fe4154ec764563d02',
  '0008_feed_sources_and_items.sql': '12716a2e596c73a1c3d240e29344b0f49014eb0a824e2df4f767134583f3ec72',
  '0009_feed_search_and_deduplication.sql': '2cb3f51e70f04d270fbf26069dfe8af62411b41aabf8958d9c7d45c2017df8ac',
};

/**
 * Returns the names of the migrations that a database lacks, in order. `known` are the migrations of this version, `applied` those of the
 * database, both in order. Throws if the database is not an earlier state of this version, with what to do.
 */
export function planMigrations(known: Migration[], applied: Migration[]): string[] {
  for (const [index, { name, sha256 }] of applied.entries()) {
    const expected = known[index];
    if (expected?.name !== name) throw new Error(describeOther(known, name, expected?.name));
    if (expected.sha256 !== sha256 && formerHashes[name] !== sha256)
      throw new Error(
        `The migration ${name} was changed after the database had applied it. Install an unchanged version. If the database was created before the first release, create a new one.`,
      );
  }
  return known.slice(applied.length).map(({ name }) => name);
}

/** Describes a database that has the migration `name` where this version has `expected`, or none. */
function describeOther(known: Migration[], name: string, expected: string | undefined): string {
  if (known.every((one) => one.name < name))
    return `The database was migrated by a newer version (${name}). Start that version or a newer one. To return to this version, restore the backup from before the upgrade into an empty database.`;
  if (known.some((one) => one.name === name))
    return `The database lacks the migration ${expected} although it has the later ${name}, so it belongs to no version. Restore a backup into an empty database.`;
  return `The database has the migration ${name}, which this version does not have: it was created by a version before the first release. Create a new database, or start the version that created it.`;
}
