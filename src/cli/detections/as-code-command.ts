import { existsSync, statSync } from 'node:fs';
import { applyFolderPlan } from '../../detection/as-code/apply-plan.ts';
import { createServiceClient, type ServiceClient } from '../../detection/as-code/service-client.ts';
import type { FileFields } from '../../detection/managed/file-fields.ts';
import type { DetectionFile } from '../../detection/as-code/detection-file.ts';
import { readFolder, readLock } from '../../detection/as-code/folder.ts';
import { applyFileRenames, createFolderPlan, type PlanStep, renderPlan } from '../../detection/as-code/plan.ts';
import { pullDetections } from '../../detection/as-code/pull-detections.ts';
import { UsageError } from '../support/failures.ts';
import { readServiceAccess } from '../support/service-access.ts';
import { printError, printLines, printText } from '../support/output.ts';

type FolderOptions = {
  force?: boolean | undefined;
  prune?: boolean | undefined;
  check?: boolean | undefined;
  validate?: boolean | undefined;
  dryRun?: boolean | undefined;
};

const changesFoundExitCode = 3;

/** Writes the detections of the service into a folder. Exit code 1 if a file was kept because it changed on both sides. */
export async function pullCommand(folder: string, values: Pick<FolderOptions, 'force'>): Promise<number> {
  const exists = existsSync(folder);
  if (exists && !statSync(folder).isDirectory()) throw new UsageError(`${folder} is not a folder.`);
  const detections = await openService(values).list();
  const files = exists ? readFolder(folder, { allowsAgents: true }) : new Map<string, DetectionFile>();
  const lock = exists ? applyFileRenames(fieldsOf(files), detections, readLock(folder)) : {};
  const { written, removed, kept } = pullDetections(folder, { files, lock, detections, force: values.force ?? false });
  for (const name of written) printLines(`written  ${name}`);
  for (const name of removed) printLines(`removed  ${name}`);
  for (const { file } of kept)
    printError(
      `kept     ${file}: changed here and in the service. Use --force to overwrite it with the service's version`,
    );
  printLines(
    `${detections.length} in the service, ${written.length} written, ${removed.length} removed, ${kept.length} kept`,
  );
  return kept.length > 0 ? 1 : 0;
}

/** Prints what `apply` would do. Exit code 1 if there are conflicts. With `--check`, exit code 3 if there are changes. */
export async function planCommand(folder: string, values: FolderOptions): Promise<number> {
  const { steps } = await createPlan(folder, values, openService(values));
  printText(renderPlan(steps));
  return exitCodeFor(steps, values);
}

/** Applies the folder to the service. If there are conflicts, applies nothing and returns exit code 1. */
export async function applyCommand(folder: string, values: FolderOptions): Promise<number> {
  const service = openService(values);
  const { steps, lock } = await createPlan(folder, values, service);
  printText(renderPlan(steps));
  const code = exitCodeFor(steps, {});
  if (values.dryRun || code !== 0) {
    if (code !== 0) printError('Nothing was applied. Resolve the conflicts first.');
    return code;
  }
  const { done, failed } = await applyFolderPlan(folder, service, lock, steps);
  for (const { file, reason } of failed) printError(`${file}: ${reason}`);
  printLines(`${done} applied${failed.length > 0 ? `, ${failed.length} failed` : ''}`);
  return failed.length > 0 ? 1 : 0;
}

async function createPlan(folder: string, { prune = false, force = false }: FolderOptions, service: ServiceClient) {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new UsageError(`The folder ${folder} does not exist.`);
  const files = fieldsOf(readFolder(folder, { allowsAgents: true }));
  const storedLock = readLock(folder);
  const detections = await service.list();
  const lock = applyFileRenames(files, detections, storedLock);
  return { lock, steps: createFolderPlan(files, detections, lock, { prune, force }) };
}

const fieldsOf = (files: ReadonlyMap<string, DetectionFile>): Map<string, FileFields> =>
  new Map([...files].map(([name, { fields }]) => [name, fields]));

function exitCodeFor(steps: readonly PlanStep[], { check }: Pick<FolderOptions, 'check'>): number {
  if (steps.some(({ kind }) => kind === 'conflict')) return 1;
  return check && steps.some(({ kind }) => ['create', 'update', 'delete'].includes(kind)) ? changesFoundExitCode : 0;
}

const openService = ({ validate = false }: FolderOptions): ServiceClient =>
  createServiceClient({ ...readServiceAccess(), validate });
