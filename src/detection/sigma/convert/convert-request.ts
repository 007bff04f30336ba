import { z } from 'zod';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import { fieldError, appError } from '../../../platform/lib/errors.ts';
import { type OrgId, uuidPattern } from '../../../platform/lib/org-id.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { findConnection } from '../../connections/connections.store.ts';
import { listDatasets, type ListDatasetsDeps } from '../../log-query/datasets/list-datasets.ts';
import type { ConvertedRule } from './convert-rules.ts';
import type { ConvertTask } from './convert-task.ts';
import type { ConvertThreadTask } from './convert-thread.ts';
import { type SiemKind, findConnector, siemKinds } from '../../siem/connectors/registry.ts';
import { siblingModule } from '../../../platform/lib/program-files.ts';
import { isPoolBusy, ThreadError } from '../../../platform/lib/threads/thread-protocol.ts';
import { createThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

const rulesCharsMax = 24 * 1024 * 1024;

export const ConvertRequest = z.strictObject({
  rules: boundedString({ min: 1, max: rulesCharsMax }).describe('Sigma rules as YAML, any number of documents.'),
  target: boundedString({ min: 1, max: 100 })
    .optional()
    .describe('`local`, which is the default, or the id of a connection.'),
  allowUnknown: z
    .boolean()
    .optional()
    .describe('true: convert rules of unknown log sources as well. They match events of other log sources, too.'),
});
export type ConvertRequest = z.infer<typeof ConvertRequest>;

const RuleErrors = z.array(z.object({ line: z.int(), message: z.string() }));

export const ConvertResult = z.object({
  results: z
    .array(
      z.object({
        id: z.string().nullable(),
        title: z.string().nullable(),
        kind: z.enum(['rule', 'filter', 'correlation']).nullable(),
        status: z.enum(['converted', 'unsupported', 'invalid']),
        query: z.string().nullable(),
        dataset: z.string().nullable(),
        warnings: z.array(z.string()),
        errors: RuleErrors.describe('Lines count from 1 within `rules`.'),
      }),
    )
    .describe('One result for each document, in the order of the request.'),
});
export type ConvertResult = z.infer<typeof ConvertResult>;

export type ConvertDeps = ListDatasetsDeps & {
  db: Db;
  ruleConverter: RuleConverter;
  config: { sigmaMappings: readonly string[] };
};

/** Converts rules to the query language of a connection, without storing anything. */
export async function convertSigma(deps: ConvertDeps, caller: Caller, request: ConvertRequest): Promise<ConvertResult> {
  return { results: (await convertForTarget(deps, caller.orgId, request)).map(({ result }) => result) };
}

/** Returns the converted documents with their rules, which are YAML or an archive (`readRuleText`). Calls `onStart` when they are being converted. Throws 400 for a target that does not exist. */
export async function convertForTarget(
  deps: ConvertDeps,
  orgId: OrgId,
  { rules, target = 'local', allowUnknown }: Omit<ConvertRequest, 'rules'> & Pick<ConvertThreadTask, 'rules'>,
  onStart?: () => void,
): Promise<ConvertedRule[]> {
  const { kind, timeColumn } = await readTarget(deps, orgId, target);
  onStart?.();
  const datasets = kind === 'local' ? await readDatasets(deps, orgId) : null;
  const mappingFolders = deps.config.sigmaMappings;
  return deps.ruleConverter.convert(orgId, { rules, kind, datasets, timeColumn, mappingFolders, allowUnknown });
}

async function readDatasets(deps: ListDatasetsDeps, orgId: OrgId): Promise<ConvertTask['datasets']> {
  const { datasets } = await listDatasets(deps, orgId);
  return datasets.map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }));
}

type Target = { kind: SiemKind; timeColumn: string };

async function readTarget({ db }: { db: Db }, orgId: OrgId, target: string): Promise<Target> {
  if (target === 'local') return { kind: 'local', timeColumn: findConnector('local').timeField };
  const row = uuidPattern.test(target) ? await inOrg(db, orgId, (tx) => findConnection(tx, orgId, target)) : undefined;
  const kind = siemKinds.find((one) => one === row?.kind);
  if (!row || !kind)
    throw fieldError('/target', 'unknown_target', `"${target}" is neither "local" nor the id of a connection.`);
  const settings = JSON.parse(row.settings) as { timeColumn?: string; timeField?: string };
  return { kind, timeColumn: settings.timeColumn ?? settings.timeField ?? findConnector(kind).timeField };
}

const timeoutMs = 120_000;
const memoryMb = 1_024;

/** Converts the rules that organizations send, in threads. Organizations take turns, and none occupies both threads. */
export type RuleConverter = {
  /** Rejects with `unavailable` (503) if too many conversions wait. */
  convert: (orgId: OrgId, task: ConvertThreadTask) => Promise<ConvertedRule[]>;
  close: () => Promise<void>;
};

export function createRuleConverter(): RuleConverter {
  const threads = createThreadPool<ConvertThreadTask, ConvertedRule[]>({
    file: siblingModule('convert-thread', import.meta),
    threadsMax: 2,
    runningPerOwnerMax: 1,
    waitingMax: 50,
    memoryMb,
  });
  return {
    convert: async (orgId, task) => {
      try {
        return await threads.run(task, { timeoutMs, owner: orgId });
      } catch (error) {
        if (!(error instanceof ThreadError)) throw error;
        if (!isPoolBusy(error))
          throw fieldError(
            '/rules',
            'too_much',
            `The rules need more than ${timeoutMs / 1000} seconds or ${memoryMb} MiB of memory. Send fewer at a time.`,
          );
        throw appError('unavailable', 'Too many rules are being converted. Try again in a few seconds.', {
          headers: { 'retry-after': '5' },
        });
      }
    },
    close: threads.close,
  };
}
