import { isObject } from '../../../platform/lib/json/json-values.ts';

/** Returns the event that a text is: its own keys if it is a JSON object, otherwise `message` with the text. */
export function readTextEvent(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    try {
      const value: unknown = JSON.parse(trimmed);
      if (isObject(value)) return value;
    } catch {
      // Text that only begins like JSON.
    }
  }
  return { message: text };
}

/** Adds fields that an event does not have. */
export function addMissing(event: Record<string, unknown>, fields: Record<string, unknown>): Record<string, unknown> {
  const missing = Object.entries(fields).filter(([name, value]) => value !== undefined && !Object.hasOwn(event, name));
  return { ...event, ...Object.fromEntries(missing) };
}
