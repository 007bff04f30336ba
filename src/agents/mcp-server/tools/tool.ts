import { z } from 'zod';
import type { Scope } from '../../../platform/http/caller.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

/** Sends a request to the API with the caller's key. Returns the body. Throws an Error that explains any other status than 200. */
export type CallApi = <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<T>;

/** A tool that the MCP server offers. It reaches data through the API only, which checks scopes, limits and bodies, and audits. */
export type ServerTool = {
  name: string;
  title: string;
  /** Written for a language model. */
  description: string;
  /** Scopes that a key needs in order to see the tool. */
  scopes: readonly Scope[];
  /** The tool changes something. It exists only if the setting TOCSIN_MCP_WRITE is true. */
  isWrite: boolean;
  input: z.ZodObject;
  run: (callApi: CallApi, input: never) => Promise<unknown>;
};

/** Returns the tool. Infers the type of the input from its schema. */
export const defineTool = <Input extends z.ZodObject>(
  tool: Omit<ServerTool, 'input' | 'run' | 'isWrite'> & {
    isWrite?: boolean;
    input: Input;
    run: (callApi: CallApi, input: z.output<Input>) => Promise<unknown>;
  },
): ServerTool => ({ isWrite: false, ...tool });

/** Returns a path with the query parameters that have a value. */
export function withQuery(path: string, parameters: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Returns the fields of a record that are named. */
export const pick = <T extends object, K extends keyof T>(record: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]])) as Pick<T, K>;

const pageMax = 50;

export const idInput = (of: string) => z.guid('must be a UUID').describe(`ID of the ${of}.`);
export const timeInput = (description: string) =>
  z.iso.datetime({ offset: true }).describe(`${description} ISO 8601, such as 2026-11-23T00:00:00Z.`);
export const textInput = (max: number, description: string) => boundedString({ min: 1, max }).describe(description);
export const limitInput = (fallback: number) =>
  z.int().min(1).max(pageMax).default(fallback).describe('How many to return at most.');
export const cursorInput = textInput(3000, '`nextCursor` of the previous page.').optional();
