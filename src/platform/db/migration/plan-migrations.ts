/** `sha256` is the hash of the statements, in hexadecimal. Null if the database was created before hashes were recorded. */
export type Migration = { name: string; sha256: string | null };

/**
 * Returns the names of the migrations that a database lacks, in order. `known` are the migrations of this version, `applied` those of the
 * database, both in order. Throws if the database is not an earlier state of this version, with what to do.
 */
export function planMigrations(known: Migration[], applied: Migration[]): string[] {
  const newer = applied.find(({ name }) => !known.some((one) => one.name === name));
  if (newer)
    throw new Error(
      `The database was migrated by a newer version (${newer.name}). Start that version or a newer one. To return to this version, restore the backup from before the upgrade into an empty database.`,
    );
  for (const [index, { name, sha256 }] of applied.entries()) {
    const expected = known[index]!;
    if (expected.name !== name)
      throw new Error(
        `The database lacks the migration ${expected.name} although it has the later ${name}, so it belongs to no version. Restore a backup into an empty database.`,
      );
    if (expected.sha256 !== sha256)
      throw new Error(
        `The migration ${name} was changed after the database had applied it. Install an unchanged version. If the database was created before the first release, create a new one.`,
      );
  }
  return known.slice(applied.length).map(({ name }) => name);
}
