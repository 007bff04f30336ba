type Change = { field: string; before: string | undefined; after: string | undefined };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toText = (value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Returns the fields that differ between two versions of a record. A version may be missing. */
export function findChanges(before: unknown, after: unknown): Change[] {
  const [old, current] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
  return [...new Set([...Object.keys(old), ...Object.keys(current)])]
    .map((field) => ({ field, before: toText(old[field]), after: toText(current[field]) }))
    .filter((change) => change.before !== change.after);
}
