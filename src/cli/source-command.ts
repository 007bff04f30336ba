import { buildDeps } from '../app/build-deps.ts';
import type { Db } from '../platform/db/db.ts';
import type { Deps } from '../app/deps.ts';
import type { PullResult } from '../feed/ingestion/pull-plan.ts';
import { CreateSource } from '../feed/sources/sources.schema.ts';
import { createSource } from '../feed/sources/create-source.ts';
import { listSources } from '../feed/sources/list-sources.ts';
import { pullSourceNow } from '../feed/sources/pull/start-pulls.ts';
import { appError } from '../platform/lib/errors.ts';
import { createLogger } from '../platform/lib/logger.ts';
import { uuidPattern } from '../platform/lib/org-id.ts';
import type { Caller } from '../platform/orgs/caller.ts';
import { printResult, readArgs, UsageError } from './read-args.ts';
import { findOperator, withDatabase } from './with-database.ts';

const usage = `tocsin source add --catalogue NAME [--org ORG] [--private] [--json]
       tocsin source create --kind KIND --name NAME --url URL [--org ORG] [--private] [--assigned-to ORG ...] [--publisher P] [--tlp TLP] [--schedule CRON] [--json]
       tocsin source list [--org ORG] [--json] | tocsin source pull ID [--org ORG] [--json]`;

const options = {
  org: { type: 'string' },
  catalogue: { type: 'string' },
  kind: { type: 'string' },
  name: { type: 'string' },
  url: { type: 'string' },
  publisher: { type: 'string' },
  tlp: { type: 'string' },
  schedule: { type: 'string' },
  private: { type: 'boolean' },
  'assigned-to': { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const;

/** The number of skipped entries to print. `--json` prints all of them. */
const skippedShown = 20;

type Values = ReturnType<typeof readArgs<typeof options>>['values'];
type Session = { deps: Deps; caller: Caller };

/** Manages feed sources. They are shared by all organizations unless `--private`. `--url` may be a `file:` address. */
export async function sourceCommand(args: string[]): Promise<number> {
  const { values, positionals } = readArgs(args, options, usage);
  const [verb, id] = positionals;
  if ((verb === 'create' || verb === 'add') && positionals.length === 1) {
    const source = await withSession(values.org, async ({ deps, caller }) =>
      createSource(deps, caller, await readInput(deps.db, values)),
    );
    const next = `Pull it now with: tocsin source pull ${source.id}`;
    return printResult(values.json, source, `Created source ${source.id} (${source.visibility}). ${next}`);
  }
  if (verb === 'list' && positionals.length === 1) {
    const { sources } = await withSession(values.org, ({ deps, caller }) =>
      listSources(deps, caller, { limit: '200' }),
    );
    const lines = sources.map(
      ({ id, kind, visibility, name, lastError }) =>
        `${id}  ${kind.padEnd(5)} ${visibility.padEnd(7)} ${name}  ${lastError ?? ''}`,
    );
    return printResult(values.json, sources, lines.join('\n'));
  }
  if (verb === 'pull' && positionals.length === 2 && id) {
    if (!uuidPattern.test(id)) throw appError('not_found', `Source ${id} not found.`);
    const result = await withSession(values.org, ({ deps, caller }) => pullSourceNow(deps, caller, id));
    printResult(values.json, result, summaryOf(result));
    if (result.error === undefined) return 0;
    console.error(result.error);
    return 1;
  }
  throw new UsageError(`Usage: ${usage}`);
}

function summaryOf({ added, corrected, retracted, unchanged, skipped }: PullResult): string {
  return [
    `${added} added, ${corrected} corrected, ${retracted} retracted, ${unchanged} unchanged, ${skipped.length} skipped`,
    ...skipped.slice(0, skippedShown).map(({ entry, reason }) => `  ${entry}: ${reason}`),
  ].join('\n');
}

async function readInput(db: Db, values: Values): Promise<CreateSource> {
  const { catalogue, kind, name, url, publisher, tlp, schedule } = values;
  const assigned = values['assigned-to'];
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
    visibility: values.private ? 'private' : 'shared',
  };
  const input = CreateSource.safeParse(
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  );
  if (!input.success)
    throw new UsageError(
      `${input.error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('\n')}\nUsage: ${usage}`,
    );
  return input.data;
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
