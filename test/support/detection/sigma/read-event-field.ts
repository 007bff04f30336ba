/**
 * Returns the text of a field of an event, or null if the event does not have it. A dotted name is a path through objects or a name with
 * dots, and any case of a name matches. Objects and lists are their JSON text.
 */
export function readEventField(event: Record<string, unknown>, name: string): string | null {
  return toText(readPath(event, name.split('.'))) ?? toText(readKey(event, name));
}

function readPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => readKey(inner, key), value);
}

function readKey(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const fields = value as Record<string, unknown>;
  if (Object.hasOwn(fields, name)) return fields[name];
  const lower = name.toLowerCase();
  const key = Object.keys(fields).find((one) => one.toLowerCase() === lower);
  return key === undefined ? undefined : fields[key];
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
