/** Returns a table's value for an untrusted key. Inherited properties (`constructor`, `__proto__`) count as missing. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
