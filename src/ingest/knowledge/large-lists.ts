import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { fetchBytes } from '../../lib/fetch.ts';
import { listIds, readWarninglists, type Warninglist } from './warninglists.ts';

/** Where MISP publishes its warning lists (CC0 1.0). */
const official = (id: string): string =>
  `https://raw.githubusercontent.com/MISP/misp-warninglists/main/lists/${id}/list.json`;
const unpackedMaxBytes = 256 * 1024 * 1024;

const List = z.object({
  name: z.string().max(500),
  type: z.string().max(50),
  list: z.array(z.string().max(1_000)).max(2_000_000),
});
const Lists = z.object({ lists: z.array(List.extend({ id: z.string().max(200) })).max(1_000) });

const pathIn = (dataDir: string): string => join(dataDir, 'knowledge', 'warninglists.json.gz');

type Given = { dataDir: string; from: string | undefined; fetchAllow: readonly string[] };

/**
 * Takes the large lists of what is harmless into the data directory: from MISP's own place, from a checkout of it (`lists/<id>/list.json`),
 * or from one file `{lists: [{id, name, type, list}]}`, gzipped or not. What was held stays unless all of the new is good.
 */
export async function updateLargeLists({
  dataDir,
  from,
  fetchAllow,
}: Given): Promise<{ lists: number; entries: number }> {
  const lists = from === undefined ? await readOfficial(fetchAllow) : await readFrom(from);
  if (lists.length === 0) throw new Error(`${from ?? 'the official place'} holds none of the lists that are used`);
  const path = pathIn(dataDir);
  await mkdir(join(dataDir, 'knowledge'), { recursive: true });
  await writeFile(`${path}.new`, gzipSync(JSON.stringify({ lists })));
  await rename(`${path}.new`, path);
  return { lists: lists.length, entries: lists.reduce((sum, { list }) => sum + list.length, 0) };
}

/** The look-up of the lists that are held; undefined where none are. */
export function heldLists(dataDir: string): ReturnType<typeof readWarninglists> | undefined {
  const path = pathIn(dataDir);
  return existsSync(path) ? readWarninglists(parseLists(readFileSync(path), path)) : undefined;
}

async function readOfficial(allow: readonly string[]): Promise<Warninglist[]> {
  const lists: Warninglist[] = [];
  for (const id of listIds) {
    const fetched = await fetchBytes({ url: official(id), allow, bytesMax: 64 * 1024 * 1024 });
    if (fetched.kind === 'fetched') lists.push(parseList(fetched.bytes, id));
  }
  return lists;
}

async function readFrom(from: string): Promise<Warninglist[]> {
  if (!(await stat(from).catch(() => undefined))) throw new Error(`${from} does not exist`);
  if (!(await stat(from)).isDirectory())
    return parseLists(await readFile(from), from).filter(({ id }) => listIds.has(id));
  const folder = existsSync(join(from, 'lists')) ? join(from, 'lists') : from;
  for (const name of ['warninglists.json.gz', 'warninglists.json'])
    if (existsSync(join(folder, name))) return readFrom(join(folder, name));
  const lists: Warninglist[] = [];
  for (const id of listIds) {
    const path = join(folder, id, 'list.json');
    if (existsSync(path)) lists.push(parseList(await readFile(path), id));
  }
  return lists;
}

function parseList(bytes: Buffer, id: string): Warninglist {
  return { id, ...checked(List, bytes, id) };
}
const parseLists = (bytes: Buffer, name: string): Warninglist[] => checked(Lists, bytes, name).lists;

function checked<T>(schema: z.ZodType<T>, bytes: Buffer, name: string): T {
  try {
    const text = bytes[0] === 0x1f ? gunzipSync(bytes, { maxOutputLength: unpackedMaxBytes }) : bytes;
    return schema.parse(JSON.parse(text.toString('utf8')));
  } catch (error) {
    throw new Error(`${name} is no warning list in JSON`, { cause: error });
  }
}
