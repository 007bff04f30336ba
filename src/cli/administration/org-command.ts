import { acrossOrgs } from '../../platform/db/db.ts';
import { systemClock } from '../../platform/lib/time/clock.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { OrganizationTags, type Erasure } from '../../platform/orgs/admin.schema.ts';
import { createSegmentStore } from '../../detection/log-store/files/create-segment-store.ts';
import { eraseOrganization, listErasures, requestErasure } from '../../app/erase-organization.ts';
import {
  toOrganization,
  changeOrganizationTags,
  resumeOrganization,
  suspendOrganization,
} from '../../platform/orgs/organization.ts';
import { nameCommand } from '../../platform/orgs/administer-organizations.ts';
import { listOrgsAcrossOrgs } from '../../platform/orgs/orgs.store.ts';
import { createOrganization } from '../../app/bootstrap.ts';
import { printResult } from '../support/output.ts';
import { UsageError } from '../support/failures.ts';
import { withDatabase } from '../support/with-database.ts';

type JsonOption = { json?: boolean | undefined };
const nameMax = 255;

export async function createOrg(
  name: string,
  { json, tag = [] }: JsonOption & { tag?: string[] | undefined },
): Promise<number> {
  if (name === '' || name.length > nameMax) throw new UsageError(`NAME must have 1 to ${nameMax} characters.`);
  const tags = readTags('--tag', tag);
  const org = await withDatabase(async (db) => {
    const { id } = await createOrganization({ db, clock: systemClock }, name);
    const operator = nameCommand('tocsin org create');
    return changeOrganizationTags(db, { id }, { change: () => tags, operator });
  });
  const next = `tocsin key create --org ${org.name} --name NAME`;
  return printResult(json, org, `Created organization ${org.name} (${org.id}). Next: ${next}`);
}

export async function listOrgs({ json, tag }: JsonOption & { tag?: string | undefined }): Promise<number> {
  const orgs = await withDatabase((db) => acrossOrgs(db, listOrgsAcrossOrgs));
  const list = orgs.map(toOrganization).filter(({ tags }) => tag === undefined || tags.includes(tag));
  const lines = list.map((org) => {
    const notes = [org.suspendedAt ? 'suspended' : '', org.tags.join(', ')].filter((note) => note !== '');
    return [org.id, org.createdAt, org.name, ...notes].join('  ');
  });
  return printResult(json, list, lines);
}

type TagOptions = JsonOption & { add?: string[] | undefined; remove?: string[] | undefined };

/** Prints the tags of an organization, after adding and removing some. */
export async function tagsCommand(name: string, { json, add = [], remove = [] }: TagOptions): Promise<number> {
  const added = readTags('--add', add);
  const change = (tags: readonly string[]): string[] =>
    readTags('--add', [...tags.filter((tag) => !remove.includes(tag)), ...added]);
  const operator = nameCommand('tocsin org tags');
  const org = await withDatabase((db) => changeOrganizationTags(db, { name }, { change, operator }));
  return printResult(json, org, org.tags.length === 0 ? `Organization ${org.name} has no tags.` : org.tags.join('\n'));
}

function readTags(option: string, tags: string[]): string[] {
  const parsed = OrganizationTags.safeParse(tags);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const subject = path.length === 0 ? 'an organization' : String(tags[path[0] as number]);
  throw new UsageError(`${option}: ${subject} ${message}.`);
}

export async function suspendOrg(name: string, { json }: JsonOption): Promise<number> {
  const org = await withDatabase((db) => suspendOrganization(db, { name }, nameCommand('tocsin org suspend')));
  const text = `Organization ${org.name} is suspended. Running servers refuse its requests within 5 s.`;
  return printResult(json, org, text);
}

/** Deletes a suspended organization and prints what was erased. `confirm` must be its name. */
export async function deleteOrg(name: string, { json, confirm }: JsonOption & { confirm: string }): Promise<number> {
  if (confirm !== name) throw new UsageError(`--confirm must repeat the name: --confirm ${name}`);
  const erasure = await withDatabase(async (db, config) => {
    const segmentStore = createSegmentStore(config, { log: createLogger(config.logLevel) });
    try {
      const { id } = await requestErasure(db, { name }, nameCommand('tocsin org delete'));
      return await eraseOrganization({ db, segmentStore }, id as OrgId);
    } finally {
      segmentStore.close();
    }
  });
  return printResult(json, erasure, formatErasure(erasure));
}

/** Lists the deleted organizations with what was erased. */
export async function listErased({ json }: JsonOption): Promise<number> {
  const { erasures } = await withDatabase((db) => listErasures(db, { limit: '200' }));
  return printResult(json, erasures, erasures.map(formatErasure));
}

function formatErasure({ id, name, requestedBy, finishedAt, rows, files, bytes, error }: Erasure): string {
  const count = Object.values(rows).reduce((sum, n) => sum + n, 0);
  const what = `${count} rows of ${Object.keys(rows).length} tables and ${files} log files (${bytes} bytes)`;
  const state = finishedAt ? `nothing left since ${finishedAt}` : `not finished${error ? `: ${error}` : ''}`;
  return `Organization ${name} (${id}): ${what} erased, requested by ${requestedBy ?? 'an unknown operator'}, ${state}.`;
}

export async function resumeOrg(name: string, { json }: JsonOption): Promise<number> {
  const org = await withDatabase((db) => resumeOrganization(db, { name }, nameCommand('tocsin org resume')));
  return printResult(
    json,
    org,
    `Organization ${org.name} is no longer suspended. Runs that were due during the suspension start now.`,
  );
}
