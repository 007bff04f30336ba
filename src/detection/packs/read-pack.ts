import { existsSync, readFileSync, statSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { DetectionFileError, InvalidFieldsError, parseFields, type FileFields } from '../managed/file-fields.ts';
import { readFolder } from '../as-code/folder.ts';
import { packName } from './packs.schema.ts';

const manifestName = 'pack.yaml';
const detectionsFolder = 'detections';
const manifestBytesMax = 1024 * 1024;

/** Fields that a pack may set differently for some organizations. The query is the same for all. */
const overridableFields = [
  'enabled',
  'detectionCadence',
  'customCronSchedule',
  'cronTimezone',
  'continuous',
  'lookbackMinutes',
  'suppressionMinutes',
  'tuning',
  'tags',
  'connectionId',
  'modelAlias',
  'mode',
  'budgets',
] as const;

const Patterns = z.array(z.string().min(1).max(255)).min(1).max(1000);
/** Organizations by name or ID, or by a tag. */
const Selector = z.union([z.string().min(1).max(255), z.strictObject({ tag: z.string().min(1).max(100) })]);
type Selector = z.infer<typeof Selector>;
const Selectors = z.array(Selector).min(1).max(1000);
const Override = z.strictObject({
  organizations: Selectors,
  detections: Patterns.default(['*']),
  set: z.strictObject(Object.fromEntries(overridableFields.map((name) => [name, z.unknown().optional()]))),
});
const Manifest = z.strictObject({
  name: z.string().regex(packName, 'must consist of lower-case letters, digits, dots and hyphens'),
  version: z
    .union([z.string(), z.number()])
    .transform(String)
    .refine((text) => text !== '' && text.length <= 100, 'must have 1 to 100 characters'),
  organizations: z.union([z.literal('all'), Selectors]),
  exclude: Selectors.optional(),
  overrides: z.array(Override).max(1000).default([]),
});

/** A pack as read from its folder. */
type Pack = z.infer<typeof Manifest> & { detections: Map<string, FileFields> };
type PackOrganization = { id: string; name: string; tags: string[] };

/** Reads a pack: `pack.yaml`, and the detection files in `detections/`. Throws a DetectionFileError that lists the problems. */
export function readPack(folder: string): Pack {
  const path = join(folder, manifestName);
  if (!existsSync(path))
    throw new DetectionFileError(`${path} does not exist. A pack is a folder with ${manifestName}.`);
  if (statSync(path).size > manifestBytesMax) throw new DetectionFileError(`${manifestName} is larger than 1 MiB.`);
  const parsed = Manifest.safeParse(parseYaml(readFileSync(path, 'utf8')));
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => [manifestName, issue.path.join('.'), issue.message]);
    throw new DetectionFileError(lines.map((parts) => parts.filter((part) => part !== '').join(': ')).join('\n'));
  }
  const files = join(folder, detectionsFolder);
  if (!existsSync(files)) throw new DetectionFileError(`${files} does not exist. It holds the detections of the pack.`);
  const detections = new Map([...readFolder(files)].map(([name, { fields }]) => [name, fields]));
  for (const { detections: patterns } of parsed.data.overrides)
    for (const pattern of patterns)
      if (![...detections.keys()].some((file) => matches(pattern, file)))
        throw new DetectionFileError(`${manifestName}: overrides: no detection of the pack matches ${pattern}`);
  return { ...parsed.data, detections };
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 20 });
  } catch (error) {
    throw new DetectionFileError(`${manifestName}: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns whether a text matches a pattern in which `*` stands for any characters. */
const matches = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 'su').test(text);

const selects = (selectors: readonly Selector[], { id, name, tags }: PackOrganization): boolean =>
  selectors.some((one) =>
    typeof one === 'string' ? one === id || matches(one, name) : tags.some((tag) => matches(one.tag, tag)),
  );

/**
 * Returns the organizations that get the pack. Throws a DetectionFileError for a name without `*` that none of them has. A tag may be one that
 * no organization has yet.
 */
export function selectOrganizations<T extends PackOrganization>(
  { organizations, exclude = [], overrides }: Pack,
  all: readonly T[],
): T[] {
  const named = [
    ...(organizations === 'all' ? [] : organizations),
    ...exclude,
    ...overrides.flatMap((one) => one.organizations),
  ];
  const unknown = named.find(
    (one) => typeof one === 'string' && !one.includes('*') && !all.some((org) => selects([one], org)),
  );
  if (unknown !== undefined) throw new DetectionFileError(`${manifestName}: there is no organization ${unknown}`);
  return all.filter((org) => (organizations === 'all' || selects(organizations, org)) && !selects(exclude, org));
}

/** Returns the detections of the pack with the overrides of an organization. Later overrides win. Null in `set` is the default. */
export function detectionsFor({ overrides, detections }: Pack, org: PackOrganization): Record<string, FileFields> {
  const own = overrides.filter(({ organizations }) => selects(organizations, org));
  return Object.fromEntries(
    [...detections].map(([file, fields]) => {
      const sets = own.filter((one) => one.detections.some((pattern) => matches(pattern, file))).map(({ set }) => set);
      if (sets.length === 0) return [file, fields];
      const merged = Object.entries(Object.assign({}, fields, ...sets) as FileFields).filter(
        ([, value]) => value !== null,
      );
      return [file, parseOverridden(file, org, Object.fromEntries(merged))];
    }),
  );
}

function parseOverridden(file: string, { name }: PackOrganization, fields: FileFields): FileFields {
  try {
    return parseFields(fields);
  } catch (error) {
    if (!(error instanceof InvalidFieldsError)) throw error;
    throw new DetectionFileError(`${manifestName}: overrides of ${file} for ${name}: ${error.message}`, {
      cause: error,
    });
  }
}

const cloneMaxMs = 120_000;
const isRepository = (place: string): boolean => /^(https?|ssh|git|file):\/\/|^[\w.-]+@[\w.-]+:/.test(place);

/**
 * Calls `work` with the folder of a pack. A repository, `URL` or `URL#BRANCH`, is cloned with the system's Git into a temporary folder, which
 * is removed afterwards. Throws an Error with the message of Git.
 */
export async function withPackFolder<T>(place: string, work: (folder: string) => Promise<T>): Promise<T> {
  if (!isRepository(place)) return work(place);
  const [url = '', branch] = place.split('#');
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-pack-'));
  try {
    const branchOption = branch ? [`--branch=${branch}`] : [];
    // Nobody answers a question for a password.
    const command = [
      'GIT_TERMINAL_PROMPT=0',
      'git',
      'clone',
      '--quiet',
      '--depth',
      '1',
      ...branchOption,
      '--',
      url,
      folder,
    ];
    await promisify(execFile)('env', command, { timeout: cloneMaxMs }).catch((error: Error & { stderr?: string }) => {
      throw new Error(`git clone ${url}: ${error.stderr?.trim() || error.message}`, { cause: error });
    });
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
