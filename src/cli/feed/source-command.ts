import { buildDeps } from '../../app/build-deps.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { PullResult } from '../../feed/ingestion/pull-plan.ts';
import { CreateSource } from '../../feed/sources/sources.schema.ts';
import { createSource } from '../../feed/sources/create-source.ts';
import { listSources } from '../../feed/sources/list-sources.ts';
import { pullSourceNow } from '../../feed/sources/pull/threads/start-pulls.ts';
import { appError } from '../../platform/lib/errors.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { printError, printResult } from '../output.ts';
import { parseArguments, rejectArguments } from '../body-arguments.ts';
import { findOperator, withDatabase } from '../with-database.ts';

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
