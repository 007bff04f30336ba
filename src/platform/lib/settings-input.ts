import { readFileSync, existsSync } from 'node:fs';
import type { z } from 'zod';
import { nearestNames } from './text/nearest-names.ts';

export type Environment = Record<string, string | undefined>;

/**
 * Returns the value of an environment variable, or the content of the file whose path the variable `<name>_FILE` has, without line breaks at
 * its end: this is how Docker and Kubernetes mount secrets. An empty variable counts as unset. Throws if both are set, or if the file cannot be
 * read or is empty.
 */
export function findSetting(env: Environment, name: string): string | undefined {
  const { [name]: value, [`${name}_FILE`]: path } = env;
  if (!path) return value || undefined;
  if (value) throw new Error(`${name}: ${name}_FILE is set as well. Set only one of them.`);
  const content = readFile(`${name}_FILE`, path).replace(/[\r\n]+$/, '');
  if (content === '') throw new Error(`${name}_FILE: the file ${path} is empty.`);
  return content;
}

function readFile(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `${setting}: the file ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}.`,
      {
        cause: error,
      },
    );
  }
}

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

const prefix = 'TOCSIN_';

/** Variables that only tests and measurements read. */
const development = /^TOCSIN_(TEST_\w+|PROPERTY_SEED|REHEARSE|INJECTION)$/;

/** Returns whether Kubernetes sets the variable for a service whose name begins with `tocsin`, such as `TOCSIN_PORT=tcp://10.0.0.1:80`. */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(value);

/**
 * Throws an error that lists the variables that begin with `TOCSIN_` and are not among `known`, with or without `_FILE`. Otherwise a mistyped setting would have
 * no effect, and nobody would notice.
 */
export function rejectUnknownSettings(env: Record<string, string | undefined>, known: string[]): void {
  const unknown = Object.entries(env).filter(
    ([name, value = '']) =>
      name.startsWith(prefix) &&
      !known.includes(name.replace(/_FILE$/, '')) &&
      !development.test(name) &&
      !isServiceLink(name, value),
  );
  if (unknown.length > 0) throw new Error(unknown.map(([name]) => describeUnknown(name, known)).join('; '));
}

function describeUnknown(name: string, known: string[]): string {
  const byShortName = new Map(known.map((one) => [one.replace(prefix, ''), one]));
  const shortName = name.replace(prefix, '');
  // Some settings have no prefix.
  const nearest = byShortName.has(shortName) ? shortName : nearestNames(shortName, byShortName.keys())[0];
  const advice = nearest === undefined ? 'Remove it.' : `Did you mean ${byShortName.get(nearest)}?`;
  return `${name}: no setting has this name. ${advice}`;
}
