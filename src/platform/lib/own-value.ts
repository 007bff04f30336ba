/** A table's value for a key from outside; never what every object inherits (`constructor`, `__proto__`). */
export const ownValue = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
