import { inOrg } from '../../platform/db/db.ts';
import { AppError } from '../../platform/lib/errors.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { KeyAuthenticator } from '../../platform/orgs/authenticate.ts';
import { receivedBytesMax } from '../log-ingest/body/inflate.ts';
import { findFailure, receiveShipperBody, findWriter, type ReceiveShipperDeps } from './receive-shipper-body.ts';
import type { ShipperFormat } from './formats/shipper-format.ts';
import type { FolderSettings } from './shipper-settings.ts';
import { openDirectory, type LogFolder, type LogObject } from './log-folder.ts';
import { claimFolder, deleteOldObjects, listUnread, recordObject, releaseFolder } from './shippers.store.ts';
import { splitFlowLog } from './formats/aws-decoders.ts';

type PullFolderDeps = ReceiveShipperDeps & { auth: KeyAuthenticator; log: Logger };
type LogFoldersDeps = PullFolderDeps & { config: { logFolders: Record<string, FolderSettings> } };

const dayMs = 86_400_000;
/** A body of this size has far fewer events than a body may have. */
const flowLogBodyBytes = 4 * 1024 * 1024;
/** Errors in the content of an object. Reading it again would not help. */
const contentErrors = new Set(['malformed_json', 'validation_failed', 'payload_too_large', 'conflict']);

/** Reads every folder of the settings again and again until `signal` aborts. */
export async function logFoldersLoop(deps: LogFoldersDeps, signal: AbortSignal): Promise<void> {
  await Promise.all(
    Object.entries(deps.config.logFolders).map(([name, settings]) => {
      const log = deps.log.child({ logFolder: name });
      const idleMs = settings.everySeconds * 1000;
      return runLoop({ name: 'logFolder', idleMs, signal, log }, async () => {
        await pullFolder({ ...deps, log }, name, settings, signal);
        return false;
      });
    }),
  );
}

/**
 * Stores the events of the objects that are new in a folder. Each object is read once, also when several processes read the folder or one is
 * killed in the middle: what was stored of an object then is recognized for 24 hours. An object that cannot be read as events is reported and
 * left out. Does nothing while another process reads the folder. Throws if the folder, the database or the log storage fails.
 */
export async function pullFolder(
  deps: PullFolderDeps,
  name: string,
  settings: FolderSettings,
  signal: AbortSignal,
): Promise<void> {
  const orgId = await findWriter(deps.auth, settings.key);
  if (!(await inOrg(deps.db, orgId, (tx) => claimFolder(tx, orgId, name)))) return;
  const folder = await openFolder(settings.location);
  try {
    const since = new Date(deps.clock().getTime() - settings.days * dayMs);
    for await (const page of folder.list(since)) {
      const unread = await inOrg(deps.db, orgId, (tx) => listUnread(tx, orgId, name, page));
      for (const object of unread) {
        if (signal.aborted) return;
        const problem = await readObject(deps, orgId, { folder, settings, object });
        if (problem !== null)
          deps.log.warn({ object: object.key, problem }, 'an object has no events that can be read');
        await inOrg(deps.db, orgId, (tx) => recordObject(tx, orgId, { folder: name, object, problem }));
      }
    }
    // Objects that are no longer listed. The day allows for clocks that differ.
    const before = new Date(since.getTime() - dayMs);
    await inOrg(deps.db, orgId, (tx) => deleteOldObjects(tx, orgId, name, before));
  } finally {
    folder.close();
    await inOrg(deps.db, orgId, (tx) => releaseFolder(tx, orgId, name)).catch(() => undefined);
  }
}

type Reading = { folder: LogFolder; settings: FolderSettings; object: LogObject };

/** Stores the events of an object. Returns why that is not possible, or null. */
async function readObject(
  deps: PullFolderDeps,
  orgId: OrgId,
  { folder, settings: { format: kind, dataset }, object }: Reading,
): Promise<string | null> {
  if (kind === 'cloudtrail' && /(^|\/)CloudTrail-Digest\//.test(object.key)) return null;
  if (object.bytes > receivedBytesMax) return `larger than ${receivedBytesMax} bytes`;
  const file = await folder.read(object.key);
  if (!file) return 'it was deleted before it was read';
  if (file.subarray(0, 4).toString('latin1') === 'PAR1')
    return 'Parquet files are not read: choose text as the format of the flow log';
  const format: ShipperFormat = { kind, dataset };
  try {
    for await (const body of kind === 'vpc-flow' ? splitFlowLog(file, flowLogBodyBytes) : [file]) {
      const receipt = await receiveShipperBody(deps, orgId, { format, body });
      const [first] = receipt.rejected;
      if (first)
        deps.log.warn(
          { object: object.key, rejected: receipt.rejected.length, reason: first.reason },
          'events were rejected',
        );
      const failure = findFailure(receipt);
      if (failure) return failure.message;
    }
    return null;
  } catch (error) {
    if (error instanceof AppError && contentErrors.has(error.code)) return error.message;
    throw error;
  }
}

/** Opens the folder of a location. The client of buckets is loaded only where it is used, because it is large. */
export async function openFolder(location: FolderSettings['location']): Promise<LogFolder> {
  if ('path' in location) return openDirectory(location.path);
  return (await import('./bucket-folder.ts')).openBucket(location.bucket);
}
