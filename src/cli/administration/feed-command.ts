import { buildDeps } from '../../app/build-deps.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { PullResult } from '../../feed/ingestion/pull-plan.ts';
import { CreateSource } from '../../feed/sources/sources.schema.ts';
import { createSource } from '../../feed/sources/update-source.ts';
import { listSources } from '../../feed/sources/source-access.ts';
import { pullSourceNow } from '../../feed/sources/pull/start-pulls.ts';
import { appError } from '../../platform/lib/errors.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { printError, printResult, createProgress } from '../support/output.ts';
import { parseArguments, rejectArguments } from '../support/body-arguments.ts';
import { findOperator, withDatabase } from '../support/with-database.ts';
import { loadConfig } from '../../config.ts';
import { updateReferenceData, type ReferenceDataUpdate } from '../../feed/reference-data/update-reference-data.ts';

/** The number of skipped entries to print. `--json` prints all of them. */
const skippedShown = 20;

type CommonOptions = { org?: string | undefined; json?: boolean | undefined };
type SourceOptions = CommonOptions & {
  catalogue?: string | undefined;
  kind?: string | undefined;
  name?: string | undefined;
  url?: string | undefined;
  publisher?: string | undefined;
  tlp?: string | undefined;
  schedule?: string | undefined;
  private?: boolean | undefined;
  assignedTo?: string[] | undefined;
};
const sourceArguments = {
  catalogue: '--catalogue',
  kind: '--kind',
  name: '--name',
  url: '--url',
  publisher: '--publisher',
  tlp: '--tlp',
  schedule: '--schedule',
  assignedTo: '--assigned-to',
  visibility: '--private',
};

type Session = { deps: Deps; caller: Caller };

/** Creates a source, which all organizations share unless `private`. `url` may be a `file:` address. */
export async function createSourceCommand(options: SourceOptions): Promise<number> {
  const source = await withSession(options.org, async ({ deps, caller }) =>
    createSource(deps, caller, await readInput(deps.db, options)).catch(rejectArguments(sourceArguments)),
  );
  const next = `Pull it now with: tocsin source pull ${source.id}`;
  return printResult(options.json, source, `Created source ${source.id} (${source.visibility}). ${next}`);
}

export async function listSourcesCommand({ org, json }: CommonOptions): Promise<number> {
  const { sources } = await withSession(org, ({ deps, caller }) => listSources(deps, caller, { limit: '200' }));
  const lines = sources.map(
    ({ id, kind, visibility, name, lastError }) =>
      `${id}  ${kind.padEnd(5)} ${visibility.padEnd(7)} ${name}  ${lastError ?? ''}`,
  );
  return printResult(json, sources, lines);
}

/** Pulls a source now. Exit code 1 if the pull fails. */
export async function pullSourceCommand(id: string, { org, json }: CommonOptions): Promise<number> {
  if (!uuidPattern.test(id)) throw appError('not_found', `Source ${id} not found.`);
  const result = await withSession(org, ({ deps, caller }) => pullSourceNow(deps, caller, id));
  printResult(json, result, summaryOf(result));
  if (result.error === undefined) return 0;
  printError(result.error);
  return 1;
}

function summaryOf({ added, corrected, retracted, unchanged, skipped }: PullResult): string {
  return [
    `${added} added, ${corrected} corrected, ${retracted} retracted, ${unchanged} unchanged, ${skipped.length} skipped`,
    ...skipped.slice(0, skippedShown).map(({ entry, reason }) => `  ${entry}: ${reason}`),
  ].join('\n');
}

async function readInput(db: Db, options: SourceOptions): Promise<CreateSource> {
  const { catalogue, kind, name, url, publisher, tlp, schedule, assignedTo: assigned } = options;
  const assignedTo = assigned && (await Promise.all(assigned.map(async (org) => (await findOperator(db, org)).orgId)));
  const fields = {
    catalogue,
    kind,
    name,
    url,
    publisher,
    tlp,
    schedule,
    assignedTo,
    visibility: options.private ? 'private' : 'shared',
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return parseArguments(CreateSource, given, sourceArguments);
}

function withSession<T>(orgName: string | undefined, work: (session: Session) => Promise<T>): Promise<T> {
  return withDatabase(async (db, config) => {
    const caller = await findOperator(db, orgName);
    const { deps, stop } = buildDeps({ config, db, log: createLogger('error') });
    try {
      return await work({ deps, caller });
    } finally {
      await stop();
    }
  });
}

type KnowledgeOptions = { from?: string | undefined; json?: boolean | undefined };

/** Installs the newest ATT&CK data, names and lists of harmless values, which take effect at the next start. */
export async function knowledgeCommand({ from, json }: KnowledgeOptions): Promise<number> {
  const { dataDir, fetchAllow } = loadConfig();
  const reportProgress = createProgress(process.stderr, 'documents');
  const update = await updateReferenceData({ dataDir, from, fetchAllow, reportProgress });
  return printResult(json, update, resultLines(update, dataDir));
}

function resultLines({ attack, names, warninglists, absent }: ReferenceDataUpdate, dataDir: string): string[] {
  return [
    attack &&
      `ATT&CK ${attack.version ?? ''}: ${attack.techniques} techniques, ${attack.groups} groups, ${attack.software} malware and tools`,
    names && `Names: ${names.names} with ${names.aliases} aliases`,
    warninglists && `Harmless values: ${warninglists.lists} lists with ${warninglists.entries} entries`,
    ...absent.map((url) => `No longer published: ${url}`),
    `Installed in ${dataDir}/knowledge. Takes effect at the next start.`,
  ].filter((line) => line !== undefined);
}
