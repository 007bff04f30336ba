import { existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';

/** Parses a setting whose text is JSON or the path of a JSON file. Throws an error that states the setting and the problem. */
export function parseJsonSetting<T>(name: string, text: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(readJson(name, text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the value'}: ${issue.message}`);
  throw new Error(`${name}: ${problems.join('; ')}`);
}

function readJson(name: string, text: string): unknown {
  const isInline = text.trimStart().startsWith('{');
  if (!isInline && !existsSync(text)) throw new Error(`${name}: the file ${text} does not exist.`);
  try {
    return JSON.parse(isInline ? text : readFileSync(text, 'utf8'));
  } catch {
    // The parser's message may quote a secret.
    throw new Error(`${name}: ${isInline ? 'the value' : text} is not valid JSON.`);
  }
}
