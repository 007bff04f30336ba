import type { Db } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { SourceKind } from '../formats/registry.ts';
import { findCatalogSource } from './catalog.ts';
import { getVisibleSource, requireAdmin } from './source-access.ts';
import { openAuthHeaders, resolveSealedAuth } from './source-auth.ts';
import type { SourceTest, TestSource } from './sources.schema.ts';
import { validateUrl } from './source-settings.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { siblingModule } from '../../platform/lib/program-files.ts';
import { isPoolBusy, toUnavailable } from '../../platform/lib/threads/thread-protocol.ts';
import { createThreadPool } from '../../platform/lib/threads/thread-pool.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { failedSample, type SourceSample, type TestedSource } from './sample-source.ts';

export type TestSourceDeps = {
  db: Db;
  secrets: Secretbox;
  config: { fileSources: string[] };
  runSourceTest: RunSourceTest;
};

/**
 * Reads the beginning of a source as a pull does, and stores nothing. A source that exists must be one that the caller may change.
 * Throws a 400 with the field that is not valid.
 */
export async function testSource(deps: TestSourceDeps, caller: Caller, input: TestSource): Promise<SourceTest> {
  const { kind, url, stored } = await findTested(deps, caller, input);
  const isKept = stored?.url === url;
  const fileAllowed = isKept
    ? stored.file_allowed
    : await validateUrl(url, { isTrusted: caller.isOperator === true, fileSources: deps.config.fileSources });
  const source = stored ?? { organization_id: caller.orgId, id: uuidv7(), url, sealed_auth: null };
  const sealed = resolveSealedAuth(deps.secrets, source, { auth: input.auth, url });
  const headers = openAuthHeaders(deps.secrets, { ...source, sealed_auth: sealed });
  const sample = await deps.runSourceTest({ kind, url, fileAllowed, headers }, caller.orgId);
  return { kind, url, ...sample };
}

type Stored = Awaited<ReturnType<typeof getVisibleSource>>;
type Tested = { kind: SourceKind; url: string; stored: Stored | undefined };

async function findTested(deps: TestSourceDeps, caller: Caller, input: TestSource): Promise<Tested> {
  const stored = input.id === undefined ? undefined : await getVisibleSource(deps, caller, input.id.toLowerCase());
  if (stored?.visibility === 'shared') requireAdmin(caller);
  if (stored && input.kind !== undefined && input.kind !== stored.kind)
    throw fieldError('/kind', 'read_only', '`kind` cannot change. Test the other kind without `id`.');
  const entry = input.catalogue === undefined ? undefined : findCatalogSource(input.catalogue);
  // The schema requires both without a source or catalog entry.
  return {
    kind: (input.kind ?? stored?.kind ?? entry?.kind)!,
    url: (input.url ?? stored?.url ?? entry?.url)!,
    stored,
  };
}

/** Reads the beginning of a source. Throws `unavailable` (503) if too many tests are waiting. */
export type RunSourceTest = (source: TestedSource, orgId: OrgId) => Promise<SourceSample>;

export type SourceTestSettings = { dataDir: string; fetchAllow: string[]; fileSources: string[] };
export type SourceTestTask = { source: TestedSource; nowMs: number };

const timeoutMs = 45_000;

/** Tests sources in threads of their own, so that they never wait for pulls, nor pulls for them. Organizations take turns. */
export function createSourceTestThreads({ clock, config }: { clock: Clock; config: SourceTestSettings }): {
  runSourceTest: RunSourceTest;
  close: () => Promise<void>;
} {
  const { dataDir, fetchAllow, fileSources } = config;
  const threads = createThreadPool<SourceTestTask, SourceSample>({
    file: siblingModule('source-test-thread', import.meta),
    workerData: { dataDir, fetchAllow, fileSources } satisfies SourceTestSettings,
    threadsMax: 2,
    runningPerOwnerMax: 1,
    waitingMax: 16,
    memoryMb: 512,
  });
  const runSourceTest: RunSourceTest = async (source, owner) => {
    try {
      return await threads.run({ source, nowMs: clock().getTime() }, { timeoutMs, owner });
    } catch (error) {
      if (isPoolBusy(error)) throw toUnavailable(error, 'Too many tests are waiting. Try again in a minute.', 60);
      return failedSample('the test took too much time or memory');
    }
  };
  return { runSourceTest, close: threads.close };
}
